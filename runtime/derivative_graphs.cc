#include "runtime/derivative_graphs.h"

#include <algorithm>
#include <utility>

#include "engine/graph/autodiff.h"
#include "engine/graph/axes.h"
#include "engine/graph/builder.h"
#include "engine/graph/passes/pass.h"
#include "engine/ops/registry.h"

namespace svengine {
namespace {

bool is_real(const Value* v) { return is_float(v->type.dtype) && size_of(v->type.dtype) >= 2; }

std::vector<Value*> real_ones(const std::vector<Value*>& values) {
  std::vector<Value*> out;
  std::copy_if(values.begin(), values.end(), std::back_inserter(out), is_real);
  return out;
}

/// A network with the nodes of u^T J behind it.
struct Transposed {
  Graph graph;
  std::vector<Value*> inputs;            // floating-point ones
  std::vector<Value*> output_gradients;  // u, which are inputs
  std::vector<Value*> input_gradients;   // u^T J
};

/// Rules of gradients make operators that have kernels, which the narrow types lack: what is of these becomes float32, as in training.
Status widen(Graph& graph) {
  bool any = false;
  graph.for_each_value([&](const Value& v) { any |= kNarrowFloatTypes.has(v.type.dtype); });
  if (!any) return {};
  const PassContext context{.ops = all_ops()};
  SV_TRY(expand_composites_now(graph, context));
  return widen_types(graph, context);
}

Result<Transposed> transpose(const Graph& imported) {
  Transposed out;
  out.graph = imported.clone();
  SV_TRY(widen(out.graph));
  out.inputs = real_ones(out.graph.inputs());
  if (out.inputs.empty()) return error("no input is floating point, so there is nothing to differentiate with respect to");
  std::vector<GradientSeed> seeds;
  for (Value* v : real_ones(out.graph.outputs())) {
    out.output_gradients.push_back(out.graph.add_input("gradient/" + v->name(), v->type));
    seeds.push_back({v, out.output_gradients.back()});
  }
  if (seeds.empty()) return error("no output is floating point, so there is nothing to differentiate");
  SV_ASSIGN(out.input_gradients, add_gradients(out.graph, all_ops(), seeds, out.inputs, Unreached::zeros));
  return out;
}

/// Whether some output is computed from the value, not from its shape alone.
bool reaches_output(const Graph& graph, Value* from) {
  std::vector<const Value*> reached{from};
  for (size_t at = 0; at < reached.size(); ++at) {
    if (graph.is_output(reached[at])) return true;
    for (const Node* user : reached[at]->users())
      for (size_t i = 0; i < user->inputs().size(); ++i) {
        if (user->input(i) != reached[at] || reads_shape_alone(*user, i)) continue;
        for (const Value* v : user->outputs())
          if (std::find(reached.begin(), reached.end(), v) == reached.end()) reached.push_back(v);
      }
  }
  return false;
}

/// What is left of u is read for shapes only, which are those of the output: it takes u's place.
Status drop(Graph& graph, Value* gradient, Value* output) {
  if (reaches_output(graph, gradient)) return error("the derivative with respect to '{}' is not linear in its gradient", output->name());
  graph.replace_uses(gradient, output);
  graph.erase_input(gradient);
  return {};
}

Value* transposed(Builder& builder, Value* v) {
  return builder.add("Transpose", {v}, make_attributes({{"perm", matrix_transpose(v->type.shape.rank())}}));
}

bool is_bare_product(const Node& node) {
  return node.op().name == std::string_view("FusedMatMul") && node.op().domain == std::string_view(kInternalDomain) && node.inputs().size() == 2 &&
         node.outputs().size() == 1 && !node.attributes.has("activation") && node.attributes.get_float("alpha", 1.0f) == 1.0f;
}

/// Gradients of MatMul and Gemm are bare products with operands transposed, which have no gradient in turn: MatMul has. Pass mat_mul takes the
/// transposes into the product again.
Status unfuse_products(Transposed& t) {
  Graph& graph = t.graph;
  for (Node* node : graph.snapshot()) {
    if (!is_bare_product(*node)) continue;
    Builder builder(graph, all_ops());
    builder.set_position(node);
    Value *a = node->input(0), *b = node->input(1);
    if (node->attributes.get_int("transpose_a")) a = transposed(builder, a);
    if (node->attributes.get_int("transpose_b")) b = transposed(builder, b);
    Value* product = builder.add("MatMul", {a, b});
    SV_TRY(Status(builder.status()));
    std::replace(t.input_gradients.begin(), t.input_gradients.end(), node->output(), product);
    graph.replace_uses(node->output(), product);
    graph.erase(node);
  }
  return {};
}

}  // namespace

Result<Graph> vjp_graph(const Graph& imported) {
  SV_ASSIGN(Transposed t, transpose(imported));
  for (Value* gradient : t.input_gradients) t.graph.add_output(gradient);
  return std::move(t.graph);
}

Result<Graph> jvp_graph(const Graph& imported) {
  SV_ASSIGN(Transposed t, transpose(imported));
  SV_TRY(unfuse_products(t));
  std::vector<GradientSeed> seeds;
  for (size_t i = 0; i < t.inputs.size(); ++i) {
    Value* tangent = t.graph.add_input("tangent/" + t.inputs[i]->name(), t.inputs[i]->type);
    seeds.push_back({t.input_gradients[i], tangent});
  }
  SV_ASSIGN(std::vector<Value*> tangents, add_gradients(t.graph, all_ops(), seeds, t.output_gradients, Unreached::zeros));
  for (Value* tangent : tangents) t.graph.add_output(tangent);
  SV_TRY(remove_dead_nodes(t.graph, {.ops = all_ops()}));
  const std::vector<Value*> outputs = real_ones(t.graph.outputs());  // the network's come first
  for (size_t i = 0; i < t.output_gradients.size(); ++i) SV_TRY(drop(t.graph, t.output_gradients[i], outputs[i]));
  return std::move(t.graph);
}

}  // namespace svengine
