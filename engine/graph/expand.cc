#include "engine/graph/expand.h"

#include <algorithm>

#include "engine/base/whole.h"
#include "engine/graph/copy_body.h"

namespace svengine {

std::optional<int64_t> ExpandContext::dim(size_t i, int64_t d) const {
  const Shape& s = shape(i);
  if (!s.has_rank()) return std::nullopt;
  const int64_t at = d < 0 ? d + s.rank() : d;
  if (at < 0 || at >= s.rank() || !s[static_cast<size_t>(at)].is_static()) return std::nullopt;
  return s[static_cast<size_t>(at)].value();
}

bool ExpandContext::waits_for_same_shape(const Value* a, const Value* b) const {
  const Shape &left = a->type.shape, &right = b->type.shape;
  const auto same = [](const Dim& x, const Dim& y) { return x.same(y); };
  const bool certain =
      left.has_rank() && right.has_rank() && std::equal(left.dims().begin(), left.dims().end(), right.dims().begin(), right.dims().end(), same);
  return uncertain_ == UncertainShapes::wait && !certain;
}

Value* ExpandContext::op(std::string_view name, std::vector<Value*> inputs, Attributes attributes) {
  return builder_.add(name, std::move(inputs), std::move(attributes));
}

Value* ExpandContext::internal(std::string_view name, std::vector<Value*> inputs, Attributes attributes) {
  Node* node = builder_.node(kInternalDomain, name, std::move(inputs), 1, std::move(attributes));
  return node ? node->output() : nullptr;
}

Value* ExpandContext::ints(std::vector<int64_t> values) {
  return builder_.constant(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)));
}

Value* ExpandContext::number(double value, DType type) {
  if (type == DType::f32) return builder_.constant(Tensor::scalar(static_cast<float>(value)));
  if (type == DType::i64) return builder_.constant(Tensor::scalar(whole_within_limits<int64_t>(value)));
  Value* wide = builder_.constant(Tensor::scalar(value));
  return type == DType::f64 ? wide : cast(wide, type);
}

Value* ExpandContext::cast(Value* v, DType type) {
  if (!v || v->type.dtype == type) return v;
  return op("Cast", {v}, make_attributes({{"to", static_cast<int64_t>(type)}}));
}

namespace {

/// The size that -1 stands for in a Reshape of x: what the dimensions that are not copied (0) have for it. Reshape itself finds none
/// where a copied dimension is 0. -1 where it cannot be known.
int64_t rest_of(const Shape& x, const std::vector<int64_t>& dims) {
  int64_t have = 1, named = 1;
  for (size_t d = 0; x.has_rank() && d < std::max(dims.size(), x.dims().size()); ++d) {
    const int64_t wanted = d < dims.size() ? dims[d] : 1;
    if (wanted == 0) continue;
    if (d < x.dims().size() && !x[d].is_static()) return -1;
    if (d < x.dims().size()) have *= x[d].value();
    if (wanted > 0) named *= wanted;
  }
  return x.has_rank() && have > 0 && have % named == 0 ? have / named : -1;  // a 0 would mean a copy
}

}  // namespace

Value* ExpandContext::reshape(Value* v, std::vector<int64_t> dims) {
  if (v)
    for (int64_t& d : dims)
      if (d == -1) d = rest_of(v->type.shape, dims);
  return op("Reshape", {v, ints(std::move(dims))});
}

Value* ExpandContext::reshape_like(Value* v, Value* like) {
  return op("Reshape", {v, op("Shape", {like})}, make_attributes({{"allowzero", int64_t{1}}}));
}

Value* ExpandContext::transpose(Value* v, std::vector<int64_t> perm) {
  return op("Transpose", {v}, make_attributes({{"perm", std::move(perm)}}));
}

Value* ExpandContext::slice(Value* v, int64_t axis, int64_t begin, int64_t end) {
  return op("Slice", {v, ints({begin}), ints({end}), ints({axis})});
}

Value* ExpandContext::concat(std::vector<Value*> values, int64_t axis) {
  return op("Concat", std::move(values), make_attributes({{"axis", axis}}));
}

Value* ExpandContext::body(std::string_view name, Value* input) {
  if (!input) return nullptr;
  const Subgraph& body = *attributes().get<Subgraph>(name);
  std::vector<Value*> inputs{input};
  inputs.insert(inputs.end(), node_.inputs().end() - attributes().get_int("captured"), node_.inputs().end());
  std::vector<Node*> copies;
  const std::vector<Value*> outputs = copy_body(*body, inputs, builder_.graph(), &node_, &copies);
  for (Node* copy : copies) builder_.note(infer_types(*copy));
  return builder_.status().ok() ? outputs[0] : nullptr;
}

bool ExpandContext::has_output(size_t i) const {
  const Value* v = node_.output(i);
  return v && (!v->users().empty() || builder_.graph().is_output(v));
}

Value* ExpandContext::scalar_of_dim(Value* v, int64_t d) {
  if (!v) return nullptr;
  const Dim& known = v->type.shape[static_cast<size_t>(d < 0 ? d + v->type.shape.rank() : d)];
  if (known.is_static()) return builder_.constant(Tensor::scalar(known.value()));
  return op("Squeeze", {size_of_dim(v, d), ints({0})});
}

