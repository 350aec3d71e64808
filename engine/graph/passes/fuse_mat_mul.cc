// MatMul and Gemm take what follows them into their epilogue: scale, bias, residual, activation -> FusedMatMul.
//
//   MatMul ─> Add bias[N] ─> Gelu          Gemm(C = bias[N]) ─> Relu          MatMul ─> Add bias ─> Add residual
#include "engine/graph/passes/epilogue.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// Columns of the result, when known. A vector on the right leaves none: the last dimension is rows then.
std::optional<int64_t> columns(const Node& node) {
  const Shape &out = node.output()->type.shape, &right = node.input(1)->type.shape;
  if (right.rank() < 2 || !out.has_rank() || out.rank() < 2 || !out.dims().back().is_static()) return std::nullopt;
  return out.dims().back().value();
}

/// A constant that adds one number to every column. One of a higher rank than the result's would change the result's shape.
bool is_bias(const Value* value, int64_t n, int64_t rank) {
  return value && value->is_constant() && value->type.shape.rank() <= rank && value->type.dtype == DType::f32 && value->constant().count() == n &&
         !value->constant().dims().empty() && value->constant().dims().back() == n;
}

/// The bias as a vector: constants of shape [1, .., N] get another view.
Value* as_vector(Graph& graph, Value* bias) {
  if (bias->constant().dims().size() == 1) return bias;
  return graph.add_constant(bias->name() + ".vector", bias->constant().reshaped({bias->constant().count()}));
}

/// Gemm whose C is a bias (or absent) and whose A is not transposed is a FusedMatMul.
bool from_gemm(Graph& graph, Node& gemm, const OpDef& fused) {
  const Attributes& a = gemm.attributes;
  const auto n = columns(gemm);
  Value* addend = gemm.input(2);
  if (a.integer("transA") || !n || (addend && (a.real("beta", 1.0f) != 1.0f || !is_bias(addend, *n, 2)))) return false;
  Attributes attributes;
  attributes.set("transpose_b", a.integer("transB"));
  attributes.set("alpha", a.real("alpha", 1.0f));
  if (addend) graph.set_input(&gemm, 2, as_vector(graph, addend));
  gemm.attributes = std::move(attributes);
  graph.set_op(&gemm, fused);
  return true;
}

bool is_product(const Node* node) { return is_op(node, "MatMul") || is_op(node, "FusedMatMul"); }

/// Add of a bias, then Add of a residual, each when nothing stands in between.
void take_addends(Graph& graph, Node& product, const OpDef& fused) {
  while (Node* add = only_user_if(graph, product.output(), "Add")) {
    Value* other = other_input(*add, product.output());
    const auto n = columns(product);
    if (!other || !n || !product.attributes.text("activation").empty() || product.input(3)) return;
    const size_t slot = is_bias(other, *n, product.output()->type.shape.rank()) && !product.input(2) ? 2 : 3;
    if (slot == 3 && (other->is_constant() || !same_shape(other->type.shape, product.output()->type.shape))) return;
    graph.move_before(&product, add);  // the residual may be made after the product
    graph.set_op(&product, fused);
    graph.set_input(&product, slot, slot == 2 ? as_vector(graph, other) : other);
    absorb(graph, product, *add);
  }
}

}  // namespace

Status fuse_mat_mul(Graph& graph, const PassContext& context) {
  const OpDef* fused = context.ops.find(kInternalDomain, "FusedMatMul");
  if (!fused) return {};
  for (Node* node : graph.snapshot())
    if (is_op(node, "Gemm")) from_gemm(graph, *node, *fused);
  std::vector<Node*> products;  // apart, because absorbing erases nodes that a snapshot would still name
  for (const auto& node : graph.nodes())
    if (is_product(node.get()) && node->output()->type.dtype == DType::f32) products.push_back(node.get());
  for (Node* node : products) {
    // A residual is added before the activation in the kernel: Add after an activation is not taken.
    take_addends(graph, *node, *fused);
    absorb_activation(graph, *node, *fused);
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
