#include "engine/ops/control/body_gradient_common.h"

#include <algorithm>

#include "engine/graph/autodiff.h"
#include "engine/graph/copy_body.h"
#include "engine/graph/expand.h"
#include "engine/graph/passes/pass.h"
#include "engine/ops/control/control_common.h"
#include "engine/ops/registry.h"

namespace svengine::ops {
namespace {

bool has_real_type(const Value* v) { return kRealTypes.has(v->type.dtype); }

/// Adds the nodes of `body` to `graph` and, where `gradients` has those of its outputs (null: none), the gradients of values of `graph`.
Result<std::vector<Value*>> differentiate_body(const Graph& body, const std::vector<Value*>& inputs, const std::vector<Value*>& gradients,
                                               const std::vector<Value*>& wanted, Graph& graph) {
  Graph expanded = body.clone();  // composite nodes go when they are differentiated, and their values with them
  SV_TRY(expand_composites_now(expanded, PassContext{.ops = all_ops()}));
  std::vector<Node*> copies;
  const std::vector<Value*> outputs = copy_body(expanded, inputs, graph, nullptr, &copies);
  for (Node* copy : copies) SV_TRY(infer_types(*copy));
  std::vector<GradientSeed> seeds;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (gradients[i]) seeds.push_back({outputs[i], gradients[i]});
  return add_gradients(graph, all_ops(), seeds, wanted, Unreached::zeros);
}

/// What is known of a body's input, and of what it is given: a carried value whose trips are kept has the shape of the first.
Type given_type(const Value* inner, const Value* given) {
  Type type = inner->type;
  if (given && given->type.shape.has_rank()) type.shape = given->type.shape;
  return type;
}

/// As an output of a body of its own: several may be one value, or an input.
void add_body_output(Graph& graph, Value* v) { Builder(graph, all_ops()).output(Builder(graph, all_ops()).add("Identity", {v})); }

Result<Graph> backward_branch(const Graph& branch, const std::vector<Value*>& captured, const std::vector<size_t>& wanted,
                              const std::vector<Value*>& output_gradients) {
  Graph graph;
  graph.name = branch.name + ".gradient";
  std::vector<Value*> inputs, gradients, targets;
  for (size_t i = 0; i < branch.inputs().size(); ++i)
    inputs.push_back(graph.add_input(branch.inputs()[i]->name(), given_type(branch.inputs()[i], captured[i])));
  for (size_t i = 0; i < branch.outputs().size(); ++i) {
    const Value* given = i < output_gradients.size() ? output_gradients[i] : nullptr;
    gradients.push_back(given ? graph.add_input(given->name(), {given->type.dtype, branch.outputs()[i]->type.shape}) : nullptr);
  }
  for (const size_t i : wanted) targets.push_back(inputs[i]);
  SV_ASSIGN(const std::vector<Value*> results, differentiate_body(branch, inputs, gradients, targets, graph));
  for (Value* v : results) add_body_output(graph, v);
  return graph;
}

}  // namespace

Status if_gradient(GradientContext& c) {
  const Node& node = c.node();
  const size_t captured = captured_count(node.attributes), own = node.inputs().size() - captured;
  std::vector<size_t> wanted;
  for (size_t i = 0; i < captured; ++i)
    if (c.wants(own + i)) wanted.push_back(i);
  std::vector<Value*> inputs = node.inputs(), output_gradients;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    output_gradients.push_back(c.output_gradient(i));
    if (output_gradients.back()) inputs.push_back(output_gradients.back());
  }
  const std::vector<Value*> given(node.inputs().begin() + static_cast<std::ptrdiff_t>(own), node.inputs().end());
  Attributes attributes;
  attributes.set(kCaptured, static_cast<int64_t>(inputs.size() - own));
  for (const char* name : {"then_branch", "else_branch"}) {
    Result<Graph> branch = backward_branch(**node.attributes.get<Subgraph>(name), given, wanted, output_gradients);
    if (!branch.ok()) return std::move(branch).error().in(name);
    attributes.set(name, Subgraph(std::make_shared<const Graph>(std::move(branch).value())));
  }
  const Node* grad = c.builder().node("", "If", std::move(inputs), wanted.size(), std::move(attributes));
  for (size_t i = 0; grad && i < wanted.size(); ++i) c.set(own + wanted[i], grad->output(i));
  return {};
}

