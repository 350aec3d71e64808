#include "importers/onnx/node_importer.h"

#include <algorithm>

#include "engine/ops/canonical.h"
#include "engine/ops/control/body_types_common.h"
#include "engine/ops/vector_inputs.h"
#include "importers/io/names.h"
#include "importers/onnx/order.h"
#include "importers/onnx/read_attributes.h"
#include "importers/onnx/support_check.h"
#include "importers/onnx/value_type.h"

namespace svengine::onnx {
namespace {

constexpr size_t kMostProblem = 2000;  // bytes of what an operator says of a node

using onnx_proto::AttributeProto;
using onnx_proto::GraphProto;
using onnx_proto::NodeProto;

/// Trailing absent inputs and outputs say nothing.
int count_present(const google::protobuf::RepeatedPtrField<std::string>& names) {
  int count = names.size();
  while (count > 0 && names.Get(count - 1).empty()) --count;
  return count;
}

/// Attributes of the node that are bodies.
std::vector<std::pair<std::string, const GraphProto*>> bodies_of(const NodeProto& proto, const Call* call) {
  std::vector<std::pair<std::string, const GraphProto*>> out;
  for (const AttributeProto& a : proto.attribute())
    if (const AttributeProto* given = resolved(a, call); given && given->has_g()) out.emplace_back(a.name(), &given->g());
  return out;
}

Status refuse_internal(const OpDef& op, const Attributes& attributes) {
  for (const AttributeDef& a : op.attributes)
    if (a.internal && attributes.has(a.name)) return unimplemented("attribute '{}' is not one of this operator's", a.name);
  return {};
}

/// How a body's own input begins: what the operator gives, or where that is not known, what is declared.
Result<Type> own_input_type(const onnx_proto::ValueInfoProto& info, const Type& given) {
  Result<Type> declared = declared_type(info);
  if (!declared.ok()) return std::move(declared).error().in(fmt::format("input '{}'", printable(info.name())));
  Type out = given;
  if (out.dtype == DType::undefined) return *declared;
  // A number of a trip is a scalar, or [1], as the body declares; other declared shapes need not hold for every trip.
  if (out.shape.rank() == 0 && out.shape.has_rank() && declared->shape.rank() == 1) out.shape = declared->shape;
  if (!out.element) out.element = declared->element;
  return out;
}

/// Stands where a node was refused: its outputs have no types.
const OpDef kRefused{.name = "Refused", .domain = kInternalDomain, .inputs = {0, 0}, .outputs = {0, kVariadic}};

/// A value of which nothing is known.
Value* add_unknown(Scope& scope, const std::string& name) {
  return scope.graph.add_node(kRefused, {}, {}, 1, {}, nullptr, {scope.prefix + name})->output();
}

bool has_unknown_outputs(const Graph& body) {
  return std::any_of(body.outputs().begin(), body.outputs().end(), [](const Value* v) { return v->type.dtype == DType::undefined; });
}

bool has_unknown_bodies(const Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [](const Attributes::Entry& a) {
    const Subgraph* body = std::get_if<Subgraph>(&a.second);
    return body && has_unknown_outputs(**body);
  });
}

bool reads_unknown(const Node& node) {
  return std::any_of(node.inputs().begin(), node.inputs().end(), [](const Value* v) { return v && v->type.dtype == DType::undefined; });
}

}  // namespace

Value* Scope::capture(Value* outer_value) {
  const auto known = std::find(captured.begin(), captured.end(), outer_value);
  if (known != captured.end()) return graph.inputs()[graph.inputs().size() - static_cast<size_t>(captured.end() - known)];
  captured.push_back(outer_value);
  return graph.add_input(outer_value->name(), outer_value->type);
}

bool Scope::find(const std::string& name, Value*& value) {
  if (const auto known = values.find(name); known != values.end()) {
    value = known->second;
    return true;
  }
  Value* around = nullptr;
  if (!outer || !outer->find(name, around)) return false;
  if (around && around->is_constant()) value = graph.add_constant(around->name(), around->constant());
  else value = around ? capture(around) : nullptr;
  values[name] = value;
  return true;
}

int NodeImporter::opset_of(const Scope& scope, std::string_view domain) const {
  return taken_opset(model_, scope.call ? &scope.call->function : nullptr, domain, ops_);
}

