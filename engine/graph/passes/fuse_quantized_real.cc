// Products of quantised values whose result stays real, as in transformers, where a norm or Softmax reads it:
//
//   a ─> DequantizeLinear ─┐
//   b ─> DequantizeLinear ─┴> MatMul ─> Add(bias) ─> y      =>      a, b, bias ─> MatMulIntegerToFloat ─> y
//
// and likewise Gemm to QGemm without a scale of the result. ONNX Runtime makes the same ones. The sums are exact.
#include <vector>

#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"
#include "engine/graph/passes/quantized.h"

namespace svengine {
namespace {


/// Both are constants: the product is folded.
bool is_foldable(const QuantizedValue& a, const QuantizedValue& b) { return a.value->is_constant() && b.value->is_constant(); }

/// An Add of one float32 number a column that alone reads the product.
Node* bias_behind(const Graph& graph, const Node& product, const QuantizedValue& b) {
  Node* add = only_user_if(graph, product.output(), "Add");
  const Value* bias = add ? other_input(*add, product.output()) : nullptr;
  const Shape &columns = b.value->type.shape, &y = product.output()->type.shape;
  const bool fits = bias && bias->is_constant() && bias->type.dtype == DType::f32 && bias->type.shape.rank() == 1 && columns.rank() >= 2 &&
                    y.rank() >= 1 && columns.back().is_static() && bias->type.shape[0] == columns.back();
  return fits ? add : nullptr;
}

Status replace_mat_mul(Graph& graph, Builder& builder, Node* product) {
  const auto a = dequantized(product->input(0)), b = dequantized(product->input(1));
  if (!a || !b || is_foldable(*a, *b) || !a->is_single() || !(b->is_single() || (b->value->type.shape.rank() == 2 && is_per(*b, 1)))) return {};
  Node* add = bias_behind(graph, *product, *b);
  Node* last = add ? add : product;
  builder.set_position(last);
  std::vector<Value*> inputs{a->value, b->value, a->scale, b->scale, zero_point_of(graph, *a), zero_point_of(graph, *b)};
  if (add) inputs.push_back(other_input(*add, product->output()));
  const Node* made = builder.node(kMicrosoftDomain, "MatMulIntegerToFloat", std::move(inputs), 1);
  SV_TRY(builder.status());
  graph.replace_uses(last->output(), made->output());
  graph.erase(last);
  if (add) graph.erase(product);
  return {};
}

Status replace_gemm(Graph& graph, Builder& builder, Node* gemm) {
  const auto a = dequantized(gemm->input(0)), b = dequantized(gemm->input(1));
  const bool transposed = gemm->attributes.get_int("transB") != 0;
  if (!a || !b || is_foldable(*a, *b) || !a->is_single() || !is_per(*b, transposed ? 0 : 1)) return {};
  if (gemm->attributes.get_float("alpha", 1) != 1 || (gemm->input(2) && gemm->attributes.get_float("beta", 1) != 1)) return {};
  Value* bias = gemm->input(2) ? integer_bias(graph, gemm->input(2), *a, *b) : nullptr;
  const Shape& y = gemm->output()->type.shape;
  if (gemm->input(2) && (!bias || y.rank() != 2 || !(y[1] == Dim(bias->constant().count())))) return {};
  builder.set_position(gemm);
  std::vector<Value*> inputs{a->value, a->scale, zero_point_of(graph, *a), b->value, b->scale, zero_point_of(graph, *b)};
  if (bias) inputs.push_back(bias);
  Attributes attributes;
  for (const char* name : {"transA", "transB"}) attributes.set(name, gemm->attributes.get_int(name));
  const Node* made = builder.node(kMicrosoftDomain, "QGemm", std::move(inputs), 1, std::move(attributes));
  SV_TRY(builder.status());
  graph.replace_uses(gemm->output(), made->output());
  graph.erase(gemm);
  return {};
}

}  // namespace

Status fuse_quantized_real(Graph& graph, const PassContext& context) {
  // The products alone: a bias behind one is gone by the time the walk would come to it.
  std::vector<Node*> products = graph.snapshot();
  std::erase_if(products, [](const Node* node) { return !is_op(node, "Gemm") && !is_op(node, "MatMul"); });
  for (Node* node : products) {
    const bool gemm = is_op(node, "Gemm");
    Builder builder(graph, context.ops);
    builder.set_node_name(node->name());
    SV_TRY(gemm ? replace_gemm(graph, builder, node) : replace_mat_mul(graph, builder, node));
  }
  return remove_dead_nodes(graph, context);
}

}  // namespace svengine
