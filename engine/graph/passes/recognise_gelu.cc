// PyTorch before opset 20 writes GELU as arithmetic:
//
//   x ─> Div sqrt(2) ─> Erf ─> Add 1 ─> Mul ─> Mul 0.5          (also 0.5 x first, and Mul by 1/sqrt(2))
//   └──────────────────────────────────┘
//
// which becomes Gelu. The same with Tanh of sqrt(2 / pi) (x + 0.044715 x^3) in place of Erf, as GPT-2 and its kin have it, becomes
// Gelu with approximate = "tanh", however the polynomial is written: with Pow or products, factored or not. Likewise
// x * Sigmoid(x) becomes Silu, x * HardSigmoid(x; 1/6, 1/2) and x * Clip(x + 3, 0, 6) / 6 become HardSwish.
#include <array>
#include <cmath>
#include <optional>

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

/// Coefficients of 1, x, x^2 and x^3.
using Cubic = std::array<double, 4>;

/// Nothing where the product has a higher degree.
std::optional<Cubic> cubic_product(const Cubic& a, const Cubic& b) {
  Cubic y{};
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j >= y.size()) return std::nullopt;
      y[i + j] += a[i] * b[j];
    }
  return y;
}

/// `v` as a polynomial in x, where it is one that is made of scalars by at most `depth` nodes one after the other.
std::optional<Cubic> cubic_of(const Value* v, const Value* x, int depth) {
  if (v == x) return Cubic{0, 1, 0, 0};
  if (const std::optional<float> c = scalar_constant(v)) return Cubic{*c, 0, 0, 0};
  const Node* node = v->producer();
  if (depth == 0 || !(is_op(node, "Add") || is_op(node, "Mul") || is_op(node, "Pow"))) return std::nullopt;
  const std::optional<Cubic> a = cubic_of(node->input(0), x, depth - 1);
  if (!a) return std::nullopt;
  if (is_op(node, "Pow")) {
    const std::optional<float> power = scalar_constant(node->input(1));
    if (power != 2.0f && power != 3.0f) return std::nullopt;
    const std::optional<Cubic> square = cubic_product(*a, *a);
    return power == 2.0f || !square ? square : cubic_product(*square, *a);
  }
  const std::optional<Cubic> b = cubic_of(node->input(1), x, depth - 1);
  if (!b) return std::nullopt;
  if (is_op(node, "Mul")) return cubic_product(*a, *b);
  return Cubic{(*a)[0] + (*b)[0], (*a)[1] + (*b)[1], (*a)[2] + (*b)[2], (*a)[3] + (*b)[3]};
}

/// Is `v` Tanh(sqrt(2 / pi) (x + 0.044715 x^3))? Its constants have been rounded to float32 once or twice.
bool is_gelu_tanh(const Value* v, const Value* x) {
  constexpr int kNodes = 5;  // tanh's argument, at its longest: sqrt(2 / pi) x * (1 + 0.044715 x * x)
  constexpr double kSlope = 0.79788456080286535588, kCube = kSlope * 0.044715;
  const Node* tanh = producer_if(v, "Tanh");
  const std::optional<Cubic> p = tanh ? cubic_of(tanh->input(0), x, kNodes) : std::nullopt;
  const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-6 * b; };
  return p && (*p)[0] == 0 && near((*p)[1], kSlope) && (*p)[2] == 0 && near((*p)[3], kCube);
}

/// x when `v` is x * 0.5.
Value* halved(const Value* v) {
  const Node* mul = producer_if(v, "Mul");
  return mul ? operand_beside(mul, 0.5) : nullptr;
}

struct GeluForm {
  Value* x = nullptr;  // null: none
  bool by_tanh = false;
};

/// The form when `gate` is 1 + Erf(x / sqrt 2), or 1 + Tanh of the polynomial.
GeluForm gated(Value* x, const Value* gate) {
  const Node* add = producer_if(gate, "Add");
  const Value* function = add ? operand_beside(add, 1.0) : nullptr;
  if (!x || !function) return {};
  if (erf_argument(function) == x) return {x, false};
  return is_gelu_tanh(function, x) ? GeluForm{x, true} : GeluForm{};
}

/// The form when (l, r) are the factors {x, gate} in either order, or {x * 0.5, gate} where `half` says so.
GeluForm gated_product(Value* l, Value* r, bool half) {
  for (int swap = 0; swap < 2; ++swap, std::swap(l, r))
    if (const GeluForm form = gated(half ? halved(l) : l, r); form.x) return form;
  return {};
}

/// What GELU this Mul is the last node of.
GeluForm gelu_form(const Node& mul) {
  if (Value* whole = operand_beside(&mul, 0.5))  // (x * gate) * 0.5
    if (const Node* inner = producer_if(whole, "Mul"))
      if (const GeluForm form = gated_product(inner->input(0), inner->input(1), false); form.x) return form;
  for (size_t swap = 0; swap < 2; ++swap)  // x * (gate * 0.5)
    if (const Value* gate = halved(mul.input(swap)))
      if (const GeluForm form = gated(mul.input(1 - swap), gate); form.x) return form;
  return gated_product(mul.input(0), mul.input(1), true);  // (x * 0.5) * gate
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

Status replace(Graph& graph, const OpRegistry& ops, Node& last, const char* domain, const char* op, Value* x, Attributes attributes = {}) {
  Builder builder(graph, ops);
  builder.set_position(&last);
  Node* node = builder.node(domain, op, {x}, 1, std::move(attributes), last.name() + "." + op);
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
    else if (const GeluForm g = mul ? gelu_form(*node) : GeluForm{}; fits(g.x))
      SV_TRY(replace(graph, context.ops, *node, "", "Gelu", g.x,
                     g.by_tanh ? make_attributes({{"approximate", std::string("tanh")}}) : Attributes{}));
    else if (Value* s = mul ? silu_argument(*node) : nullptr; fits(s))
      SV_TRY(replace(graph, context.ops, *node, kInternalDomain, "Silu", s));
  }
  return remove_dead_nodes(graph, context);
}

}  // namespace svengine
