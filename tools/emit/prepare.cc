#include "tools/emit/prepare.h"

#include "runtime/compiled_model.h"
#include "runtime/float_mode.h"

namespace svengine::tool::emit {

Result<Graph> prepare(Graph model, const std::vector<Dims>& dims, const PassContext& context) {
  const FloatMode mode(false);  // of constants that are folded
  SV_TRY(run_pipeline(model, context, Stage::load));
  SV_ASSIGN(Graph graph, specialize(model, dims, {}, context));
  SV_TRY(run_pipeline(graph, context, Stage::load));  // patterns that known shapes and decided branches have shown
  SV_TRY(fuse_mat_mul(graph, context));
  SV_TRY(remove_dead_nodes(graph, context));
  for (const auto& node : graph.nodes())
    for (const Value* v : node->outputs())
      if (v && !is_handle(v->type.dtype) && !v->type.shape.is_static())
        return error("{}: the shape of '{}', {}, depends on values that are known in a run only; C has memory of fixed size", describe(*node),
                     v->name(), to_string(v->type));
  return graph;
}

}  // namespace svengine::tool::emit