Result<std::vector<Value*>> keep_body_inputs(GradientContext& c, const std::vector<size_t>& kept) {
  Node* node = c.output(0)->producer();
  Graph body = (*node->attributes.get<Subgraph>("body"))->clone();
  const bool has_condition = node->op().name == std::string_view("Loop");  // which is none of the node's outputs
  const size_t first = body.outputs().size() - (has_condition ? 1 : 0);
  for (const size_t i : kept) {
    if (is_handle(body.inputs()[i]->type.dtype))
      return error("carries '{}', which is a {}; only tensors are kept for a gradient", body.inputs()[i]->name(),
                   name_of(body.inputs()[i]->type.dtype));
    body.add_output(body.inputs()[i]);
  }
  for (const char* list : {"scan_output_axes", "scan_output_directions"}) {
    std::vector<int64_t> values = node->attributes.get_ints(list);
    if (values.empty()) continue;
    values.resize(values.size() + kept.size(), 0);
    node->attributes.set(list, std::move(values));
  }
  node->attributes.set("body", Subgraph(std::make_shared<const Graph>(std::move(body))));
  std::vector<Value*> out;
  for (size_t i = 0; i < kept.size(); ++i) out.push_back(c.output(first + i));
  SV_TRY(Status(c.builder().status()));
  return out;
}

namespace {

/// The backward Scan while it is put together.
class BackwardScan {
 public:
  BackwardScan(GradientContext& c, const RepeatedBody& loop) : c_(c), loop_(loop), own_(c.node().inputs().size() - loop.captured) {}

  Status run() {
    const Graph& body = *loop_.body;
    add_states();
    add_slices();
    for (size_t i = 0; i < loop_.captured; ++i) {
      const Value* inner = body.inputs()[loop_.inputs.size() + i];
      inputs_.push_back(graph_.add_input(inner->name(), given_type(inner, c_.input(own_ + i))));
    }
    std::vector<Value*> wanted;
    for (const size_t i : states_) wanted.push_back(inputs_[i]);
    for (const size_t i : captured_) wanted.push_back(inputs_[loop_.inputs.size() + i]);
    for (const size_t i : scanned_) wanted.push_back(inputs_[i]);
    SV_ASSIGN(const std::vector<Value*> gradients, differentiate_body(body, inputs_, output_gradients(), wanted, graph_));
    Builder builder(graph_, all_ops());
    for (size_t i = 0; i < wanted.size(); ++i) {
      Value* v = gradients[i];
      if (i >= states_.size() && i < states_.size() + captured_.size()) v = builder.add("Add", {sums_[i - states_.size()], v});
      add_body_output(graph_, v);
    }
    SV_TRY(Status(builder.status()));
    set_results();
    return {};
  }

 private:
  /// Gradients of the states, and sums of those of captured values.
  void add_states() {
    state_gradients_.resize(loop_.node_outputs.size());
    for (size_t i = 0; i < loop_.inputs.size(); ++i) {
      const RepeatedBody::Input& in = loop_.inputs[i];
      const Value* inner = loop_.body->inputs()[i];
      if (in.state < 0 || !has_real_type(inner)) continue;
      states_.push_back(i);
      state_gradients_[static_cast<size_t>(in.state)] = graph_.add_input(inner->name() + ".gradient", type_of(i));
      const auto output = static_cast<size_t>(loop_.node_outputs[static_cast<size_t>(in.state)]);
      Value* given = c_.output_gradient(output);
      node_inputs_.push_back(given ? given : c_.zeros_like(c_.output(output)));
    }
    for (size_t i = 0; i < loop_.captured; ++i) {
      if (!c_.wants(own_ + i)) continue;
      const Value* inner = loop_.body->inputs()[loop_.inputs.size() + i];
      captured_.push_back(i);
      sums_.push_back(graph_.add_input(inner->name() + ".sum", given_type(inner, c_.input(own_ + i))));
      node_inputs_.push_back(c_.zeros_like(c_.input(own_ + i)));
    }
  }

  Type type_of(size_t input) const {
    const RepeatedBody::Input& in = loop_.inputs[input];
    const bool carried = in.state >= 0 && in.node_input >= 0;
    return given_type(loop_.body->inputs()[input], carried ? c_.input(static_cast<size_t>(in.node_input)) : nullptr);
  }

