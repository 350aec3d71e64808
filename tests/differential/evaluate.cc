#include "tests/differential/evaluate.h"

#include <algorithm>

#include "engine/graph/bodies.h"
#include "engine/graph/evaluate_context.h"
#include "engine/graph/expand.h"
#include "engine/graph/passes/pass.h"
#include "engine/plan/plan.h"
#include "runtime/session.h"

namespace svengine::differential {
namespace {

constexpr double kMostFlops = 2e7;
constexpr int kMostBodies = 64;  // that one node runs
constexpr std::string_view kUnknownShape = "the output's shape is not known", kTooLarge = "too large for a test", kTooSlow = "too slow for a test";

/// A constant, of what a container is declared to hold: one without items does not say.
void give(Graph& graph, Value* v, Tensor t) {
  const Type declared = v->type;
  graph.make_constant(v, std::move(t));
  if (is_container(declared.dtype)) v->type = declared;
}

std::vector<Tensor> inputs_of(const Node& node, const Values& values) {
  std::vector<Tensor> inputs;
  for (const Value* v : node.inputs()) inputs.push_back(v ? (v->is_constant() ? v->constant() : values.at(v)) : Tensor());
  return inputs;
}

/// A graph without inputs, node by node; what was computed is constant then.
Result<std::vector<Tensor>> compute_nodes(Graph& graph, const kernels::KernelTable& kernels, const Changes& change) {
  for (Node* node : graph.snapshot()) {
    SV_TRY(infer_types(*node));
    SV_ASSIGN(std::vector<Tensor> results, compute(*node, constants_of(*node), kernels, kMostComputed, change));
    if (change.results) change.results(*node, results);
    const std::vector<Value*> outputs = node->outputs();
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i]) give(graph, outputs[i], std::move(results[i]));
  }
  std::vector<Tensor> results;
  for (const Value* v : graph.outputs()) results.push_back(v->constant());
  return results;
}

/// A composite node: what it is made of.
Result<std::vector<Tensor>> compute_parts(Graph& alone, const kernels::KernelTable& kernels, const Changes& change) {
  Node& composite = *alone.nodes().front();
  for (Value* v : composite.outputs()) alone.add_output(v);
  SV_TRY(expand_composites_now(alone, pass_context(kernels)));
  return compute_nodes(alone, kernels, change);
}

/// Control flow: what its bodies are made of.
class BodyContext final : public EvaluateContext {
 public:
  BodyContext(const Node& node, std::vector<Tensor> inputs, const kernels::KernelTable& kernels, const Changes& change)
      : EvaluateContext(node, std::move(inputs)), kernels_(kernels), change_(change) {}

  bool has_run() const { return bodies_ > 0; }
  Result<std::vector<Tensor>> run_body(std::string_view name, std::vector<Tensor> inputs) override {
    const Subgraph& body = *attributes().get<Subgraph>(name);
    SV_TRY(check_body_inputs(*body, name, inputs));
    if (++bodies_ > kMostBodies) return error("{}", kTooSlow);
    Graph graph = body->clone();
    change_constants(graph);
    const std::vector<Value*> given = graph.inputs();
    for (size_t i = 0; i < given.size(); ++i) give(graph, given[i], std::move(inputs[i]));
    return compute_nodes(graph, kernels_, change_);
  }

 private:
  void change_constants(Graph& graph) const {
    if (!change_.constants) return;
    graph.for_each_value([&](Value& v) {
      if (!v.is_constant()) return;
      Tensor t = v.constant();
      change_.constants(v, t);
      graph.make_constant(&v, std::move(t));
    });
  }

  const kernels::KernelTable& kernels_;
  const Changes& change_;
  int bodies_ = 0;
};

/// Whether inference says what a trip would give. Where no trip is made, nobody says more.
bool tells_shapes(const Node& node) {
  const Subgraph* body = node.attributes.get<Subgraph>("body");
  if (!body) return true;
  Graph trip = (*body)->clone();
  const std::vector<int64_t> axes = node.attributes.get_ints("scan_input_axes");
  const size_t captured = static_cast<size_t>(node.attributes.get_int(kCaptured)), states = trip.inputs().size() - captured - axes.size();
  for (size_t i = 0; i < trip.inputs().size(); ++i) {
    if (!node.input(i) || is_container(node.input(i)->type.dtype)) continue;
    std::vector<Dim> dims = node.input(i)->type.shape.dims();
    const bool is_slice = i >= states && i < states + axes.size();
    if (is_slice) dims.erase(dims.begin() + axes[i - states] + (axes[i - states] < 0 ? static_cast<int64_t>(dims.size()) : 0));
    trip.inputs()[i]->type.shape = Shape(std::move(dims));
  }
  const auto is_known = [](const Value* v) { return is_container(v->type.dtype) || v->type.shape.is_static(); };
  return infer_all(trip).ok() && std::all_of(trip.outputs().begin(), trip.outputs().end(), is_known);
}

