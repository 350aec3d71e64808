// The gradient of a dense layer's bias is the sum of dy's rows. The product that gives the weights' gradient packs dy, and sums it up
// on the way:
//
//   dy ─> SumTo ─> db                              dy ─┬─ (rows of all batches as one matrix)
//   dy ─> FusedMatMul(x', dy) ─> dW      =>            └─> FusedMatMul(x', dy) ─> dW, db
//
// So dy is read from memory once less. Either operand may be dy: a network that transposes its weights gets FusedMatMul(dy', x).
#include <algorithm>
#include <unordered_map>

#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

using Order = std::unordered_map<const Node*, int>;

/// All dimensions but the last are summed up.
bool sums_rows(const Node& node) {
  if (!is_op(&node, "SumTo")) return false;
  const Shape &in = node.input(0)->type.shape, &out = node.output()->type.shape;
  return node.input(0)->type.dtype == DType::f32 && in.is_static() && out.is_static() && in.rank() >= 2 &&
         out.rank() == 1 && in.back() == out[0];
}

/// `value` is a non-constant operand of `product` whose rows its packing can sum up: 1 for A, 2 for B, else 0.
int64_t place_of(const Node& product, const Value* value) {
  if (!is_op(&product, "FusedMatMul") || product.outputs().size() != 1 || product.input(0) == product.input(1)) return 0;
  const Shape &a = product.input(0)->type.shape, &b = product.input(1)->type.shape;
  if (a.rank() != 2 || b.rank() != 2 || value->is_constant()) return 0;
  if (value == product.input(0)) return product.attributes.get_int("transpose_a") && !(a[1] == Dim(1)) ? 1 : 0;
  return product.attributes.get_int("transpose_b") ? 0 : 2;
}

/// A product of `rows` that comes before all users of the sums.
Node* product_of(const Value* rows, const Value* sums, const Order& order) {
  for (Node* product : rows->users()) {
    if (!place_of(*product, rows)) continue;
    const auto later = [&](const Node* user) { return order.at(product) < order.at(user); };
    if (std::all_of(sums->users().begin(), sums->users().end(), later)) return product;
  }
  return nullptr;
}

/// dy, or a view of it as one matrix of the same rows.
std::vector<Value*> as_matrices(Value* dy) {
  std::vector<Value*> out = {dy};
  for (const Node* view : dy->users()) {
    Value* v = view->op().traits.is_view ? view->output() : nullptr;
    if (v && view->input(0) == dy && v->type.shape.rank() == 2 && v->type.shape[1] == dy->type.shape.back()) out.push_back(v);
  }
  return out;
}

}  // namespace

Status fuse_bias_grad(Graph& graph, const PassContext&) {
  Order order;
  std::vector<Node*> sums;
  for (const auto& node : graph.nodes()) {
    order.emplace(node.get(), static_cast<int>(order.size()));
    if (sums_rows(*node)) sums.push_back(node.get());
  }
  for (Node* sum : sums)
    for (const Value* rows : as_matrices(sum->input(0))) {
      Node* product = product_of(rows, sum->output(), order);
      if (!product) continue;
      const Type type = sum->output()->type;
      product->attributes.set("sum_of", place_of(*product, rows));
      graph.grow_outputs(product, 2);
      product->output(1)->type = type;
      graph.replace_uses(sum->output(), product->output(1));
      graph.erase(sum);
      break;
    }
  return {};
}

}  // namespace svengine
