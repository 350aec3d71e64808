// May a composite node be expanded before its shapes are concrete?
//
// A node's own rule refuses inputs that do not fit together: a gamma of another length than the rows it scales. Where a dimension is not
// known yet, inference lets it pass and looks again when it is. The nodes that it is made of would only be asked then whether *they* can
// run, and a product of [2, 64] and [1] can. So what the shapes may turn out to be is tried: a node by itself, and what is made of it
// before and after the shapes were known. The node waits where the latter takes what the former refuses.
#pragma once
#include <map>
#include <string>

#include "engine/graph/passes/pass.h"

namespace svengine {

/// Remembers what it has found: layers repeat, and a trial takes a millisecond.
class EarlyExpansion {
 public:
  explicit EarlyExpansion(const PassContext& context);

  /// Whether, for all sizes that are tried in place of unknown and symbolic dimensions, what `node` of `graph` is expanded to now refuses
  /// what the node would, and else gives outputs of the same shapes. False where an input has no rank: inference has not even seen whether a
  /// bias is a vector. Deterministic; the graph is not changed.
  bool keeps_refusals(const Graph& graph, const Node& node);

 private:
  bool try_sizes(const Graph& whole) const;

  PassContext context_;
  std::map<std::string, bool> known_;
};

}  // namespace svengine
