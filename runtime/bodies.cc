#include "runtime/bodies.h"

namespace svengine {

Segment& Bodies::segment_of(const Subgraph& body, const Segment::Shared& shared) {
  const auto [at, fresh] = index_.emplace(body.get(), bodies_.size());
  if (fresh) {
    Segment::Shared own = shared;
    own.batch_parallel = nullptr;
    std::vector<bool> needs_value(body->inputs().size(), false);
    bodies_.push_back({body, std::make_unique<Segment>(body->clone(), std::move(needs_value), own, true)});
  }
  return *bodies_[at->second].segment;
}

void Bodies::for_each(const std::function<void(const Segment&)>& visit) const {
  for (const Body& b : bodies_) visit(*b.segment);
}

}  // namespace svengine
