#include "runtime/derivative_graphs.h"

#include <algorithm>

#include "engine/graph/autodiff.h"
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

/// What is left of u reads its shape only, which is that of the output: the output takes its place.
Status drop(Graph& graph, Value* gradient, Value* output) {
  for (const Node* user : gradient->users())
    for (size_t i = 0; i < user->inputs().size(); ++i)
      if (user->input(i) == gradient && user->op().traits.shape_only_input != static_cast<int>(i))
        return error("{} is not linear in its gradient", describe(*user));
  graph.replace_uses(gradient, output);
  graph.erase_input(gradient);
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
