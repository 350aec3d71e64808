// Mul and Add of an image by constants with one number for each channel, which no convolution could take in, become ChannelAffine, with the
// activation behind them:
//
//   Mul by s[C, 1, 1] ─> Add of t[C, 1, 1] ─> Relu      =>      ChannelAffine(x, s, t; relu)
//
// Layer scales are such factors, and the scale and bias of PP-HGNet's activations, a number each. Two passes over memory become one, and blocked
// layout goes on: as operators their operands differ in shape, for which the image would be reordered twice.
#include <optional>
#include <vector>

#include "engine/graph/passes/epilogue.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/norm_affine.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

constexpr int64_t kMostChannels = 65536;  // for which one number is repeated: a file may name any size

/// `image` by, or and, one number for each channel, or one for all of them.
struct ChannelOperand {
  Value* image;
  std::vector<double> numbers;
  bool one_for_all;
};

std::optional<ChannelOperand> channel_operand(const Node& node, const char* op) {
  if (!is_op(&node, op) || node.inputs().size() != 2) return {};
  const size_t side = node.input(1)->is_constant() ? 0 : 1;
  Value* image = node.input(side);
  const Value* constant = node.input(1 - side);
  const Shape& shape = image->type.shape;
  if (image->is_constant() || !constant->is_constant() || image->type.dtype != DType::f32 || constant->constant().count() == 0) return {};
  if (!shape.has_rank() || shape.rank() < 3 || shape.rank() > 5 || !shape[1].is_static() || !same_shape(shape, node.output()->type.shape)) return {};
  const int64_t channels = shape[1].value();
  if (channels < 1 || channels > kMostChannels || !is_per_channel(constant->constant(), channels, shape.rank())) return {};
  ChannelOperand out{image, as_doubles(constant->constant()), constant->constant().count() == 1 && channels > 1};
  out.numbers.resize(static_cast<size_t>(channels), out.numbers.front());
  return out;
}

/// Mul and Add, as far as both are there.
Status fuse_both(Graph& graph, Node& add, const OpDef& affine) {
  std::optional<ChannelOperand> shift = channel_operand(add, "Add");
  if (!shift || !only_used_once(graph, shift->image) || !shift->image->producer()) return {};
  Node* mul = shift->image->producer();
  std::optional<ChannelOperand> scale = channel_operand(*mul, "Mul");
  if (!scale) return {};
  graph.set_input(&add, 0, scale->image);
  SV_TRY(make_channel_affine(graph, add, {std::move(scale->numbers), std::move(shift->numbers)}, affine));
  graph.erase(mul);
  return {};
}

/// One of them: x s + -0 and x 1 + t are exact. One number for all channels leaves a blocked image as it is, without this.
Status fuse_one(Graph& graph, Node& node, const OpDef& affine) {
  std::optional<ChannelOperand> scale = channel_operand(node, "Mul"), shift = channel_operand(node, "Add");
  if (!scale && !shift) return {};
  ChannelOperand& by = scale ? *scale : *shift;
  if (by.one_for_all) return {};
  std::vector<double> others(by.numbers.size(), scale ? -0.0 : 1.0);
  NormAffine numbers = scale ? NormAffine{std::move(by.numbers), std::move(others)} : NormAffine{std::move(others), std::move(by.numbers)};
  graph.set_input(&node, 0, by.image);
  return make_channel_affine(graph, node, numbers, affine);
}

}  // namespace

Status fuse_channel_affine(Graph& graph, const PassContext& context) {
  const OpDef* affine = context.ops.find(kInternalDomain, "ChannelAffine");
  if (!affine) return {};
  for (const auto fuse : {fuse_both, fuse_one})
    for (Node* node : graph.snapshot()) SV_TRY(fuse(graph, *node, *affine));
  std::vector<Node*> made;  // apart, because absorbing erases nodes that a snapshot would still name
  for (const auto& node : graph.nodes())
    if (&node->op() == affine) made.push_back(node.get());
  for (Node* node : made) absorb_activation(graph, *node, *affine);
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
