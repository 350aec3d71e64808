#include "engine/graph/autodiff.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "engine/graph/expand.h"
#include "engine/graph/gradient.h"
#include "engine/graph/passes/pass.h"

namespace svengine {
namespace {

/// Of all nodes that compute gradients of this node's inputs, or of this value.
std::string gradient_name(const std::string& name) { return name + ".gradient"; }

bool is_real(const Value* value) {
  const DType type = value->type.dtype;
  return type == DType::f32 || type == DType::f64 || type == DType::f16 || type == DType::bf16;
}

/// Both known, and different.
bool contradicts(const Type& a, const Type& b) {
  if (a.dtype != b.dtype) return true;
  if (!a.shape.has_rank() || !b.shape.has_rank()) return false;
  if (a.shape.rank() != b.shape.rank()) return true;
  for (size_t i = 0; i < a.shape.dims().size(); ++i) {
    const Dim &x = a.shape[i], &y = b.shape[i];
    if (x.is_static() && y.is_static() && x.value() != y.value()) return true;
  }
  return false;
}

class Differentiator {
 public:
  Differentiator(Graph& graph, const OpRegistry& ops) : graph_(graph), builder_(graph, ops) {}

  Status seed(const GradientSeed& seed);
  void mark(std::span<Value* const> wanted);
  Status walk();
  /// Null when nothing has reached the value.
  Value* total(Value* value);
  Builder& builder() { return builder_; }

 private:
  Status differentiate(Node& node);
  /// Input i is on a path from what is wanted, and more than its shape is read.
  bool needs(const Node& node, size_t i) const {
    return node.input(i) && needed_.count(node.input(i)) && node.op().traits.shape_only_input != static_cast<int>(i);
  }

  Graph& graph_;
  Builder builder_;
  std::unordered_set<const Value*> needed_;  // on a path from what is wanted
  std::unordered_map<const Value*, std::vector<Value*>> parts_;
};

Status Differentiator::seed(const GradientSeed& seed) {
  if (!is_real(seed.value))
    return error("'{}' is {}: only floating-point values have a gradient", seed.value->name(), to_string(seed.value->type));
  Value* gradient = seed.gradient;
  if (!gradient) {
    const Shape& shape = seed.value->type.shape;
    if (!shape.is_static() || element_count(*shape.concrete()) != 1)
      return error("'{}' is {}: without a gradient of its own a value to differentiate must have one element", seed.value->name(),
                   to_string(seed.value->type));
    builder_.set_node_name(gradient_name(seed.value->name()));
    gradient = filled_like(builder_, seed.value, 1);
  } else if (contradicts(gradient->type, seed.value->type)) {
    return error("the gradient '{}' is {}, '{}' is {}", gradient->name(), to_string(gradient->type), seed.value->name(),
                 to_string(seed.value->type));
  }
  parts_[seed.value].push_back(gradient);
  return builder_.status();
}

void Differentiator::mark(std::span<Value* const> wanted) {
  needed_.insert(wanted.begin(), wanted.end());
  for (const auto& node : graph_.nodes()) {
    bool needed = false;
    for (size_t i = 0; i < node->inputs().size(); ++i) needed |= needs(*node, i);
    if (!needed) continue;
    for (const Value* out : node->outputs())
      if (is_real(out)) needed_.insert(out);
  }
}

Value* Differentiator::total(Value* value) {
  const auto found = parts_.find(value);
  if (found == parts_.end()) return nullptr;
  std::vector<Value*>& parts = found->second;
  Value* sum = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) sum = builder_.add("Add", {sum, parts[i]}, {}, gradient_name(value->name()));
  parts.assign(1, sum);
  return sum;
}

Status Differentiator::differentiate(Node& node) {
  std::vector<bool> wanted;
  for (size_t i = 0; i < node.inputs().size(); ++i) wanted.push_back(needs(node, i) && is_real(node.input(i)));
  const bool reached =
      std::any_of(node.outputs().begin(), node.outputs().end(), [&](const Value* v) { return parts_.count(v) > 0; });
  if (!reached || std::none_of(wanted.begin(), wanted.end(), [](bool w) { return w; })) return {};
  if (const int only = node.op().traits.linear_input; only >= 0)
    for (size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i] && static_cast<int>(i) != only)
        return unimplemented("operator {} has a gradient with respect to input {} alone, and one is needed with respect to input {}", node.op().name,
                             only, i);
  if (!node.op().gradient) return unimplemented("operator {} has no gradient, and one is needed through this node", node.op().name);
  std::vector<Value*> gradients;
  for (Value* v : node.outputs()) gradients.push_back(total(v));
  builder_.set_node_name(gradient_name(node.name()));
  GradientContext context(node, builder_, std::move(gradients), std::move(wanted));
  SV_TRY(node.op().gradient(context));
  SV_TRY(builder_.status());
  for (size_t i = 0; i < context.results().size(); ++i) {
    Value *input = node.input(i), *part = context.results()[i];
    if (!part || !context.wants(i)) continue;
    if (contradicts(part->type, input->type))
      return error("the gradient of input {} came out as {}, the input is {}", i, to_string(part->type), to_string(input->type));
    parts_[input].push_back(part);
  }
  return {};
}

