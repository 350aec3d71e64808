#include "engine/graph/expand.h"
#include "engine/graph/passes/pass.h"
#include "engine/graph/passes/recompute.h"
#include "engine/graph/verify.h"

namespace svengine {
namespace {

constexpr Pass kPipeline[] = {
    {"infer", Stage::plan, "shapes have just become concrete", [](Graph& g, const PassContext&) { return infer_all(g); }},
    {"expand", Stage::both, "everything below looks for the operators that composite ones are made of", expand_composites},
    {"widen", Stage::load, "nodes of types that have no kernels cannot be run, nor be folded, fused and planned", widen_types},
    {"identities", Stage::both, "Identity, inference Dropout, no-op Cast and Transpose only hide patterns", remove_identities},
    {"byte_tables", Stage::both, "before `quantized`, which makes sums and products of what is a function of one value; `fold` computes the tables",
     byte_tables},
    {"quantized", Stage::both, "before `fold`, which would turn weights of 8 bits into float32", fuse_quantized},
    {"quantized_real", Stage::both, "what `quantized` has left: results that nothing quantises again", fuse_quantized_real},
    {"n_bits", Stage::both, "likewise of weights of 4 and 2 bits, which would take eight times the memory", fuse_n_bits},
    {"fold", Stage::both, "shape arithmetic and weight-only expressions become constants; patterns need them so", fold_constants},
    {"branches", Stage::both, "folding has decided conditions; what a branch holds is part of patterns from here on", inline_branches},
    {"shapes", Stage::both, "nodes of gradients then no longer keep alive what they only take a shape from", fold_shape_inputs},
    {"transposes", Stage::plan, "sizes say what is worth moving; what is left of patterns then stands together, and equal Transposes become one",
     move_transposes},
    {"common", Stage::both, "exporters repeat subexpressions; after folding equal constants are one", common_subexpressions},
    {"dynamic_quantized", Stage::both, "after `common`: what several products share is quantised once", fuse_dynamic_quantized},
    {"layer_norm", Stage::both, "before its pieces are fused into anything else", recognise_layer_norm},
    {"gelu", Stage::both, "likewise; as one node it can become an epilogue", recognise_gelu},
    {"attention", Stage::plan, "needs concrete shapes; before MatMul takes its neighbours", recognise_attention},
    {"broadcast_indices", Stage::plan, "after `fold`, which makes the shape they are broadcast to known", broadcast_indices},
    {"pad", Stage::both, "windows skip what lies outside, in blocked layouts too; after `fold`, which makes widths constants", fuse_pad},
    {"conv_bias", Stage::both, "before `conv_norm`, which scales a convolution's bias, and `conv`, which takes what else is added", fuse_conv_bias},
    {"conv_norm", Stage::both, "batch norm disappears into weights, which frees the place after the convolution", fuse_conv_norm},
    {"parallel_convs", Stage::both, "norms are part of weights; before `norm`, for which a norm of the same image is one by itself",
     merge_parallel_convs},
    {"norm", Stage::plan, "a norm that is still there has no convolution to go into, at any shape", fuse_norm},
    {"norm_grad", Stage::plan, "after `common`: a sum of gradients that something else reads too must stay", fuse_norm_grad},
    {"conv", Stage::both, "residual and activation in the epilogue save two passes over memory", fuse_conv},
    {"mat_mul", Stage::plan, "after attention, which looks for bare products", fuse_mat_mul},
    {"bias_grad", Stage::plan, "products of gradients are FusedMatMul by now", fuse_bias_grad},
    {"dense_chain", Stage::plan, "after what looks at single products", fuse_dense_chain},
    {"channel_affine", Stage::plan, "factors and terms of channels that nothing else has taken; `layout` would reorder around them",
     fuse_channel_affine},
    {"bodies", Stage::load, "what is constant around them is known; captured values that no body reads die next", optimise_bodies},
    {"dead", Stage::both, "what folding and fusing left without users", remove_dead_nodes},
    {"quantized_layout", Stage::plan, "when all convolutions of integers are known", quantized_layout},
    {"view_transposes", Stage::plan, "after all that looks for Transposes", view_transposes},
    {"layout", Stage::plan, "after all that looks for patterns: from here on images may be stored as NCHWc", block_layout},
    {"reorder_transposes", Stage::plan, "`layout` has put reorders beside Transposes", reorder_transposes},
    {"updates", Stage::plan, "when it is settled who reads what", place_updates},
    {"recompute", Stage::plan, "last: it looks at where most memory is live; earlier, copies would be merged again", recompute_values},
};

/// What comes before differentiation: patterns become operators that have a gradient of their own, which takes one pass over
/// memory where the pieces' gradients take ten. Nothing that mixes weights or hides a value that a rule needs.
constexpr Status (*kBeforeGradients[])(Graph&, const PassContext&) = {
    expand_composites_now, widen_types, remove_identities, fold_constants, common_subexpressions,
    recognise_layer_norm, recognise_gelu, fuse_norm_relu, remove_dead_nodes};

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

Status prepare_for_gradients(Graph& graph, const PassContext& context) {
  for (const auto pass : kBeforeGradients) SV_TRY(pass(graph, context));
  return {};
}

Status recompute_values(Graph& graph, const PassContext& context) {
  if (context.recompute == Recompute::segments) recompute_segments(graph);
  if (context.recompute != Recompute::none) recompute_cheap(graph);
  return {};
}

Status infer_all(Graph& graph) {
  for (const auto& node : graph.nodes()) SV_TRY(infer_types(*node));
  return {};
}

Status run_pipeline(Graph& graph, const PassContext& context, Stage stage, std::string_view after) {
  for (const Pass& pass : pipeline()) {
    const bool runs = pass.stage == stage || pass.stage == Stage::both;
    if (runs) {
      Status status = pass.run(graph, context);
      if (status.ok() && context.verify) status = verify(graph);
      if (!status.ok()) return std::move(status).error().in(fmt::format("pass '{}'", pass.name));
    }
    if (after == pass.name) break;
  }
  return {};
}

}  // namespace svengine