Value* ExpandContext::size_of_dim(Value* v, int64_t d) {
  if (!v) return nullptr;
  const Shape& s = v->type.shape;
  if (s.has_rank())
    if (const Dim& known = s[static_cast<size_t>(d < 0 ? d + s.rank() : d)]; known.is_static()) return ints({known.value()});
  return op("Shape", {v}, d == -1 ? make_attributes({{"start", d}}) : make_attributes({{"start", d}, {"end", d + 1}}));
}

namespace {

/// All shapes are known, and the values that decide those of outputs.
bool is_concrete(const Node& node) {
  for (const Value* v : node.inputs())
    if (v && !v->type.shape.is_static()) return false;
  for (const int i : node.op().traits.shape_inputs)
    if (const Value* v = node.input(static_cast<size_t>(i)); v && !v->is_constant()) return false;
  return true;
}

/// The types of a node's outputs as inference has them; those in the graph may know more, which a file has declared, and be wrong.
Result<std::vector<Type>> inferred_types(Node& node) {
  std::vector<Type> declared, inferred;
  for (const Value* v : node.outputs()) declared.push_back(v ? v->type : Type());
  Status status = infer_types(node);
  for (size_t i = 0; i < declared.size(); ++i) {
    Value* v = node.output(i);
    inferred.push_back(v ? v->type : Type());
    if (v) v->type = std::move(declared[i]);
  }
  if (!status.ok()) return std::move(status).error();
  return inferred;
}

/// What a node is made of may find that its inputs do not fit together, which inference let pass.
Status check_same(const Type& inferred, const Value& made, size_t output) {
  const Shape &a = inferred.shape, &b = made.type.shape;
  if (!a.has_rank() || !b.has_rank()) return {};
  bool same = a.rank() == b.rank();
  for (size_t d = 0; same && d < a.dims().size(); ++d) same = !a[d].is_static() || !b[d].is_static() || a[d].value() == b[d].value();
  if (same) return {};
  return error("output {} would be {}, needs {}: the inputs' shapes do not fit together", output, to_string(made.type), to_string(inferred));
}

/// Whether `made` has all that inference knew of the shape.
bool is_certain(const Value& inferred, const Value& made) {
  const Shape &a = inferred.type.shape, &b = made.type.shape;
  if (!a.has_rank()) return true;
  if (!b.has_rank()) return false;
  for (size_t d = 0; d < a.dims().size(); ++d)
    if ((a[d].is_static() || a[d].is_symbolic()) && !a[d].same(b[d])) return false;
  return true;
}

/// The last `count` nodes before `node`, which nothing uses.
void erase_made(Graph& graph, const Node& node, size_t count) {
  for (; count > 0; --count) graph.erase(graph.previous(node));
}

/// `to` in place of `from`. What is an output of the graph keeps its name, also where `to` cannot take it.
void replace_output(Graph& graph, Builder& builder, Value* from, Value* to) {
  if (graph.is_output(from) && (to->is_input() || to->is_constant() || graph.is_output(to))) to = builder.add("Identity", {to});
  if (to) graph.replace_uses(from, to);
}

}  // namespace

Status expand_node(Graph& graph, Node& node, const OpRegistry& ops, UncertainShapes uncertain) {
  Builder builder(graph, ops);
  builder.set_position(&node);
  builder.set_node_name(node.name());
  ExpandContext context(node, builder, uncertain);
  const size_t nodes = graph.nodes().size();
  SV_TRY(node.op().expand(context));
  SV_TRY(Status(builder.status()));
  const std::vector<Value*>& results = context.results();
  if (std::all_of(results.begin(), results.end(), [](const Value* v) { return !v; }) && !is_concrete(node)) {
    erase_made(graph, node, graph.nodes().size() - nodes);
    return {};
  }
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i] && context.has_output(i))
      return error("output {} cannot be made of other operators with these inputs and attributes", i);
  SV_ASSIGN(const std::vector<Type> inferred, inferred_types(node));
  // Of outputs that nobody reads, too: inputs that do not fit together are refused whoever asks.
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i] && node.output(i)) SV_TRY(check_same(inferred[i], *results[i], i));
  if (uncertain == UncertainShapes::wait && !is_concrete(node))
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i] || !node.output(i) || is_certain(*node.output(i), *results[i])) continue;
      erase_made(graph, node, graph.nodes().size() - nodes);
      return {};
    }
  for (size_t i = 0; i < results.size(); ++i)
    if (context.has_output(i)) replace_output(graph, builder, node.output(i), results[i]);
  return builder.status();
}

Status check_expansion(const Node& node, const OpRegistry& ops) {
  if (!node.op().expand) return {};
  Graph alone;
  std::vector<Value*> inputs;
  for (const Value* v : node.inputs()) {
    if (!v) inputs.push_back(nullptr);
    else inputs.push_back(v->is_constant() ? alone.add_constant(v->name(), v->constant()) : alone.add_input(v->name(), v->type));
  }
  Node* copy = alone.add_node(node.op(), node.name(), std::move(inputs), node.outputs().size(), node.attributes);
  for (Value* v : copy->outputs()) alone.add_output(v);
  SV_TRY(infer_types(*copy));
  return expand_node(alone, *copy, ops, UncertainShapes::taken);
}

}  // namespace svengine
