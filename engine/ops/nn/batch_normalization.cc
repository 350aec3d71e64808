// BatchNormalization: y = (x - mean) / sqrt(var + epsilon) * scale + bias, per channel (a vector is a batch of one channel); in
// training mode with the batch's own mean and (biased) variance, and running statistics as further outputs.
#include "engine/graph/builder.h"
#include "engine/graph/op_registry.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/batch_norm_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

constexpr int kPerFeatureOpset = 9;   // `spatial` was an attribute before
constexpr size_t kFileOutputs = 3;    // Y and the running statistics
constexpr int kTrainingOpset = 14;    // training_mode decides; before, the number of outputs did

/// Statistics for every position of a sample instead of every channel: plain arithmetic, in which the samples broadcast.
Status per_position(CanonicalizeContext& c) {
  if (c.node().inputs().size() != 5) return error("has {} inputs, needs 5", c.node().inputs().size());
  if (c.node().outputs().size() > 1) return error("spatial=0 with training; export the network for inference");
  Node& node = c.node();
  Builder b(c.graph(), c.ops());
  b.set_position(&node);
  b.set_node_name(node.name());
  Value* epsilon = b.constant(Tensor::scalar(c.attributes().get_float("epsilon", 1e-5f)));
  Value* deviation = b.add("Sqrt", {b.add("Add", {node.input(4), epsilon})});
  Value* centred = b.add("Sub", {node.input(0), node.input(3)});
  Value* scaled = b.add("Mul", {b.add("Div", {centred, deviation}), node.input(1)});
  SV_TRY(b.status());
  Value* bias = node.input(2);
  c.graph().resize_inputs(&node, 2);
  c.set_input(0, scaled);
  c.set_input(1, bias);
  node.attributes = {};
  c.graph().set_op(&node, *c.ops().find("", "Add"));
  return {};
}

Status canonicalize_batch_normalization(CanonicalizeContext& c) {
  if (c.attributes().get_int("spatial", 1) != 1) {
    if (c.opset() >= kPerFeatureOpset) return error("attribute 'spatial' left ONNX with opset {}", kPerFeatureOpset);
    return per_position(c);
  }
  c.attributes().erase("spatial");
  if (c.opset() >= kTrainingOpset && c.node().outputs().size() > kFileOutputs)
    return error("{} outputs, of which opset {} knows {}", c.node().outputs().size(), c.opset(), kFileOutputs);
  if (c.opset() < kTrainingOpset && c.node().outputs().size() > 1)
    return error("{} outputs ask for training in opset {}; export the network for inference, or with opset 14 or newer",
                 c.node().outputs().size(), c.opset());
  return {};
}

bool can_block_batch_normalization(const Node& node, int) {
  // Worth it only where the input is blocked already: in the middle of a convolutional region.
  return node.input(0)->type.block > 0;
}

}  // namespace

OpDef define_batch_normalization() {
  return {
      .name = "BatchNormalization",
      .inputs = "X, scale, B, input_mean, input_var",
      .outputs = {1, 5},
      .attributes = {{"epsilon", AttributeKind::kFloat, false, 1e-5f},
                     {"momentum", AttributeKind::kFloat, false, 0.9f},
                     {"training_mode", AttributeKind::kInt, false, 0}},
      .canonicalize = canonicalize_batch_normalization,
      .infer = infer_batch_norm,
      .lower = [](LowerContext& c) { return wide::is_wide(c) ? wide::lower_batch_norm(c) : lower_batch_norm(c, {}, {}); },
      .types = {{"T", kRealTypes, {0}}, {"T1", kRealTypes, {1, 2}}, {"T2", kRealTypes, {3, 4}}},
      .kernel_types_of = one_real_type,
      .gradient = [](GradientContext& c) { return batch_norm_gradient(c); },
      .traits = {.running_statistics = RunningStatistics{.mean = 3, .variance = 4}},
      .blocked = {.mode = BlockedMode::prefers, .can_block = can_block_batch_normalization},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 5, 7, 3], float32[5], float32[5], float32[5], float32[5] 0.5 to 2)"
                 "(float32[3, 18], float32[18], float32[18], float32[18], float32[18] 0.5 to 2)"
                 "(float32[23], float32[1], float32[1], float32[1], float32[1] 0.5 to 2)"
                 "(float32[4, 3, 9], float32[3], float32[3], float32[3], float32[3] 0.5 to 2) {training_mode = 1} 3"
                 "(float64[4, 3, 9], float64[3], float64[3], float64[3], float64[3] 0.5 to 2) {training_mode = 1} 3"
                 "(bfloat16[4, 3], float16[3], float16[3], float64[3], float64[3] 0.5 to 2)",
  };
}

}  // namespace svengine::ops
