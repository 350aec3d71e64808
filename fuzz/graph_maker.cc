#include "fuzz/graph_maker.h"

namespace svengine::fuzz {
namespace {

using namespace onnx_proto;

constexpr int kMostNodes = 40, kMostDepth = 4;

NodeProto* add(GraphProto& graph, const char* op, const std::vector<std::string>& inputs) {
  NodeProto* node = graph.add_node();
  node->set_op_type(op);
  for (const std::string& name : inputs) node->add_input(name);
  return node;
}

void set_integer(NodeProto* node, const char* name, int64_t value) {
  AttributeProto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(AttributeProto::INT);
  a->set_i(value);
}

}  // namespace

GraphMaker::Kind GraphMaker::kind() { return static_cast<Kind>(in_.below(4)); }

/// Of the wanted kind, most recent first; rarely any name, or one that nobody gave.
std::string GraphMaker::pick(const Scope& scope, Kind kind) {
  const auto byte = in_.take<uint8_t>();
  if (byte == 255) return "nobody";
  if (byte >= 250) return scope[byte % scope.size()].name;
  std::vector<const std::string*> fitting;
  for (auto at = scope.rbegin(); at != scope.rend(); ++at)
    if (at->kind == kind) fitting.push_back(&at->name);
  return fitting.empty() ? "" : *fitting[byte % fitting.size()];
}

std::string GraphMaker::new_name(const Scope& scope) {
  return in_.take<uint8_t>() == 255 && !scope.empty() ? scope[in_.below(scope.size())].name : fmt::format("v{}", names_++);
}

void GraphMaker::declare(ValueInfoProto* info, const std::string& name, Kind kind) {
  info->set_name(name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  constexpr TensorProto::DataType kTypes[] = {TensorProto::FLOAT, TensorProto::INT64, TensorProto::BOOL, TensorProto::INT64};
  type->set_elem_type(kTypes[static_cast<int>(kind)]);
  if (kind == Kind::truth || kind == Kind::integer) type->mutable_shape();
  if (kind == Kind::list) type->mutable_shape()->add_dim();
}

GraphProto* GraphMaker::body(NodeProto* node, const char* name) {
  AttributeProto* a = node->add_attribute();
  a->set_name(name);
  a->set_type(AttributeProto::GRAPH);
  a->mutable_g()->set_name(name);
  return a->mutable_g();
}

void GraphMaker::add_constant(GraphProto& graph, Scope& scope) {
  const Kind of = kind();
  NodeProto* node = add(graph, "Constant", {});
  AttributeProto* a = node->add_attribute();
  a->set_name("value");
  a->set_type(AttributeProto::TENSOR);
  TensorProto* t = a->mutable_t();
  const int64_t length = of == Kind::list ? static_cast<int64_t>(in_.below(4)) : 1;
  if (of == Kind::list) t->set_data_type(TensorProto::INT64), t->add_dims(length);
  for (int64_t i = 0; of == Kind::list && i < length; ++i) t->add_int64_data(in_.integer());
  const int64_t value = of == Kind::list ? 0 : in_.integer();
  if (of == Kind::real) t->set_data_type(TensorProto::FLOAT), t->add_float_data(static_cast<float>(value));
  if (of == Kind::integer) t->set_data_type(TensorProto::INT64), t->add_int64_data(value);
  if (of == Kind::truth) t->set_data_type(TensorProto::BOOL), t->add_int32_data(static_cast<int>(value & 1));
  const std::string name = new_name(scope);
  node->add_output(name);
  scope.push_back({name, of});
}

void GraphMaker::add_simple(GraphProto& graph, Scope& scope) {
  struct Simple {
    const char* op;
    std::vector<Kind> inputs;
    Kind output;
  };
  using enum Kind;
  static const Simple kSimple[] = {
      {"Add", {real, real}, real},         {"Add", {integer, integer}, integer}, {"Mul", {real, real}, real},
      {"Identity", {real}, real},          {"Identity", {truth}, truth},         {"Less", {integer, integer}, truth},
      {"Not", {truth}, truth},             {"Shape", {real}, list},             {"Size", {real}, integer},
      {"Gather", {real, integer}, real},   {"Reshape", {real, list}, real},      {"Expand", {real, list}, real},
      {"Unsqueeze", {real, list}, real},   {"Where", {truth, real, real}, real}, {"MatMul", {real, real}, real},
      {"ReduceSum", {real}, real},         {"Squeeze", {list}, integer},         {"Sub", {integer, integer}, integer},
      {"Gather", {list, integer}, integer}, {"NonZero", {real}, list},           {"Transpose", {real}, real},
      {"Concat", {list, list}, list},      {"Add", {list, integer}, list},       {"ConstantOfShape", {list}, real},
  };
  const Simple& simple = kSimple[in_.below(std::size(kSimple))];
  NodeProto* node = add(graph, simple.op, {});
  for (const Kind k : simple.inputs) node->add_input(pick(scope, k));
  if (simple.op == std::string_view("Concat")) set_integer(node, "axis", 0);
  const std::string name = new_name(scope);
  node->add_output(name);
  scope.push_back({name, simple.output});
}

void GraphMaker::add_if(GraphProto& graph, Scope& scope, int depth) {
  NodeProto* node = add(graph, "If", {pick(scope, Kind::truth)});
  std::vector<Kind> kinds(1 + in_.below(3));
  for (Kind& k : kinds) k = kind();
  fill(*body(node, "then_branch"), scope, depth + 1, kinds);
  if (in_.below(16) == 15) kinds.pop_back();
  fill(*body(node, "else_branch"), scope, depth + 1, kinds);
  for (const Kind k : kinds) {
    const std::string name = new_name(scope);
    node->add_output(name);
    scope.push_back({name, k});
  }
}

void GraphMaker::add_loop(GraphProto& graph, Scope& scope, int depth) {
  const auto flags = in_.take<uint8_t>();
  NodeProto* node = add(graph, "Loop", {flags & 1 ? "" : pick(scope, Kind::integer), flags & 2 ? "" : pick(scope, Kind::truth)});
  std::vector<Kind> states(in_.below(3)), outputs{Kind::truth};
  GraphProto* inner = body(node, "body");
  Scope seen = scope;
  const auto declared = [&](Kind k) {
    seen.push_back({new_name(scope), k});
    declare(inner->add_input(), seen.back().name, k);
  };
  declared(Kind::integer), declared(Kind::truth);
  for (Kind& k : states) {
    node->add_input(pick(scope, k = kind()));
    declared(k);
    outputs.push_back(k);
  }
  for (size_t scans = in_.below(3) + states.empty(); scans > 0; --scans) outputs.push_back(kind());
  fill(*inner, seen, depth + 1, outputs);
  for (size_t i = 1; i < outputs.size(); ++i) {
    const std::string name = new_name(scope);
    node->add_output(name);
    scope.push_back({name, outputs[i]});
  }
}

void GraphMaker::add_scan(GraphProto& graph, Scope& scope, int depth) {
  NodeProto* node = add(graph, "Scan", {});
  std::vector<Kind> inputs(1 + in_.below(3)), outputs(1 + in_.below(3));
  GraphProto* inner = body(node, "body");
  Scope seen = scope;
  for (Kind& k : inputs) {
    node->add_input(pick(scope, k = kind()));
    seen.push_back({new_name(scope), k});
    declare(inner->add_input(), seen.back().name, k);
  }
  for (Kind& k : outputs) k = kind();
  set_integer(node, "num_scan_inputs", in_.below(8) == 7 ? in_.integer() : 1 + static_cast<int64_t>(in_.below(inputs.size())));
  fill(*inner, seen, depth + 1, outputs);
  for (const Kind k : outputs) {
    const std::string name = new_name(scope);
    node->add_output(name);
    scope.push_back({name, k});
  }
}

void GraphMaker::add_node(GraphProto& graph, Scope& scope, int depth) {
  ++nodes_;
  const size_t what = in_.below(12);
  if (depth >= kMostDepth || what < 5) return add_simple(graph, scope);
  if (what < 8) return add_constant(graph, scope);
  if (what == 8) return add_scan(graph, scope, depth);
  return what == 9 ? add_loop(graph, scope, depth) : add_if(graph, scope, depth);
}

void GraphMaker::fill(GraphProto& graph, Scope scope, int depth, const std::vector<Kind>& wanted) {
  for (size_t count = in_.below(6); count > 0 && nodes_ < kMostNodes && !in_.empty(); --count) add_node(graph, scope, depth);
  for (const Kind k : wanted) graph.add_output()->set_name(pick(scope, k));
  if (depth > 0 && in_.below(8) == 7) graph.add_output()->set_name(pick(scope, kind()));
}

ModelProto GraphMaker::model() {
  ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(21);
  GraphProto& graph = *model.mutable_graph();
  graph.set_name("g");
  Scope scope{{"c", Kind::truth}, {"n", Kind::integer}, {"x", Kind::real}};
  for (const Known& k : scope) declare(graph.add_input(), k.name, k.kind);
  TensorProto* list = graph.add_initializer();
  list->set_name("l");
  list->set_data_type(TensorProto::INT64);
  list->add_dims(2), list->add_int64_data(2), list->add_int64_data(3);
  scope.push_back({"l", Kind::list});
  auto* dims = graph.mutable_input(2)->mutable_type()->mutable_tensor_type()->mutable_shape();
  dims->add_dim()->set_dim_value(2), dims->add_dim()->set_dim_value(3);
  graph.mutable_input(1)->mutable_type()->mutable_tensor_type()->mutable_shape();
  while (nodes_ < kMostNodes && !in_.empty()) add_node(graph, scope, 0);
  for (size_t i = 4; i < scope.size(); ++i) graph.add_output()->set_name(scope[i].name);
  return model;
}

}  // namespace svengine::fuzz
