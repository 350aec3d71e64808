// Passes: graph in, better graph out. One file each; pipeline.cc holds the one ordered list.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "engine/graph/op_registry.h"

namespace svengine {

/// What is computed again instead of being kept from its first uses to late ones, where that lowers the peak: passes/recompute.h.
enum class Recompute : uint8_t {
  none,
  cheap,     // what a pass or two over memory give, from values that are there anyway
  segments,  // convolutions and products too: only what lies between segments of the network is kept
};

/// What passes may use besides the graph. `evaluate` computes a node whose inputs are all constants.
struct PassContext {
  const OpRegistry& ops;
  int block = 16;  // channels of an NCHWc block: the kernel set's lanes; 0 keeps every value plain
  std::function<Result<std::vector<Tensor>>(const Node&)> evaluate = {};
  /// Constants made by folding may not be larger than this, unless they are smaller than what they are made from.
  int64_t fold_limit_bytes = int64_t{16} << 20;
  /// Nodes that stay though they could be folded; empty: none.
  std::function<bool(const Node&)> keeps = {};
  Recompute recompute = Recompute::none;
  bool verify = false;  // the graph, after every pass of a pipeline; an error names the pass
};

/// When a pass runs: once when the model is loaded, again for every set of concrete shapes, or only then.
enum class Stage : uint8_t { load, plan, both };

struct Pass {
  const char* name;  // for `svengine inspect --after NAME`
  Stage stage;
  const char* why;   // why it is there, and why at this place in the list
  Status (*run)(Graph&, const PassContext&);
};

/// All passes in the order they run.
std::span<const Pass> pipeline();

/// Runs the passes of a stage. `after`, when not empty, stops after the pass of that name.
Status run_pipeline(Graph& graph, const PassContext& context, Stage stage, std::string_view after = {});

/// Simplifies an imported graph before add_gradients (graph/autodiff.h), once its weights are inputs: those that are still
/// constants may be folded.
Status prepare_for_gradients(Graph& graph, const PassContext& context);

/// Infers every node's types again, in order, from the inputs' types and the constants.
Status infer_all(Graph& graph);

Status widen_types(Graph& graph, const PassContext& context);
Status round_every_node(Graph& graph, const PassContext& context);  // widen_types where nothing is optimised: widen_types.cc
Status fold_constants(Graph& graph, const PassContext& context);
Status remove_dead_nodes(Graph& graph, const PassContext& context);
Status inline_branches(Graph& graph, const PassContext& context);
/// The same, with `repeat` where the graph has nodes of branches that other passes have not seen; their types are inferred.
Status inline_branches_and(Graph& graph, const PassContext& context, Status (*repeat)(Graph&, const PassContext&));
Status optimise_bodies(Graph& graph, const PassContext& context);
Status fold_shape_inputs(Graph& graph, const PassContext& context);
Status move_transposes(Graph& graph, const PassContext& context);
Status common_subexpressions(Graph& graph, const PassContext& context);
Status remove_identities(Graph& graph, const PassContext& context);
Status byte_tables(Graph& graph, const PassContext& context);
Status fuse_quantized(Graph& graph, const PassContext& context);
Status fuse_quantized_real(Graph& graph, const PassContext& context);
Status fuse_n_bits(Graph& graph, const PassContext& context);
Status fuse_dynamic_quantized(Graph& graph, const PassContext& context);
Status quantized_layout(Graph& graph, const PassContext& context);
Status recognise_layer_norm(Graph& graph, const PassContext& context);
Status recognise_gelu(Graph& graph, const PassContext& context);
Status recognise_attention(Graph& graph, const PassContext& context);
Status broadcast_indices(Graph& graph, const PassContext& context);
Status fuse_pad(Graph& graph, const PassContext& context);
Status fuse_conv_bias(Graph& graph, const PassContext& context);
Status fuse_conv_norm(Graph& graph, const PassContext& context);
Status merge_parallel_convs(Graph& graph, const PassContext& context);
Status fuse_norm(Graph& graph, const PassContext& context);
Status fuse_channel_affine(Graph& graph, const PassContext& context);
Status fuse_norm_relu(Graph& graph, const PassContext& context);
Status fuse_norm_grad(Graph& graph, const PassContext& context);
Status fuse_conv(Graph& graph, const PassContext& context);
Status fuse_bias_grad(Graph& graph, const PassContext& context);
Status fuse_mat_mul(Graph& graph, const PassContext& context);
Status fuse_dense_chain(Graph& graph, const PassContext& context);
Status view_transposes(Graph& graph, const PassContext& context);
Status block_layout(Graph& graph, const PassContext& context);
Status reorder_transposes(Graph& graph, const PassContext& context);
Status recompute_values(Graph& graph, const PassContext& context);
Status place_updates(Graph& graph, const PassContext& context);

}  // namespace svengine
