#include "validate/convert/change_type.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "engine/base/memory.h"
#include "engine/graph/type_parameter.h"
#include "engine/graph/passes/match.h"
#include "importers/io/names.h"
#include "validate/compare/element.h"

namespace svengine::validate {
namespace {

class Changer {
 public:
  Changer(Graph& graph, const ChangeTypeOptions& options, const PassContext& context)
      : graph_(graph), options_(options), context_(context), cast_(*context.ops.find("", "Cast")) {}

  Status run();
  ChangedTypes& changed() { return changed_; }

 private:
  bool is_changed(const Value* v) const {
    return v && (v->type.dtype == DType::f32 || (v->type.dtype == options_.to && !native_.count(v)));
  }
  bool stays(const Node& node) const;
  Status change_inputs();
  Status change_node(Node& node);
  /// The value in that type: itself, a constant of its own, or behind a Cast before `node` (null: at the end).
  Result<Value*> in_type(Value* value, DType type, Node* node);
  Result<Value*> changed_weight(const Value& value, DType type);
  Status change_outputs();

  Graph& graph_;
  const ChangeTypeOptions& options_;
  const PassContext& context_;
  const OpDef& cast_;
  std::vector<DType> given_;      // of the graph's outputs, before
  std::set<const Value*> native_;  // of the wanted type, before
  ChangedTypes changed_;
  std::map<std::pair<Value*, DType>, Value*> in_types_;
};

bool is_called(const Node& node, const std::string& name) { return name == node.op().name || name == node.name(); }

bool Changer::stays(const Node& node) const {
  bool out = std::any_of(options_.keep.begin(), options_.keep.end(), [&](const std::string& name) { return is_called(node, name); });
  for (const auto& [name, value] : node.attributes) {
    const Tensor* tensor = std::get_if<Tensor>(&value);  // TreeEnsemble's splits are of its input's type
    out = out || std::holds_alternative<Subgraph>(value) || (tensor && tensor->type() == DType::f32);
  }
  return out;
}

Result<Value*> Changer::changed_weight(const Value& value, DType type) {
  const std::string name = fmt::format("{}_{}", value.name(), name_of(type));
  const Tensor& from = value.constant();
  // Shapes never follow from values of that many numbers, so inference can do without them.
  if (from.type() == DType::f32 && from.byte_size() >= kLateBytes) {
    changed_.late.push_back({graph_.add_input(name, {type, Shape::of(from.dims())}), from, value.name()});
    return changed_.late.back().value;
  }
  if (from.type() != DType::f32) {
    SV_ASSIGN(Tensor out, cast(from, type, context_));
    return graph_.add_constant(name, std::move(out));
  }
  SV_ASSIGN(MutableTensor out, Tensor::allocate(type, from.dims()));
  size_t at = 0;
  SV_ASSIGN(const int64_t lost, cast_in_parts(from, type, context_, [&](onnx::Bytes part) -> Status {
    std::memcpy(out.raw() + at, part.data(), part.size());
    at += part.size();
    return {};
  }));
  if (lost) changed_.saturated.push_back({value.name(), lost});
  return graph_.add_constant(name, std::move(out));
}

Result<Value*> Changer::in_type(Value* value, DType type, Node* node) {
  if (value->type.dtype == type) return value;
  Value*& known = in_types_[{value, type}];
  if (known) return known;
  if (value->is_constant()) {
    SV_ASSIGN(known, changed_weight(*value, type));
    return known;
  }
  Attributes attributes;
  attributes.set("to", static_cast<int64_t>(type));
  Node* made = graph_.add_node(cast_, fmt::format("{}_to_{}", value->name(), name_of(type)), {value}, 1, std::move(attributes), node);
  SV_TRY(infer_types(*made));
  known = made->output();
  return known;
}

Status Changer::change_inputs() {
  Node* first = graph_.nodes().empty() ? nullptr : graph_.nodes().front().get();
  for (Value* input : graph_.inputs()) {
    if (input->type.dtype != DType::f32) continue;
    if (!options_.keep_io) input->type.dtype = options_.to;
    else if (first && !input->users().empty()) SV_TRY(in_type(input, options_.to, first));
  }
  return {};
}

Status Changer::change_node(Node& node) {
  const bool stay = stays(node);
  if (int64_t to = node.attributes.get_int("to"); is_op(&node, "Cast") && to == static_cast<int64_t>(DType::f32) && !stay)
    node.attributes.set("to", static_cast<int64_t>(options_.to));
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    Value* value = node.input(i);
    if (!is_changed(value)) continue;
    const TypeParameter* parameter = type_parameter_of(node.op(), i);
    const bool takes = !stay && parameter && parameter->types.has(options_.to);
    SV_ASSIGN(Value * wanted, in_type(value, takes ? options_.to : DType::f32, &node));
    graph_.set_input(&node, i, wanted);
  }
  return infer_types(node);
}

Status Changer::change_outputs() {
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    Value* output = graph_.outputs()[i];
    if (!is_changed(output)) continue;
    const DType wanted = options_.keep_io ? given_[i] : options_.to;
    if (output->type.dtype == wanted) continue;
    const std::string name = output->name();
    SV_ASSIGN(Value * changed, in_type(output, wanted, nullptr));
    if (!graph_.is_output(changed)) {
      if (!output->is_input()) graph_.rename(output, fmt::format("{}_{}", name, name_of(output->type.dtype))), graph_.rename(changed, name);
      graph_.set_output(i, changed);
    }
  }
  return {};
}

