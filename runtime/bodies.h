// The bodies of control flow, each a segment that is made when it is first run and kept for the session. Internal to the session.
#pragma once
#include <functional>
#include <memory>
#include <unordered_map>

#include "runtime/segment.h"

namespace svengine {

class Bodies {
 public:
  /// The one segment of a body, whatever copies of its node there are in plans for different shapes.
  Result<Segment*> segment_of(const Subgraph& body, const Segment::Shared& shared);
  void for_each(const std::function<void(const Segment&)>& visit) const;

 private:
  struct Body {
    Subgraph graph;  // keeps its address from being another body's
    std::unique_ptr<Segment> segment;
  };
  std::unordered_map<const Graph*, size_t> index_;
  std::vector<Body> bodies_;  // in the order of their first runs
};

}  // namespace svengine
