#include "tests/gradients/double_forward.h"

#include <stdexcept>

#include "engine/graph/expand.h"
#include "engine/graph/passes/pass.h"
#include "engine/ops/registry.h"
#include "tests/support/compare.h"

namespace svengine::tests {
namespace {

bool is_single(const Tensor& t) { return t.type() == DType::f32; }

Tensor widened(const Tensor& t) {
  if (!is_single(t)) return t;
  MutableTensor wide = Tensor::allocate(DType::f64, t.dims()).value();
  const std::vector<double> values = to_doubles(t);
  std::copy(values.begin(), values.end(), wide.data<double>().begin());
  return wide;
}

void require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error().message());
}

Attributes with_widened_bodies(const Attributes& attributes);

/// Nodes compute in double what they would in single: constants, inputs and Casts are widened, in bodies too.
void widen(Graph& graph) {
  graph.for_each_value([](Value& v) {
    if (v.type.dtype == DType::f32 && !v.is_constant()) v.type.dtype = DType::f64;
  });
  for (Node* node : graph.snapshot()) {
    for (size_t i = 0; i < node->inputs().size(); ++i)
      if (Value* v = node->input(i); v && v->is_constant() && is_single(v->constant()))
        graph.set_input(node, i, graph.add_constant("wide", widened(v->constant())));
    for (const char* name : {"to", "dtype"})
      if (node->attributes.get_int(name) == static_cast<int64_t>(DType::f32)) node->attributes.set(name, static_cast<int64_t>(DType::f64));
    node->attributes = with_widened_bodies(node->attributes);
    require(infer_types(*node));
  }
}

Attributes with_widened_bodies(const Attributes& attributes) {
  Attributes out;
  for (const auto& [name, value] : attributes) {
    out.set(name, value);
    const Subgraph* body = std::get_if<Subgraph>(&value);
    if (!body) continue;
    Graph wide = (*body)->clone();
    widen(wide);
    out.set(name, Subgraph(std::make_shared<const Graph>(std::move(wide))));
  }
  return out;
}

}  // namespace

bool is_composite(const OpDef& op) { return op.expand != nullptr; }

Array to_array(const Tensor& tensor) { return {tensor.dims(), to_doubles(tensor)}; }

DoubleForward::DoubleForward(const OpDef& op, const Attributes& attributes, size_t outputs, const std::vector<Tensor>& values,
                             const std::vector<bool>& varying)
    : formula_(formula_of(op)), varying_(varying) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].defined()) {
      inputs.push_back(nullptr);
      continue;
    }
    // A formula only needs the node's attributes and types as they are.
    const Tensor t = formula_ || is_composite(op) ? values[i] : widened(values[i]);
    inputs.push_back(varying[i] ? graph_.add_input("x", {t.type(), Shape::of(t.dims()), 0}) : graph_.add_constant("x", t));
  }
  const bool as_it_is = formula_ || is_composite(op);
  node_ = graph_.add_node(op, "node", std::move(inputs), outputs, as_it_is ? attributes : with_widened_bodies(attributes));
  require(infer_types(*node_));
  if (formula_) return;
  for (Value* v : node_->outputs()) graph_.add_output(v);
  if (is_composite(op)) {
    require(expand_composites(graph_, PassContext{.ops = all_ops()}));
    widen(graph_);
  }
  SessionOptions options;
  options.topology = parse_topology("1x1").value();
  auto session = Session::create(graph_.clone(), options);
  if (!session.ok()) throw std::runtime_error(session.error().message());
  session_ = std::move(session).value();
}

std::vector<Array> DoubleForward::run(const std::vector<Array>& inputs) {
  if (formula_) return formula_(*node_, inputs);
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (varying_[i]) tensors.push_back(Tensor::of<double>(inputs[i].dims, std::span<const double>(inputs[i].v)));
  auto outputs = session_->run(tensors);
  if (!outputs.ok()) throw std::runtime_error(outputs.error().message());
  std::vector<Array> arrays;
  for (const Tensor& t : *outputs) arrays.push_back(to_array(t));
  return arrays;
}

}  // namespace svengine::tests
