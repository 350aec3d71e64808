// PyTorch before opset 20 writes GELU as arithmetic:
//
//   x ─> Div sqrt(2) ─> Erf ─> Add 1 ─> Mul ─> Mul 0.5          (also 0.5 x first, and Mul by 1/sqrt(2))
//   └──────────────────────────────────┘
//
// which becomes Gelu. Likewise x * Sigmoid(x) becomes Silu, x * HardSigmoid(x; 1/6, 1/2) and x * Clip(x + 3, 0, 6) / 6
// become HardSwish.
#include <cmath>

#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

constexpr double kSqrt2 = 1.41421356237309504880, kSqrtHalf = 0.70710678118654752440;

/// The x of Erf(x / sqrt 2), else null.
Value* erf_argument(const Value* erf_value) {
  const Node* erf = producer_if(erf_value, "Erf");
  if (!erf) return nullptr;
  const Node* scale = erf->input(0)->producer();
  if (is_op(scale, "Div") && is_scalar(scale->input(1), kSqrt2)) return scale->input(0);
  return is_op(scale, "Mul") ? operand_beside(scale, kSqrtHalf) : nullptr;
}

/// The x of 1 + Erf(x / sqrt 2), else null.
Value* shifted_erf_argument(const Value* v) {
  const Node* add = producer_if(v, "Add");
  const Value* erf = add ? operand_beside(add, 1.0) : nullptr;
  return erf ? erf_argument(erf) : nullptr;
}

/// x when `v` is x * 0.5.
Value* halved(const Value* v) {
  const Node* mul = producer_if(v, "Mul");
  return mul ? operand_beside(mul, 0.5) : nullptr;
}

/// The x when (l, r) are the factors {x, 1 + erf} in either order, allowing x * 0.5 where `half` says so.
Value* product_of_x_and_erf(Value* l, Value* r, bool half) {
  for (int swap = 0; swap < 2; ++swap, std::swap(l, r)) {
    Value* x = shifted_erf_argument(r);
    if (x && (half ? halved(l) : l) == x) return x;
  }
  return nullptr;
}

/// The x when this Mul is the last node of a GELU, else null.
Value* gelu_argument(const Node& mul) {
  if (Value* whole = operand_beside(&mul, 0.5))  // (x * (1 + erf)) * 0.5
    if (const Node* inner = producer_if(whole, "Mul"))
      if (Value* x = product_of_x_and_erf(inner->input(0), inner->input(1), false)) return x;
  for (int swap = 0; swap < 2; ++swap) {  // x * ((1 + erf) * 0.5)
    if (Value* erf = halved(mul.input(static_cast<size_t>(swap))))
      if (Value* x = shifted_erf_argument(erf); x && x == mul.input(static_cast<size_t>(1 - swap))) return x;
  }
  return product_of_x_and_erf(mul.input(0), mul.input(1), true);  // (x * 0.5) * (1 + erf)
}

/// The x when this Mul is x * Sigmoid(x).
Value* silu_argument(const Node& mul) {
  for (size_t i = 0; i < 2; ++i)
    if (const Node* s = producer_if(mul.input(i), "Sigmoid"); s && s->input(0) == mul.input(1 - i)) return mul.input(1 - i);
  return nullptr;
}

/// The x of Clip(x + 3, 0, 6), else null.
Value* relu6_argument(const Value* v) {
  const Node* clip = producer_if(v, "Clip");
  if (!clip || scalar_constant(clip->input(1)) != 0.0f || !is_scalar(clip->input(2), 6.0)) return nullptr;
  const Node* add = producer_if(clip->input(0), "Add");
  return add ? operand_beside(add, 3.0) : nullptr;
}

/// The x when this node is the last of a hard swish.
Value* hard_swish_argument(const Node& node) {
  if (is_op(&node, "Div") && is_scalar(node.input(1), 6.0)) {
    const Node* mul = producer_if(node.input(0), "Mul");
    for (size_t i = 0; mul && i < 2; ++i)
      if (Value* x = relu6_argument(mul->input(i)); x && x == mul->input(1 - i)) return x;
  }
  for (size_t i = 0; is_op(&node, "Mul") && i < 2; ++i) {
    const Node* gate = node.input(i)->producer();
    if (is_op(gate, "HardSigmoid") && gate->input(0) == node.input(1 - i) && std::abs(gate->attributes.get_float("alpha", 0.2f) * 6 - 1) < 1e-6f &&
        gate->attributes.get_float("beta", 0.5f) == 0.5f)
      return node.input(1 - i);
    if (is_op(gate, "Div") && is_scalar(gate->input(1), 6.0))
      if (Value* x = relu6_argument(gate->input(0)); x && x == node.input(1 - i)) return x;
  }
  return nullptr;
}

Status replace(Graph& graph, const OpRegistry& ops, Node& last, const char* domain, const char* op, Value* x) {
  Builder builder(graph, ops);
  builder.set_position(&last);
  Node* node = builder.node(domain, op, {x}, 1, {}, last.name() + "." + op);
  SV_TRY(Status(builder.status()));
  graph.replace_uses(last.output(), node->output());
  graph.erase(&last);
  return {};
}

}  // namespace

Status recognise_gelu(Graph& graph, const PassContext& context) {
  for (Node* node : graph.snapshot()) {
    const bool mul = is_op(node, "Mul"), div = is_op(node, "Div");
    if ((!mul && !div) || node->output()->type.dtype != DType::f32) continue;
    // Constants of a higher rank ([1, 1, 1] beside a vector) would have added dimensions.
    const auto fits = [node](const Value* x) { return x && same_rank(x->type.shape, node->output()->type.shape); };
    if (Value* x = hard_swish_argument(*node); fits(x)) SV_TRY(replace(graph, context.ops, *node, "", "HardSwish", x));
    else if (Value* g = mul ? gelu_argument(*node) : nullptr; fits(g)) SV_TRY(replace(graph, context.ops, *node, "", "Gelu", g));
    else if (Value* s = mul ? silu_argument(*node) : nullptr; fits(s))
      SV_TRY(replace(graph, context.ops, *node, kInternalDomain, "Silu", s));
  }
  return remove_dead_nodes(graph, context);
}

}  // namespace svengine
