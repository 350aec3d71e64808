// PyTorch before opset 17 writes layer normalisation as arithmetic over the last axis:
//
//   x ─> ReduceMean ─> Sub ─┬─> Pow 2 (or Mul by itself) ─> ReduceMean ─> Add epsilon ─> Sqrt ─┐
//   └────────────────────┘  └────────────────────────────────────────────────────────────────> Div ─> Mul scale ─> Add bias
//
// which becomes LayerNormalization(x, scale, bias).
#include "engine/graph/builder.h"
#include "engine/graph/passes/match.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// The node reduces exactly the last axis and keeps it.
bool over_last_axis(const Node& reduce) {
  const Shape& shape = reduce.input(0)->type.shape;
  if (reduce.attributes.get_int("keepdims", 1) != 1 || !reduce.input(1) || !reduce.input(1)->is_constant() || !shape.has_rank()) return false;
  const std::vector<int64_t> axes = reduce.input(1)->constant().as_int64s();
  return axes.size() == 1 && (axes[0] == -1 || axes[0] == shape.rank() - 1);
}

/// The value whose mean over the last axis this is, else null.
Value* mean_argument(const Value* v) {
  const Node* mean = producer_if(v, "ReduceMean");
  return mean && over_last_axis(*mean) ? mean->input(0) : nullptr;
}

/// The d of d * d or Pow(d, 2), else null.
Value* square_argument(const Value* v) {
  if (const Node* pow = producer_if(v, "Pow")) return is_scalar(pow->input(1), 2.0) ? pow->input(0) : nullptr;
  const Node* mul = producer_if(v, "Mul");
  return mul && mul->input(0) == mul->input(1) ? mul->input(0) : nullptr;
}

struct Norm {
  Value* x = nullptr;
  float epsilon = 0;
};

/// What the Div normalises, if it is the Div of the picture above.
Norm match(const Node& div) {
  const Value* deviation = div.input(0);
  const Node* root = producer_if(div.input(1), "Sqrt");
  const Node* sum = root ? producer_if(root->input(0), "Add") : nullptr;
  if (!sum) return {};
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<float> epsilon = scalar_constant(sum->input(i));
    const Value* squares = epsilon ? mean_argument(sum->input(1 - i)) : nullptr;
    const Value* squared = squares ? square_argument(squares) : nullptr;
    if (!squared) continue;
    const Node *sub = producer_if(deviation, "Sub"), *sub_squared = producer_if(squared, "Sub");
    if (!sub || !sub_squared || sub->inputs() != sub_squared->inputs()) continue;  // exporters may write the Sub twice
    // An epsilon of a higher rank than x would have added dimensions.
    if (mean_argument(sub->input(1)) == sub->input(0) && same_rank(sub->input(0)->type.shape, div.output()->type.shape))
      return {sub->input(0), *epsilon};
  }
  return {};
}

/// One element for each of a row of x. While a network is trained that is no constant.
bool is_row(const Value* v, const Shape& x) {
  return v && v->type.dtype == DType::f32 && v->type.shape.rank() == 1 && x.has_rank() && x.back().same(v->type.shape[0]);
}

Status rewrite(Graph& graph, const PassContext& context, Node& div, const Norm& norm) {
  Node* mul = only_user_if(graph, div.output(), "Mul");
  Value* scale = mul ? other_input(*mul, div.output()) : nullptr;
  if (!is_row(scale, norm.x->type.shape)) return {};
  Node* add = only_user_if(graph, mul->output(), "Add");
  Value* bias = add ? other_input(*add, mul->output()) : nullptr;
  if (!is_row(bias, norm.x->type.shape)) bias = nullptr;
  Node* last = bias ? add : mul;
  Builder builder(graph, context.ops);
  builder.set_position(last);
  std::vector<Value*> inputs{norm.x, scale};
  if (bias) inputs.push_back(bias);
  Value* out = builder.add("LayerNormalization", std::move(inputs), make_attributes({{"axis", int64_t{-1}}, {"epsilon", norm.epsilon}}),
                           div.name() + ".layer_norm");
  SV_TRY(Status(builder.status()));
  graph.replace_uses(last->output(), out);
  return remove_dead_nodes(graph, context);
}

}  // namespace

Status recognise_layer_norm(Graph& graph, const PassContext& context) {
  SV_TRY(remove_dead_nodes(graph, context));  // so that removing them after a rewrite takes none of `found`
  std::vector<Node*> found;
  for (const auto& node : graph.nodes())
    if (is_op(node.get(), "Div") && node->output()->type.dtype == DType::f32 && match(*node).x) found.push_back(node.get());
  for (Node* div : found) SV_TRY(rewrite(graph, context, *div, match(*div)));
  return {};
}

}  // namespace svengine
