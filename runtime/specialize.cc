#include <algorithm>

#include "engine/ops/registry.h"
#include "runtime/session.h"

namespace svengine {

PassContext pass_context(const kernels::KernelTable& kernels) {
  return {all_ops(), kernels.lanes, [&kernels](const Node& node) { return evaluate(node, kernels); }};
}

Result<Graph> specialize(const Graph& graph, const std::vector<Dims>& dims, const std::vector<Tensor>& constants,
                         const PassContext& context) {
  Graph copy = graph.clone();
  const std::vector<Value*> inputs = copy.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i]->type.shape = Shape::of(dims[i]);
    if (i < constants.size() && constants[i].defined()) copy.make_constant(inputs[i], constants[i]);
  }
  SV_TRY(infer_all(copy));
  SV_TRY(fold_constants(copy, context));
  SV_TRY(inline_branches(copy, context));
  SV_TRY(remove_dead_nodes(copy, context));
  return copy;
}

}  // namespace svengine
