// Scaled dot-product attention as PyTorch exports it becomes one node:
//
//   q ─┐
//      MatMul ─> [Div|Mul scale] ─> [Add mask] ─> Softmax ─┐
//   k ─┘                                                   MatMul ─> [Transpose 0,2,1,3]
//   v ────────────────────────────────────────────────────┘
//
// q, k and v are [batch, heads, length, size], usually Transpose(0,2,1,3) of [batch, length, heads, size]: the node reads them
// where they are, by strides, and writes [batch, length, heads, size] when that is what follows. k may come already transposed
// for the product: [batch, heads, size, length].
#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

using Perm = std::vector<int64_t>;

struct Operand {
  Value* value = nullptr;
  std::string layout;  // "bhsd", "bshd" or (k only) "bhds", "bshd"
};

Value* transposed_from(const Value* value, const Perm& perm) {
  const Node* t = producer_if(value, "Transpose");
  return t && t->attributes.get_ints("perm") == perm ? t->input(0) : nullptr;
}

Operand query_or_value(Value* value) {
  if (Value* from = transposed_from(value, {0, 2, 1, 3})) return {from, "bshd"};
  return {value, "bhsd"};
}

Operand key(Value* value) {
  if (Value* from = transposed_from(value, {0, 2, 3, 1})) return {from, "bshd"};
  if (Value* from = transposed_from(value, {0, 1, 3, 2})) return query_or_value(from);
  return {value, "bhds"};
}

struct Match {
  Operand q, k, v;
  const Node* product = nullptr;  // of q and k
  Value* mask = nullptr;
  float scale = 1;
};

/// Peels Mul or Div by a scalar constant off a value that only this chain uses. A constant of a higher rank than the other
/// operand's ([1, 1, 1, 1] beside a rank-3 value) also adds dimensions: such a node stays.
Value* peel_scale(const Graph& graph, Value* value, float& scale) {
  const Node* node = value->producer();
  if (!node || !only_used_once(graph, value) || node->inputs().size() != 2) return value;
  const auto keeps_shape = [&](size_t i) { return same_shape(node->input(i)->type.shape, value->type.shape); };
  if (is_op(node, "Div") && keeps_shape(0))
    if (const auto c = scalar_constant(node->input(1)); c && *c != 0) return scale /= *c, node->input(0);
  if (is_op(node, "Mul"))
    for (size_t i = 0; i < 2; ++i)
      if (const auto c = scalar_constant(node->input(i)); c && keeps_shape(1 - i)) return scale *= *c, node->input(1 - i);
  return value;
}

/// The MatMul below a scale that only this chain uses, and the scale; else null.
const Node* scores_product(const Graph& graph, Value* scores, float& scale) {
  scale = 1;
  scores = peel_scale(graph, scores, scale);
  return only_used_once(graph, scores) ? producer_if(scores, "MatMul") : nullptr;
}

/// The mask may be any tensor that broadcasts to the scores with a full last dimension.
bool is_mask(const Value* mask, const Value* scores) {
  const Shape &m = mask->type.shape, &s = scores->type.shape;
  if (!m.is_static() || !s.is_static() || m.rank() < 1 || m.rank() > 4 || mask->type.dtype != DType::f32) return false;
  if (m.back().value() != s.back().value()) return false;
  for (int64_t i = 1; i <= m.rank(); ++i) {
    const int64_t d = m[static_cast<size_t>(m.rank() - i)].value();
    if (d != 1 && d != s[static_cast<size_t>(s.rank() - i)].value()) return false;
  }
  return true;
}

std::optional<Match> match(const Graph& graph, const Node& softmax) {
  Value* scores = softmax.input(0);
  const int64_t axis = softmax.attributes.get_int("axis", -1);
  if (scores->type.dtype != DType::f32 || scores->type.shape.rank() != 4 || (axis != -1 && axis != 3) || softmax.attributes.get_int("coerced"))
    return std::nullopt;
  const Node* context = only_user_if(graph, softmax.output(), "MatMul");
  if (!context || context->input(0) != softmax.output() || context->input(1)->type.shape.rank() != 4) return std::nullopt;
  Match m;
  const Node* add = only_used_once(graph, scores) ? producer_if(scores, "Add") : nullptr;
  if (!add) m.product = scores_product(graph, scores, m.scale);
  for (size_t side = 2; add && !m.product && side-- > 0;) {  // a mask may be made by Mul too, so both sides are tried
    if (!is_mask(add->input(side), scores)) continue;
    m.product = scores_product(graph, add->input(1 - side), m.scale);
    m.mask = add->input(side);
  }
  const Node* product = m.product;
  if (!product) return std::nullopt;
  // Scales on q and k themselves (scaled_dot_product_attention's export) move to the scores.
  m.q = query_or_value(peel_scale(graph, product->input(0), m.scale));
  m.k = key(peel_scale(graph, product->input(1), m.scale));
  m.v = query_or_value(context->input(1));
  return m;
}

/// Same batch and heads everywhere: the kernels do not broadcast q, k and v, and nothing between the products does (a mask of
/// a larger batch than the scores').
bool shapes_agree(const Node& product, const Node& softmax, const Node& context) {
  const Shape &q = product.input(0)->type.shape, &k = product.input(1)->type.shape, &v = context.input(1)->type.shape;
  if (!q.is_static() || !k.is_static() || !v.is_static() || q.rank() != 4 || k.rank() != 4 || v.rank() != 4) return false;
  for (size_t i = 0; i < 2; ++i)
    if (!q[i].same(k[i]) || !q[i].same(v[i])) return false;
  return same_shape(product.output()->type.shape, softmax.output()->type.shape);
}

Status rewrite(Graph& graph, const PassContext& context, Node& softmax, const Match& m) {
  Node* product = softmax.output()->users()[0];
  Node* transpose = only_user_if(graph, product->output(), "Transpose");
  if (transpose && transpose->attributes.get_ints("perm") != Perm{0, 2, 1, 3}) transpose = nullptr;
  Node* last = transpose ? transpose : product;
  Builder builder(graph, context.ops);
  builder.set_position(last);
  std::vector<Value*> inputs{m.q.value, m.k.value, m.v.value};
  if (m.mask) inputs.push_back(m.mask);
  Node* attention = builder.node(kInternalDomain, "Attention", std::move(inputs), 1,
                                 make_attributes({{"scale", m.scale},
                                                  {"q_layout", m.q.layout},
                                                  {"k_layout", m.k.layout},
                                                  {"v_layout", m.v.layout},
                                                  {"out_layout", std::string(transpose ? "bshd" : "bhsd")}}),
                                 softmax.name() + ".attention");
  SV_TRY(Status(builder.status()));
  graph.replace_uses(last->output(), attention->output());
  return remove_dead_nodes(graph, context);
}

}  // namespace

Status recognise_attention(Graph& graph, const PassContext& context) {
  if (!context.ops.find(kInternalDomain, "Attention")) return {};
  SV_TRY(remove_dead_nodes(graph, context));  // so that removing them after a rewrite takes none of `softmaxes`
  std::vector<Node*> softmaxes;
  for (const auto& node : graph.nodes())
    if (is_op(node.get(), "Softmax")) softmaxes.push_back(node.get());
  for (Node* softmax : softmaxes) {
    const std::optional<Match> m = match(graph, *softmax);
    if (m && shapes_agree(*m->product, *softmax, *softmax->output()->users()[0])) SV_TRY(rewrite(graph, context, *softmax, *m));
  }
  return {};
}

}  // namespace svengine