  void add_slices() {
    for (size_t i = 0; i < loop_.inputs.size(); ++i) {
      const RepeatedBody::Input& in = loop_.inputs[i];
      const Value* inner = loop_.body->inputs()[i];
      if (!in.slices.stacked) {
        inputs_.push_back(graph_.add_constant(inner->name(), in.value));
        continue;
      }
      inputs_.push_back(graph_.add_input(inner->name(), type_of(i)));
      add_slice(in.slices);
      if (in.state < 0 && in.node_input >= 0 && c_.wants(static_cast<size_t>(in.node_input))) scanned_.push_back(i);
    }
    for (size_t i = 0; i < loop_.outputs.size(); ++i) {
      const Slices& given = loop_.outputs[i].gradient;
      output_slices_.push_back(nullptr);
      if (!given.stacked) continue;
      const Value* inner = loop_.body->outputs()[i];
      output_slices_.back() = graph_.add_input(inner->name() + ".gradient", {given.stacked->type.dtype, inner->type.shape});
      add_slice(given);
    }
  }

  void add_slice(const Slices& slices) {
    slice_inputs_.push_back(slices.stacked);
    axes_.push_back(slices.axis);
    directions_.push_back(!slices.reversed);
  }

  std::vector<Value*> output_gradients() const {
    std::vector<Value*> out(loop_.body->outputs().size());
    for (size_t i = 0; i < loop_.outputs.size(); ++i)
      out[i] = loop_.outputs[i].state >= 0 ? state_gradients_[static_cast<size_t>(loop_.outputs[i].state)] : output_slices_[i];
    return out;
  }

  void set_results() {
    Attributes attributes;
    attributes.set("body", Subgraph(std::make_shared<const Graph>(std::move(graph_))));
    attributes.set("num_scan_inputs", static_cast<int64_t>(slice_inputs_.size()));
    attributes.set("scan_input_axes", axes_);
    attributes.set("scan_input_directions", directions_);
    std::vector<int64_t> axes, directions;
    for (const size_t i : scanned_) axes.push_back(loop_.inputs[i].slices.axis), directions.push_back(!loop_.inputs[i].slices.reversed);
    if (!axes.empty()) attributes.set("scan_output_axes", axes), attributes.set("scan_output_directions", directions);
    if (loop_.captured > 0) attributes.set(kCaptured, static_cast<int64_t>(loop_.captured));
    std::vector<Value*> inputs = node_inputs_;
    inputs.insert(inputs.end(), slice_inputs_.begin(), slice_inputs_.end());
    inputs.insert(inputs.end(), c_.node().inputs().begin() + static_cast<std::ptrdiff_t>(own_), c_.node().inputs().end());
    const size_t outputs = states_.size() + captured_.size() + scanned_.size();
    const Node* grad = c_.builder().node("", "Scan", std::move(inputs), outputs, std::move(attributes));
    if (!grad) return;
    size_t at = 0;
    for (const size_t i : states_) set_result(loop_.inputs[i].node_input, grad->output(at++));
    for (const size_t i : captured_) set_result(static_cast<int>(own_ + i), grad->output(at++));
    for (const size_t i : scanned_) set_result(loop_.inputs[i].node_input, grad->output(at++));
  }

  void set_result(int input, Value* gradient) {
    if (input >= 0 && c_.wants(static_cast<size_t>(input))) c_.set(static_cast<size_t>(input), gradient);
  }

  GradientContext& c_;
  const RepeatedBody& loop_;
  size_t own_;
  Graph graph_;                                       // the backward body
  std::vector<Value*> inputs_;                        // the forward body's, in graph_
  std::vector<Value*> state_gradients_, sums_, output_slices_;
  std::vector<size_t> states_, captured_, scanned_;   // with gradients: body inputs, captured values, body inputs
  std::vector<Value*> node_inputs_, slice_inputs_;    // the Scan's states and scanned inputs
  std::vector<int64_t> axes_, directions_;
};

}  // namespace

Status differentiate_repeated(GradientContext& c, const RepeatedBody& loop) { return BackwardScan(c, loop).run(); }

}  // namespace svengine::ops
