#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "engine/graph/expand.h"
#include "engine/ops/registry.h"
#include "runtime/session.h"

namespace svengine {

namespace {

/// Asked for by the environment, as CTest does for this machine's tests.
bool verifies_passes() {
  static const bool asked = [] {
    const char* value = std::getenv("SVENGINE_VERIFY_PASSES");
    return value && std::string_view(value) == "1";
  }();
  return asked;
}

}  // namespace

PassContext pass_context(const kernels::KernelTable& kernels) {
  return {.ops = all_ops(),
          .block = kernels.lanes,
          .evaluate = [&kernels](const Node& node) { return evaluate(node, kernels); },
          .verify = verifies_passes()};
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
  SV_TRY(expand_unplannable(copy, context));
  SV_TRY(inline_branches(copy, context));
  SV_TRY(remove_dead_nodes(copy, context));
  return copy;
}

}  // namespace svengine