Result<std::vector<Tensor>> compute_bodies(const Node& node, const kernels::KernelTable& kernels, const Changes& change) {
  std::vector<Tensor> inputs = constants_of(node);
  for (Tensor& t : inputs) {
    if (t.is_aligned()) continue;
    SV_ASSIGN(t, t.aligned_copy());
  }
  BodyContext context(node, std::move(inputs), kernels, change);
  Result<std::vector<Tensor>> results = evaluate_on_host(context);
  if (results.ok() && !context.has_run() && !tells_shapes(node)) return error("{}", kUnknownShape);
  return results;
}

Result<std::vector<Tensor>> compute_alone(Graph& alone, const kernels::KernelTable& kernels, const Changes& change) {
  const Node& node = *alone.nodes().front();
  if (node.op().expand) return compute_parts(alone, kernels, change);
  return has_body(node) ? compute_bodies(node, kernels, change) : evaluate(node, kernels);
}

/// What is evaluated on the host may have results whose shapes only the run tells.
Status check_sizes(const Node& node, int64_t most_elements) {
  for (const Value* v : node.outputs()) {
    const std::optional<Dims> dims = v->type.shape.concrete();
    if (!dims && runs_on_host(node)) continue;
    if (!dims) return error("{}", kUnknownShape);
    SV_TRY(check_dims(*dims));
    if (element_count(*dims) > most_elements) return error("{}", kTooLarge);
  }
  return cost_of(node).flops > kMostFlops ? Status(error("{}", kTooSlow)) : Status();
}

/// What the bodies of a node capture is declared to be what it is around them. A body that cannot be is refused, but for one branch of an If, as
/// by the importer.
Status declare_captured(Node& node) {
  const auto captured = static_cast<size_t>(node.attributes.get_int(kCaptured));
  std::vector<Body> bodies = bodies_of(node);
  Status refused;
  for (Body& body : bodies) {
    for (size_t i = 1; i <= captured; ++i) {
      const std::vector<Value*>& inside = body.graph.inputs();
      inside[inside.size() - i]->type = node.inputs()[node.inputs().size() - i]->type;
    }
    Status typed = infer_anew(body.graph);
    if (!typed.ok() && (bodies.size() == 1 || !refused.ok())) return std::move(typed).error().in(body.name);
    if (!typed.ok()) refused = std::move(typed);
  }
  set_bodies(node, std::move(bodies));
  return {};
}

}  // namespace

std::vector<Tensor> constants_of(const Node& node) {
  std::vector<Tensor> constants;
  for (const Value* v : node.inputs()) constants.push_back(v ? v->constant() : Tensor());
  return constants;
}

Result<std::vector<Tensor>> compute(const Node& node, const std::vector<Tensor>& inputs, const kernels::KernelTable& kernels,
                                    int64_t most_elements, const Changes& change) {
  Graph alone;
  std::unordered_map<const Value*, Value*> constants;  // a value that is both operands stays one value
  std::vector<Value*> slots;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value* original = node.input(i);
    if (!original) {
      slots.push_back(nullptr);
      continue;
    }
    Value*& constant = constants[original];
    if (!constant) constant = alone.add_constant("c", inputs[i]);
    if (is_container(original->type.dtype)) constant->type = original->type;
    slots.push_back(constant);
  }
  Node* copy = alone.add_node(node.op(), node.name(), std::move(slots), node.outputs().size(), node.attributes);
  SV_TRY(infer_types(*copy));
  if (Status s = check_sizes(*copy, most_elements); !s.ok()) return std::move(s).error().in(describe(node));
  SV_ASSIGN(std::vector<Tensor> results, compute_alone(alone, kernels, change));
  for (const Tensor& t : results)
    if (t.count() > most_elements) return error("{}: {}", describe(node), kTooLarge);
  return results;
}

bool is_limit_of_test(const svengine::Error& error) {
  const std::string& message = error.message();
  return message.ends_with(kUnknownShape) || message.ends_with(kTooLarge) || message.ends_with(kTooSlow);
}

Values leaf_values(const Graph& graph, const Values& known) {
  Values values;
  graph.for_each_value([&](const Value& v) {
    if (!v.producer()) values[&v] = v.is_constant() ? v.constant() : known.at(&v);
  });
  return values;
}

bool has_bodies(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) { return has_body(*node); });
}

Status infer_anew(Graph& graph) {
  for (const auto& node : graph.nodes())
    for (Value* v : node->outputs()) v->type = Type();
  for (const auto& node : graph.nodes()) {
    SV_TRY(declare_captured(*node));
    SV_TRY(infer_types(*node));
  }
  return {};
}

Status compute_all(const Graph& graph, Values& values, const kernels::KernelTable& kernels) {
  for (const auto& node : graph.nodes()) {
    // A rule of a gradient may have given a node outputs that it did not have.
    const auto has_value = [&](const Value* v) { return values.count(v) > 0; };
    if (std::all_of(node->outputs().begin(), node->outputs().end(), has_value)) continue;
    SV_ASSIGN(std::vector<Tensor> results, compute(*node, inputs_of(*node, values), kernels));
    for (size_t i = 0; i < results.size(); ++i) values[node->output(i)] = std::move(results[i]);
  }
  return {};
}

}  // namespace svengine::differential