Status Differentiator::walk() {
  std::vector<Node*> nodes = graph_.snapshot();
  std::reverse(nodes.begin(), nodes.end());
  for (Node* node : nodes)
    if (Status status = differentiate(*node); !status.ok()) return std::move(status).error().in("gradient of " + describe(*node));
  return {};
}

/// What is differentiated may be the result of a composite node, whose place another value takes when the node is expanded. Outputs of the
/// graph follow to it; all are outputs for so long.
struct Expanded {
  Expanded(Graph& in, std::span<const GradientSeed> of, std::span<Value* const> to)
      : seeds(of.begin(), of.end()), wanted(to.begin(), to.end()), graph(in) {}

  Status expand(const OpRegistry& ops) {
    const size_t outputs = graph.outputs().size();
    size_t at = outputs;
    each([&](Value*& v) { graph.add_output(v); });
    SV_TRY(expand_composites_now(graph, PassContext{.ops = ops}));
    each([&](Value*& v) { v = graph.outputs()[at++]; });
    graph.resize_outputs(outputs);
    return {};
  }

  std::vector<GradientSeed> seeds;
  std::vector<Value*> wanted;

 private:
  void each(const std::function<void(Value*&)>& visit) {
    for (GradientSeed& seed : seeds) {
      visit(seed.value);
      if (seed.gradient) visit(seed.gradient);
    }
    for (Value*& v : wanted) visit(v);
  }

  Graph& graph;
};

}  // namespace

Result<std::vector<Value*>> add_gradients(Graph& graph, const OpRegistry& ops, std::span<const GradientSeed> seeds,
                                          std::span<Value* const> wanted, Unreached unreached, Node* before) {
  for (const Value* v : wanted)
    if (!is_real(v)) return error("'{}' is {}: only floating-point values have a gradient", v->name(), to_string(v->type));
  Expanded values(graph, seeds, wanted);
  SV_TRY(values.expand(ops));
  Differentiator d(graph, ops);
  d.builder().set_position(before);
  d.mark(values.wanted);
  // Nodes that make the seeds' own gradients must not be walked; they cannot be: nothing in them is needed.
  for (const GradientSeed& seed : values.seeds) SV_TRY(d.seed(seed));
  SV_TRY(d.walk());
  std::vector<Value*> out;
  for (Value* v : values.wanted) {
    Value* gradient = d.total(v);
    if (!gradient && unreached == Unreached::zeros) {
      d.builder().set_node_name(gradient_name(v->name()));
      gradient = filled_like(d.builder(), v, 0);
    }
    out.push_back(gradient);
  }
  SV_TRY(d.builder().status());
  return out;
}

Result<std::vector<Tensor>> constants_to_inputs(Graph& graph, std::span<const std::string> names) {
  std::unordered_map<std::string_view, Value*> constants;
  graph.for_each_value([&](Value& v) {
    if (v.is_constant()) constants[v.name()] = &v;
  });
  std::vector<Value*> values;
  for (const std::string& name : names) {
    const auto found = constants.find(name);
    if (found == constants.end()) return error("the graph has no constant '{}'", name);
    if (!is_real(found->second))
      return error("constant '{}' is {}: only floating point can be trained", name, to_string(found->second->type));
    if (std::find(values.begin(), values.end(), found->second) != values.end())
      return error("constant '{}' is named twice", name);
    values.push_back(found->second);
  }
  std::vector<Tensor> tensors;
  for (Value* v : values) tensors.push_back(graph.make_input(v));
  return tensors;
}

std::vector<Value*> trainable_constants(const Graph& graph) {
  std::vector<Value*> out;
  std::unordered_set<const Value*> seen;
  for (const auto& node : graph.nodes()) {
    const std::optional<RunningStatistics>& running = node->op().traits.running_statistics;
    for (size_t i = 0; i < node->inputs().size(); ++i) {
      Value* v = node->input(i);
      if (!v || !v->is_constant() || !is_real(v) || v->type.shape.rank() < 1 || (running && (i == running->mean || i == running->variance)))
        continue;
      if (seen.insert(v).second) out.push_back(v);
    }
  }
  return out;
}

}  // namespace svengine