Status Changer::run() {
  const std::vector<Node*> nodes = graph_.snapshot();  // not the Casts
  for (const Value* output : graph_.outputs()) given_.push_back(output->type.dtype);
  graph_.for_each_value([&](Value& v) {
    if (v.type.dtype == options_.to) native_.insert(&v);
  });
  SV_TRY(change_inputs());
  for (Node* node : nodes) SV_TRY(change_node(*node));
  SV_TRY(change_outputs());
  graph_.erase_unused_constants();
  return {};
}

}  // namespace

Result<Tensor> cast(const Tensor& tensor, DType to, const PassContext& context) {
  if (tensor.type() == to) return tensor;
  Graph graph;
  Attributes attributes;
  attributes.set("to", static_cast<int64_t>(to));
  Node* node = graph.add_node(*context.ops.find("", "Cast"), "cast", {graph.add_constant("x", tensor)}, 1, std::move(attributes));
  SV_TRY(infer_types(*node));
  SV_ASSIGN(const std::vector<Tensor> out, context.evaluate(*node));
  return out[0];
}

Result<int64_t> cast_in_parts(const Tensor& tensor, DType to, const PassContext& context, const onnx::ByteSink& sink) {
  constexpr int64_t kAtOnce = int64_t{1} << 21;
  // float16 65504, bfloat16 0x7f7f.
  const float most = to == DType::f16 ? 65504.0f : 0x1.fep127f;
  int64_t too_large = 0;
  for (int64_t begin = 0; begin < tensor.count(); begin += kAtOnce) {
    const int64_t count = std::min(kAtOnce, tensor.count() - begin);
    const std::byte* at = tensor.raw() + static_cast<size_t>(begin) * sizeof(float);
    const Tensor part = Tensor::wrap(DType::f32, {count}, at, tensor.owner());
    SV_ASSIGN(Tensor out, cast(part, to, context));
    const int64_t infinities = to == DType::f64 ? 0 : statistics_of(out).infinities;
    if (const int64_t lost = infinities ? infinities - statistics_of(part).infinities : 0; lost > 0) {
      too_large += lost;
      SV_ASSIGN(MutableTensor within, part.aligned_copy());
      for (float& x : within.data<float>())
        if (std::isfinite(x)) x = std::clamp(x, -most, most);
      SV_ASSIGN(out, cast(within, to, context));
    }
    SV_TRY(sink({out.raw(), out.byte_size()}));
    release_pages(tensor.owner(), {at, static_cast<size_t>(count) * sizeof(float)});
  }
  return too_large;
}

Status check_keep(const Graph& graph, const ChangeTypeOptions& options) {
  const std::vector<Node*> nodes = graph.snapshot();
  for (const std::string& name : options.keep)
    if (std::none_of(nodes.begin(), nodes.end(), [&](const Node* node) { return is_called(*node, name); }))
      return error("'{}' is to stay in float32, but no node and no operator of the graph is called so", printable(name));
  return {};
}

Result<ChangedTypes> change_type(Graph& graph, const ChangeTypeOptions& options, const PassContext& context) {
  Changer changer(graph, options, context);
  Status status = changer.run();
  if (!status.ok()) return std::move(status).error().in(fmt::format("change float32 to {}", name_of(options.to)));
  return std::move(changer.changed());
}

}  // namespace svengine::validate
