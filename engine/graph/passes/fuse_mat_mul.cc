// MatMul and Gemm take what follows them into their epilogue: scale, bias, residual, activation -> FusedMatMul.
//
// Transposes of the last two dimensions go into the product, before it and behind it.
//
//   MatMul ─> Add bias[N] ─> Gelu          Gemm(C = bias[N]) ─> Relu          MatMul ─> Add bias ─> Add residual
#include <algorithm>

#include "engine/graph/passes/epilogue.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// Columns of the result, when known. A vector on the right leaves none: the last dimension is rows then.
std::optional<int64_t> columns(const Node& node) {
  const Shape &out = node.output()->type.shape, &right = node.input(1)->type.shape;
  if (right.rank() < 2 || !out.has_rank() || out.rank() < 2 || !out.back().is_static()) return std::nullopt;
  return out.back().value();
}

/// Products of other types are not fused.
bool has_kernels(const Value* value) { return value->type.dtype == DType::f32 || value->type.dtype == DType::f64; }

/// A value that adds one number to every column: a vector, or a constant of a higher rank, but not one above the result's, which
/// it would change the shape of.
bool is_bias(const Value* value, int64_t n, int64_t rank) {
  if (!value || !has_kernels(value)) return false;
  if (!value->is_constant()) return value->type.shape == Shape{Dim(n)} && rank >= 1;
  const Dims& dims = value->constant().dims();
  return !dims.empty() && static_cast<int64_t>(dims.size()) <= rank && dims.back() == n &&
         std::all_of(dims.begin(), dims.end() - 1, [](int64_t d) { return d == 1; });  // not by their number: n may be 0
}

/// The bias as a vector: constants of shape [1, .., N] get another view.
Value* as_vector(Graph& graph, Value* bias) {
  if (bias->type.shape.rank() == 1) return bias;
  return graph.add_constant(bias->name() + ".vector", bias->constant().reshaped({bias->constant().count()}));
}

/// Gemm whose C is a bias (or absent) and whose A is not transposed is a FusedMatMul.
bool from_gemm(Graph& graph, Node& gemm, const OpDef& fused) {
  const Attributes& a = gemm.attributes;
  const auto n = columns(gemm);
  Value* addend = gemm.input(2);
  if (a.get_int("transA") || !n || (addend && (a.get_float("beta", 1.0f) != 1.0f || !is_bias(addend, *n, 2)))) return false;
  Attributes attributes;
  attributes.set("transpose_b", a.get_int("transB"));
  attributes.set("alpha", a.get_float("alpha", 1.0f));
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
    if (!other || !n || !product.attributes.get_string("activation").empty() || product.input(3)) return;
    const size_t slot = is_bias(other, *n, product.output()->type.shape.rank()) && !product.input(2) ? 2 : 3;
    if (slot == 3 && (other->is_constant() || !same_shape(other->type.shape, product.output()->type.shape))) return;
    graph.move_before(&product, add);  // the residual may be made after the product
    graph.set_op(&product, fused);
    graph.set_input(&product, slot, slot == 2 ? as_vector(graph, other) : other);
    absorb(graph, product, *add);
  }
}

/// The source of a Transpose of the last two dimensions, else null.
Value* transposed_matrix(const Value* value) {
  const Node* transpose = producer_if(value, "Transpose");
  const int64_t rank = value->type.shape.rank();
  if (!transpose || rank < 2) return nullptr;
  std::vector<int64_t> perm = transpose->attributes.get_ints("perm");
  if (perm.empty() && rank == 2) perm = {1, 0};
  if (static_cast<int64_t>(perm.size()) != rank) return nullptr;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t wanted = i < rank - 2 ? i : 2 * rank - 3 - i;
    if (perm[static_cast<size_t>(i)] != wanted) return nullptr;
  }
  return transpose->input(0);
}

void flip(Node& product, const char* attribute) {
  product.attributes.set(attribute, int64_t{product.attributes.get_int(attribute) == 0});
}

/// Operands are read transposed instead of being transposed first: packing does both at one cost.
void take_transposes(Graph& graph, Node& product, const OpDef& fused) {
  if (product.input(0)->type.shape.rank() < 2 || product.input(1)->type.shape.rank() < 2) return;
  for (size_t i = 0; i < 2; ++i) {
    Value* source = transposed_matrix(product.input(i));
    if (!source) continue;
    graph.set_op(&product, fused);
    flip(product, i == 0 ? "transpose_a" : "transpose_b");
    graph.set_input(&product, i, source);
  }
}

/// (A B)' = B' A': the gradient of weights that the network transposes.
void take_transpose_behind(Graph& graph, Node& product, const OpDef& fused) {
  Node* transpose = only_user_if(graph, product.output(), "Transpose");
  Value *a = product.input(0), *b = product.input(1);
  if (!transpose || product.input(2) || product.input(3) || !product.attributes.get_string("activation").empty()) return;
  if (a->type.shape.rank() != 2 || b->type.shape.rank() != 2 || transposed_matrix(transpose->output()) != product.output())
    return;
  const Type type = transpose->output()->type;
  const int64_t transpose_a = product.attributes.get_int("transpose_a"), transpose_b = product.attributes.get_int("transpose_b");
  graph.set_op(&product, fused);
  graph.set_input(&product, 0, b);
  graph.set_input(&product, 1, a);
  product.attributes.set("transpose_a", int64_t{transpose_b == 0});
  product.attributes.set("transpose_b", int64_t{transpose_a == 0});
  absorb(graph, product, *transpose);
  product.output()->type = type;
}

}  // namespace

Status fuse_mat_mul(Graph& graph, const PassContext& context) {
  const OpDef* fused = context.ops.find(kInternalDomain, "FusedMatMul");
  if (!fused) return {};
  for (Node* node : graph.snapshot())
    if (is_op(node, "Gemm") && has_kernels(node->output())) from_gemm(graph, *node, *fused);
  std::vector<Node*> products;  // apart, because absorbing erases nodes that a snapshot would still name
  for (const auto& node : graph.nodes())
    if (is_product(node.get()) && has_kernels(node->output())) products.push_back(node.get());
  for (Node* node : products) {
    take_transposes(graph, *node, *fused);
    take_transpose_behind(graph, *node, *fused);
    // A residual is added before the activation in the kernel: Add after an activation is not taken.
    take_addends(graph, *node, *fused);
    absorb_activation(graph, *node, *fused);
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine
