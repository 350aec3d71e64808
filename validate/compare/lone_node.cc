#include "validate/compare/lone_node.h"

#include <algorithm>
#include <unordered_map>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"

namespace svengine::validate {
namespace {

Type type_for(const Value& value, const Tensor& tensor) {
  if (is_handle(tensor.type()))
    return Type{tensor.type(), tensor.type() == DType::string ? Shape::of(tensor.dims()) : Shape::of({}), 0, value.type.element,
                value.type.key};
  return Type{tensor.type(), Shape::of(tensor.dims())};
}

}  // namespace

double reduction_length(const Node& node) {
  const Value* out = node.output();
  const auto elements = [](const Value* v) {
    const std::optional<Dims> dims = v ? v->type.shape.concrete() : std::nullopt;
    return dims ? static_cast<double>(std::max<int64_t>(element_count(*dims), 1)) : 1.0;
  };
  const OpTraits& traits = node.op().traits;
  if (!out || !out->type.shape.is_static() || traits.is_view || (traits.moves_elements && traits.moves_elements(node))) return 1;
  const double terms = cost_of(node).flops / (2 * elements(out));
  return std::max({1.0, terms, elements(node.input(0)) / elements(out)});
}

Result<LoneNode> LoneNode::create(const Node& node, Attributes attributes, const std::vector<Tensor>& inputs, const SessionOptions& options) {
  LoneNode out;
  Graph graph;
  std::unordered_map<const Value*, Value*> copies;  // a value that is two operands stays one
  std::vector<Value*> slots;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.input(i);
    if (!v) {
      slots.push_back(nullptr);
      continue;
    }
    Value*& copy = copies[v];
    if (!copy && v->is_constant()) copy = graph.add_constant(v->name(), v->constant());
    if (!copy) {
      if (!inputs[i].defined()) return error("{}: there is no value of '{}'", describe(node), v->name());
      copy = graph.add_input(v->name(), type_for(*v, inputs[i]));
      out.slots_.push_back(i);
      out.like_.push_back(Tensor::wrap(inputs[i].type(), inputs[i].dims(), nullptr, nullptr));
    }
    slots.push_back(copy);
  }
  std::vector<std::string> names;
  for (const Value* v : node.outputs()) names.push_back(v->name());
  Node* copy = graph.add_node(node.op(), node.name(), std::move(slots), node.outputs().size(), std::move(attributes), nullptr, names);
  SV_TRY(infer_types(*copy));
  for (Value* v : copy->outputs()) graph.add_output(v);
  out.reduction_length_ = validate::reduction_length(*copy);
  SV_ASSIGN(out.session_, Session::create(std::move(graph), options));
  return out;
}

bool LoneNode::fits(const std::vector<Tensor>& inputs) const {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Tensor& t = inputs[slots_[i]];
    if (t.type() != like_[i].type() || t.dims() != like_[i].dims()) return false;
  }
  return true;
}

Result<std::vector<Tensor>> LoneNode::run(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> given;
  for (const size_t slot : slots_) given.push_back(inputs[slot]);
  return session_->run(given);
}

void release_constants(const Node& node) {
  for (const Value* v : node.inputs())
    if (v && v->is_constant() && !is_handle(v->constant().type()))
      release_pages(v->constant().owner(), {v->constant().raw(), v->constant().byte_size()});
}

Result<Tensor> convert(const Tensor& tensor, DType type, const SessionOptions& options) {
  if (tensor.type() == type) return tensor;
  Graph graph;
  Builder builder(graph, all_ops());
  Value* x = builder.input("x", tensor.type(), Shape::of(tensor.dims()));
  builder.output(builder.add("Cast", {x}, make_attributes({{"to", static_cast<int64_t>(type)}})), "y");
  SV_TRY(Status(builder.status()));
  SV_ASSIGN(const std::unique_ptr<Session> session, Session::create(std::move(graph), options));
  SV_ASSIGN(const std::vector<Tensor> out, session->run({tensor}));
  return out[0];
}

}  // namespace svengine::validate
