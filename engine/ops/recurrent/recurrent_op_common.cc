#include "engine/ops/recurrent/recurrent_grad_common.h"

namespace svengine::ops {
namespace {

/// Opset 1 had output_sequence, which said whether Y is wanted; an output that is named is.
Status canonicalize_recurrent(CanonicalizeContext& c) {
  c.attributes().erase("output_sequence");
  return {};
}

double known(const Dim& d) { return d.is_static() ? static_cast<double>(d.value()) : 1; }

/// Products with W and R, an operation of some twenty for every gate, and everything moved once.
Cost recurrent_cost(const Node& node) {
  Cost cost;
  for (const Value* v : node.inputs())
    if (v) cost.bytes += stored_bytes(v->type);
  for (const Value* v : node.outputs())
    if (v) cost.bytes += stored_bytes(v->type);
  const Shape &x = node.input(0)->type.shape, &w = node.input(1)->type.shape, &r = node.input(2)->type.shape;
  if (!x.has_rank() || !w.has_rank() || !r.has_rank()) return cost;
  const double rows = known(x[0]) * known(x[1]), gates = known(w[0]) * known(w[1]);
  cost.flops = rows * gates * (2 * known(w[2]) + 2 * known(r[2]) + 20);
  return cost;
}

}  // namespace

std::vector<AttributeDef> recurrent_attributes() {
  return {{"activation_alpha", AttributeKind::kFloats},
          {"activation_beta", AttributeKind::kFloats},
          {"activations", AttributeKind::kStrings},
          {"clip", AttributeKind::kFloat},
          {"direction", AttributeKind::kString, false, "forward"},
          {"hidden_size", AttributeKind::kInt}};
}

OpDef recurrent_op(const char* name, int gates) {
  const bool lstm = gates == 4;
  OpDef op{
      .name = name,
      .inputs = lstm ? OpInputs("X, W, R, B?, sequence_lens?, initial_h?, initial_c?, P?") : OpInputs("X, W, R, B?, sequence_lens?, initial_h?"),
      .outputs = {0, lstm         ? 5
                     : gates == 3 ? 3
                                  : 2},
      .attributes = recurrent_attributes(),
      .canonicalize = canonicalize_recurrent,
      .infer = infer_recurrent,
      .lower = lower_recurrent,
      .check_values = check_recurrent_lengths,
      .cost = recurrent_cost,
      .gradient = recurrent_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
  };
  op.attributes.push_back({"layout", AttributeKind::kInt, false, 0});
  return op;
}

}  // namespace svengine::ops
