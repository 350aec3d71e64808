// Products of values that are quantised when they are there:
//
//   A, B ─> MatMulInteger ─> Cast ─> Mul(a_scale * b_scale) ─> Add(bias)     =>     MatMulIntegerToFloat(A, B, ..., bias)
//
// which scales and adds in the product's epilogue. Every operation is the same, so results are the same bits.
#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

bool is_single_scale(const Value* v) {
  return v && v->type.dtype == DType::f32 && v->type.shape.is_static() && v->type.shape.rank() <= 1 &&
         element_count(*v->type.shape.concrete()) == 1;
}

/// One for each column.
bool is_column_scale(const Value* v, const Dim& columns) {
  return is_single_scale(v) ||
         (v && v->type.dtype == DType::f32 && v->type.shape.rank() == 1 && columns.is_static() && v->type.shape[0] == columns);
}

struct Pattern {
  Node *product, *cast, *scaling;
  Value *a_scale, *b_scale;
};

std::optional<Pattern> pattern_of(const Graph& graph, Node* product) {
  const Value* b = product->input(1);
  if (!product->output()->type.shape.has_rank() || b->type.shape.rank() < 2) return std::nullopt;
  const Dim& columns = b->type.shape.back();
  Pattern p{product, only_user_if(graph, product->output(), "Cast"), nullptr, nullptr, nullptr};
  if (!p.cast || p.cast->output()->type.dtype != DType::f32) return std::nullopt;
  p.scaling = only_user_if(graph, p.cast->output(), "Mul");
  const Value* scale = p.scaling ? other_input(*p.scaling, p.cast->output()) : nullptr;
  const Node* both = scale ? producer_if(scale, "Mul") : nullptr;
  if (!both) return std::nullopt;
  p.a_scale = both->input(0), p.b_scale = both->input(1);
  if (!is_single_scale(p.a_scale)) std::swap(p.a_scale, p.b_scale);
  if (!is_single_scale(p.a_scale) || !is_column_scale(p.b_scale, columns)) return std::nullopt;
  if (p.scaling->output()->type.shape.rank() != product->output()->type.shape.rank()) return std::nullopt;
  return p;
}

/// An Add of one float32 number a column behind the scaling.
Node* bias_of(const Graph& graph, const Pattern& p) {
  Node* add = only_user_if(graph, p.scaling->output(), "Add");
  const Value* bias = add ? other_input(*add, p.scaling->output()) : nullptr;
  const Dim& columns = p.product->input(1)->type.shape.back();
  const bool fits =
      bias && bias->type.dtype == DType::f32 && bias->type.shape.rank() == 1 && columns.is_static() && bias->type.shape[0] == columns;
  return fits && p.product->output()->type.shape.rank() >= 1 ? add : nullptr;
}

}  // namespace

Status fuse_dynamic_quantized(Graph& graph, const PassContext& context) {
  for (Node* product : graph.snapshot()) {
    if (!is_op(product, "MatMulInteger")) continue;
    const auto p = pattern_of(graph, product);
    if (!p) continue;
    Node* add = bias_of(graph, *p);
    Node* last = add ? add : p->scaling;
    Builder builder(graph, context.ops);
    builder.set_position(last);
    builder.set_node_name(product->name());
    Value* bias = add ? other_input(*add, p->scaling->output()) : nullptr;
    std::vector<Value*> inputs{product->input(0), product->input(1), p->a_scale, p->b_scale, product->input(2), product->input(3), bias};
    const Node* made = builder.node(kMicrosoftDomain, "MatMulIntegerToFloat", std::move(inputs), 1);
    SV_TRY(builder.status());
    graph.replace_uses(last->output(), made->output());
    // The nodes of the pattern have no user left; remove_dead_nodes takes them, while snapshots may still name them.
  }
  return {};
}

}  // namespace svengine
