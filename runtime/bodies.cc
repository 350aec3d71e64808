#include "runtime/bodies.h"

namespace svengine {

Result<Segment*> Bodies::segment_of(const Subgraph& body, const Segment::Shared& shared) {
  if (const auto known = index_.find(body.get()); known != index_.end()) return bodies_[known->second].segment.get();
  Graph graph = body->clone();
  if (!shared.optimize) SV_TRY(round_every_node(graph, pass_context(shared.kernels)));  // the load stage has not been there
  Segment::Shared own = shared;
  own.batch_parallel = nullptr;
  std::vector<bool> needs_value(body->inputs().size(), false);
  index_.emplace(body.get(), bodies_.size());
  bodies_.push_back({body, std::make_unique<Segment>(std::move(graph), std::move(needs_value), own, true)});
  return bodies_.back().segment.get();
}

void Bodies::for_each(const std::function<void(const Segment&)>& visit) const {
  for (const Body& b : bodies_) visit(*b.segment);
}

}  // namespace svengine