Result<std::vector<int>> NodeImporter::order(const NodeProtos& nodes, const std::vector<std::string>& given,
                                             const std::function<bool(const std::string&)>& is_around) {
  SV_ASSIGN(NodeOrder order, order_of(nodes, given, is_around));
  if (strict_ && !order.out_of_order.empty()) return error("{}; ONNX wants nodes in the order of computation", order.out_of_order);
  if (out_of_order_.empty()) out_of_order_ = std::move(order.out_of_order);
  return std::move(order.nodes);
}

std::vector<std::string> NodeImporter::warnings() const {
  std::vector<std::string> out;
  if (!out_of_order_.empty()) out.push_back(out_of_order_ + "; nodes are sorted into the order of computation, in which ONNX wants them");
  if (!flattened_.empty()) out.push_back(flattened_);
  return out;
}

Result<std::vector<Value*>> NodeImporter::inputs_of(Scope& scope, const NodeProto& proto) const {
  std::vector<Value*> inputs;
  for (int i = 0; i < count_present(proto.input()); ++i) {
    inputs.push_back(nullptr);
    if (proto.input(i).empty()) continue;
    if (!scope.find(proto.input(i), inputs.back())) return error("uses '{}', which nothing before it computes", printable(proto.input(i)));
  }
  return inputs;
}

Status NodeImporter::add(Scope& scope, const NodeProto& proto, int index) {
  if (scope.depth > 0 && ++nested_ > kMostNestedNodes) return unimplemented("bodies and functions have more than {} nodes", kMostNestedNodes);
  return watcher_ ? add_watched(scope, proto, index) : add_named(scope, proto, index);
}

Status NodeImporter::add_all(Scope& scope, const NodeProtos& nodes, const std::vector<std::string>& given,
                             const std::function<bool(const std::string&)>& is_around) {
  if (watcher_) {
    for (int i = 0; i < nodes.size(); ++i) SV_TRY(add(scope, nodes.Get(i), i));
    return {};
  }
  SV_ASSIGN(const std::vector<int> sorted, order(nodes, given, is_around));
  for (const int i : sorted) SV_TRY(add(scope, nodes.Get(i), i));
  return {};
}

Status NodeImporter::add_watched(Scope& scope, const NodeProto& proto, int index) {
  const Status status = watcher_->leaves_out(scope, proto) ? Status() : add_named(scope, proto, index);
  if (!status.ok()) watcher_->refused(scope, proto, status.error());
  for (const std::string& name : proto.output()) {
    if (name.empty()) continue;
    Value*& value = scope.values[name];
    if (!value) value = add_unknown(scope, name);
  }
  watcher_->added(scope, proto);
  return {};
}

Status NodeImporter::add_named(Scope& scope, const NodeProto& proto, int index) {
  const onnx_proto::FunctionProto* function = functions_.find(proto);
  Status status = function ? add_call(scope, proto, index, *function) : add_node(scope, proto, index);
  if (status.ok()) return {};
  Error problem(printable(status.error().message(), kMostProblem), status.error().code());  // it may quote attributes
  // infer_types() names the node itself (its operator may be another one by then: Scatter becomes ScatterElements).
  const std::string who = fmt::format("node '{}{}' (", scope.prefix, node_name(proto, index));
  if (problem.message().starts_with(who)) return problem;
  return std::move(problem).in(fmt::format("{}{})", who, printable(proto.op_type())));
}

Status NodeImporter::add_node(Scope& scope, const NodeProto& proto, int index) {
  const OpDef* op = ops_.find(proto.domain(), proto.op_type());
  const int output_count = count_present(proto.output());
  SV_ASSIGN(std::vector<Value*> inputs, inputs_of(scope, proto));
  if (output_count == 0) return error("has no outputs");
  // What any form of an operator needs; the canonical form's arity is checked later.
  if (op->inputs.is_required(0) && (inputs.empty() || !inputs[0])) return error("has no first input");
  SV_ASSIGN(Attributes attributes, read_attributes(proto, tensors_, scope.call));
  SV_TRY(refuse_internal(*op, attributes));
  SV_TRY(add_bodies(scope, proto, *op, attributes, inputs));
  std::vector<std::string> names(proto.output().begin(), proto.output().begin() + output_count), shown;
  for (const std::string& name : names) shown.push_back(name.empty() ? std::string() : scope.prefix + name);
  Node* node = scope.graph.add_node(*op, scope.prefix + node_name(proto, index), inputs, static_cast<size_t>(output_count),
                                    std::move(attributes), nullptr, shown);
  // Canonicalisation may turn outputs into constants, which the node then forgets.
  const std::vector<Value*> outputs = node->outputs();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!names[i].empty()) scope.values[names[i]] = outputs[i];
  return settle(scope, printable(proto.op_type(), kMaxName), node, outputs);
}

Status NodeImporter::settle(Scope& scope, const std::string& op, Node* node, const std::vector<Value*>& outputs) {
  if (watcher_) {
    if (reads_unknown(*node) || has_unknown_bodies(*node)) return {};
    Status status = settle_now(scope, node, outputs);
    if (!status.ok())
      for (Value* v : node->outputs()) v->type = {};
    return status;
  }
  if (scope.deferred) return settle_deferred(scope, node, outputs);
  if (!refused_types_.empty() && reads_unknown(*node)) return {};
  Status status = settle_now(scope, node, outputs);
  if (status.ok() || !refused_types_.add(*node, op, status.error())) return status;
  for (Value* v : node->outputs()) v->type = {};
  return {};
}

Status NodeImporter::settle_deferred(Scope& scope, Node* node, const std::vector<Value*>& outputs) {
  if (!scope.deferred->ok() && reads_unknown(*node)) return {};
  Status status = settle_now(scope, node, outputs);
  if (status.ok()) return {};
  if (scope.deferred->ok()) *scope.deferred = std::move(status);
  for (Value* v : node->outputs()) v->type = {};
  return {};
}

Status NodeImporter::settle_now(Scope& scope, Node* node, const std::vector<Value*>& outputs) {
  CanonicalizeContext context(scope.graph, *node, ops_, opset_of(scope, canonical_domain(node->op().domain)));
  SV_TRY(ops::to_canonical_form(context));
  if (std::all_of(outputs.begin(), outputs.end(), [](const Value* v) { return v->is_constant(); })) {
    scope.graph.erase(node);
    return {};
  }
  SV_ASSIGN(const std::string flattened, ops::flatten_vector_inputs(context));
  if (!flattened.empty() && flattened_.empty()) flattened_ = fmt::format("node '{}' ({}): {}", node->name(), node->op().name, flattened);
  if (!flattened.empty() && strict_) return error("{}; ONNX wants a vector or one number", flattened);
  return infer_types(*node);
}

Status NodeImporter::add_call(Scope& scope, const NodeProto& proto, int index, const onnx_proto::FunctionProto& function) {
  if (scope.depth >= kMostNested) return unimplemented("bodies and functions are nested more than {} deep", kMostNested);
  if (proto.input_size() > function.input_size() || proto.output_size() > function.output_size())
    return error("has {} inputs and {} outputs; the function has {} and {}", proto.input_size(), proto.output_size(), function.input_size(),
                 function.output_size());
  if (!scope.call && nested_ + functions_.expanded_nodes(function, kMostNestedNodes + 1) > kMostNestedNodes)  // known before they are made
    return unimplemented("bodies and functions have more than {} nodes", kMostNestedNodes);
  SV_ASSIGN(const std::vector<Value*> inputs, inputs_of(scope, proto));
  const Call call = make_call(function, proto, scope.call);
  Scope inner{scope.graph};
  inner.call = &call;
  inner.depth = scope.depth + 1;
  inner.deferred = scope.deferred;
  inner.in_branch = scope.in_branch;
  inner.prefix = scope.prefix + node_name(proto, index) + "/";
  for (int i = 0; i < function.input_size(); ++i)
    inner.values[function.input(i)] = static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : nullptr;
  SV_TRY(add_all(inner, function.node(), {function.input().begin(), function.input().end()}));
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    const auto found = inner.values.find(function.output(i));
    if (found == inner.values.end() || !found->second) return error("the function never computes its output '{}'", printable(function.output(i)));
    scope.values[proto.output(i)] = found->second;
  }
  return {};
}

Status NodeImporter::add_bodies(Scope& scope, const NodeProto& proto, const OpDef& op, Attributes& attributes, std::vector<Value*>& inputs) {
  const auto bodies = bodies_of(proto, scope.call);
  if (bodies.empty()) return {};
  std::vector<Type> types;
  for (const Value* v : inputs) types.push_back(v ? v->type : Type{});
  std::vector<Value*> captured;
  std::vector<std::pair<std::string, std::shared_ptr<Graph>>> made;
  const bool is_if = op.name == std::string_view("If");
  Status first_deferred;
  for (const auto& [name, body] : bodies) {
    const auto count = static_cast<size_t>(body->input_size());
    const std::vector<Type> given = ops::body_input_types(op, types, attributes, count, opset_of(scope, canonical_domain(proto.domain())));
    Status deferred;
    Result<Graph> graph = make_body(scope, *body, given, captured, is_if ? &deferred : scope.deferred);
    if (!graph.ok()) return std::move(graph).error().in(printable(name));
    if (!deferred.ok() && !first_deferred.ok()) return first_deferred;  // neither branch can be taken
    if (!deferred.ok()) first_deferred = std::move(deferred).error().in(printable(name));
    made.emplace_back(name, std::make_shared<Graph>(std::move(graph).value()));
  }
  for (size_t i = 0; i < made.size(); ++i) {  // what later bodies capture besides
    Graph& graph = *made[i].second;
    const size_t has = graph.inputs().size() - static_cast<size_t>(bodies[i].second->input_size());
    for (size_t j = has; j < captured.size(); ++j) graph.add_input(captured[j]->name(), captured[j]->type);
    attributes.set(made[i].first, Subgraph(made[i].second));
  }
  if (captured.empty()) return {};
  // Behind all inputs that have names of their own, present or not (a Loop's trip count and condition).
  inputs.resize(std::max(inputs.size(), static_cast<size_t>(op.inputs.last())), nullptr);
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  attributes.set("captured", static_cast<int64_t>(captured.size()));
  return {};
}

Result<Graph> NodeImporter::make_body(Scope& scope, const GraphProto& proto, const std::vector<Type>& own, std::vector<Value*>& captured,
                                     Status* deferred) {
  if (scope.depth >= kMostNested) return unimplemented("bodies and functions are nested more than {} deep", kMostNested);
  Graph graph;
  graph.name = printable(proto.name(), kMaxName);
  Scope body{graph};
  body.outer = &scope;
  body.call = scope.call;
  body.depth = scope.depth + 1;
  body.deferred = deferred;
  body.in_branch = scope.in_branch || deferred != nullptr;
  for (int i = 0; i < proto.input_size(); ++i) {
    const auto& info = proto.input(i);
    SV_TRY(check_name("input", info.name()));
    SV_ASSIGN(Type type, own_input_type(info, static_cast<size_t>(i) < own.size() ? own[static_cast<size_t>(i)] : Type{}));
    if (!body.values.emplace(info.name(), graph.add_input(info.name(), std::move(type))).second)
      return error("input '{}' is declared twice", printable(info.name()));
  }
  for (Value* v : captured) body.capture(v);
  SV_TRY(fill_body(body, proto));
  captured = body.captured;
  return graph;
}

Status NodeImporter::fill_body(Scope& body, const GraphProto& proto) {
  std::vector<std::string> given;
  for (const auto& info : proto.input()) given.push_back(info.name());
  const auto add_initializer = [&](const std::string& name, Result<Tensor> value) -> Status {
    SV_TRY(check_name("initializer", name));
    if (!value.ok() && watcher_) {
      body.values.emplace(name, add_unknown(body, name));
      return {};
    }
    if (!value.ok()) return std::move(value).error().in("initializer");
    if (!body.values.emplace(name, body.graph.add_constant(name, std::move(value).value())).second)
      return error("'{}' is an input or initializer already", printable(name));
    given.push_back(name);
    return {};
  };
  for (const auto& tensor : proto.initializer()) SV_TRY(add_initializer(tensor.name(), tensors_.read(tensor)));
  for (const auto& tensor : proto.sparse_initializer()) SV_TRY(add_initializer(tensor.values().name(), tensors_.read(tensor)));
  const auto is_around = [&](const std::string& name) {
    for (const Scope* s = body.outer; s; s = s->outer)
      if (s->values.count(name)) return true;
    return false;
  };
  SV_TRY(add_all(body, proto.node(), given, is_around));
  for (const auto& info : proto.output()) {
    Value* value = nullptr;
    if (!body.find(info.name(), value) || !value) return error("nothing computes output '{}'", printable(info.name()));
    body.graph.add_output(value);
  }
  return {};
}

}  // namespace svengine::onnx
