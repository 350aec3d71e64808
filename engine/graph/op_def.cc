#include "engine/graph/op_def.h"

#include <algorithm>
#include <cstring>

#include "engine/graph/type_parameter.h"

namespace svengine {
namespace {

Status check_arity(const char* what, size_t have, const Arity& arity) {
  if (static_cast<int>(have) >= arity.min && static_cast<int>(have) <= arity.max) return {};
  if (arity.min == arity.max) return error("has {} {}, needs {}", have, what, arity.min);
  if (arity.max >= kVariadic) return error("has {} {}, needs at least {}", have, what, arity.min);
  return error("has {} {}, needs {} to {}", have, what, arity.min, arity.max);
}

/// As check_dims, of the dimensions that are known.
Status check_known_dims(const Shape& shape) {
  Dims dims;
  dims.reserve(shape.dims().size());
  for (const Dim& d : shape.dims()) dims.push_back(d.is_static() ? d.value() : 1);
  return check_dims(dims);
}

Status check_attributes(const Node& node) {
  const OpDef& op = node.op();
  for (const auto& [name, value] : node.attributes) {
    const auto def = std::find_if(op.attributes.begin(), op.attributes.end(), [name = std::string_view(name)](const AttributeDef& d) {
      return name == d.name;
    });
    if (def == op.attributes.end()) return unimplemented("attribute '{}' is not one of this operator's", name);
    if (def->kind != kind_of(value))
      return error("attribute '{}' is of kind {}, needs {}", name, name_of(kind_of(value)), name_of(def->kind));
  }
  for (const AttributeDef& def : op.attributes)
    if (def.required && !node.attributes.has(def.name)) return error("attribute '{}' is missing", def.name);
  return {};
}

/// That all inputs are there that must be. Sizes that no tensor can have end here, so that what
/// an operator computes with them does not overflow.
Status check_inputs(const Node& node) {
  const OpInputs& inputs = node.op().inputs;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.input(i);
    if (!v && inputs.is_required(i)) return error("{} is required but absent", inputs.described(i));
    if (!v || !v->type.shape.has_rank()) continue;
    if (Status status = check_known_dims(v->type.shape); !status.ok()) return std::move(status).error().in(inputs.described(i));
  }
  return {};
}

Status check_type_parameter(const Node& node, const TypeParameter& parameter) {
  std::optional<size_t> first;
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    const Value* v = node.input(i);
    if (!v || !covers(node.op(), parameter, i)) continue;
    if (!parameter.types.has(v->type.dtype))
      return error("{} is of type {}, needs {}", node.op().inputs.described(i), name_of(v->type.dtype), to_string(parameter.types));
    if (!first) first = i;
    if (const DType t = node.input(*first)->type.dtype; v->type.dtype != t)
      return error("{} and {} are of types {} and {}, need one type (Cast converts)", node.op().inputs.described(*first),
                   node.op().inputs.described(i), name_of(t), name_of(v->type.dtype));
  }
  return {};
}

Status check_and_infer(Node& node) {
  const OpDef& op = node.op();
  SV_TRY(check_arity("inputs", node.inputs().size(), op.inputs.arity()));
  SV_TRY(check_arity("outputs", node.outputs().size(), op.outputs));
  SV_TRY(check_inputs(node));
  SV_TRY(check_attributes(node));
  for (const TypeParameter& parameter : op.types) SV_TRY(check_type_parameter(node, parameter));
  InferContext context(node);
  return op.infer(context);
}

std::string input_types(const Node& node) {
  std::string out;
  for (const Value* v : node.inputs()) {
    if (!out.empty()) out += ", ";
    out += v ? to_string(v->type) : "-";
  }
  return out;
}

}  // namespace

std::string_view canonical_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

const Tensor* InferContext::constant(size_t i) const {
  const Value* v = node_.input(i);
  return v && v->is_constant() ? &v->constant() : nullptr;
}

std::optional<std::vector<int64_t>> InferContext::integers(size_t i) const {
  const Value* v = node_.input(i);
  if (!v || (v->type.dtype != DType::i64 && v->type.dtype != DType::i32)) return std::nullopt;
  if (v->is_constant()) return v->constant().as_int64s();
  const std::optional<Dims> dims = v->type.shape.concrete();
  if (dims && element_count(*dims) == 0) return std::vector<int64_t>();  // whatever it will be, it holds nothing
  return std::nullopt;
}

void InferContext::set(size_t output, Type type) {
  if (Value* v = node_.output(output)) v->type = std::move(type);
}

Status infer_types(Node& node) {
  Status status = check_and_infer(node);
  if (status.ok()) {
    for (const Value* v : node.outputs()) {
      if (!v || !v->type.shape.has_rank()) continue;
      status = check_known_dims(v->type.shape);
      if (!status.ok()) return std::move(status).error().in(describe(node));
    }
    return {};
  }
  Error e = std::move(status).error();
  return Error(fmt::format("{} [inputs: {}]", e.message(), input_types(node)), e.code()).in(describe(node));
}

void CanonicalizeContext::attribute_to_input(std::string_view attribute, size_t slot) {
  if (const auto* values = attributes().get<std::vector<int64_t>>(attribute)) {
    Tensor t = Tensor::of<int64_t>({static_cast<int64_t>(values->size())}, std::span<const int64_t>(*values));
    set_input(slot, graph_.add_constant(fmt::format("{}.{}", node_.name(), attribute), std::move(t)));
    attributes().erase(attribute);
  }
}

void CanonicalizeContext::set_input(size_t slot, Value* value) { graph_.set_input(&node_, slot, value); }

bool reads_shape_alone(const Node& node, size_t input) {
  const OpTraits& traits = node.op().traits;
  return traits.value_of_types || traits.shape_only_input == static_cast<int>(input);
}

DTypeSet types_to_widen(const Node& node) {
  const OpDef& op = node.op();
  DTypeSet types;
  if (!op.lower || op.traits.is_view) return types;
  for (const std::vector<Value*>* values : {&node.inputs(), &node.outputs()})
    for (const Value* v : *values)
      if (v && kDenseTypes.has(v->type.dtype)) types = types | DTypeSet{v->type.dtype};
  return types - (op.kernel_types_of ? op.kernel_types_of(node) : op.kernel_types);
}

double stored_bytes(const Type& type) {
  double n = static_cast<double>(size_of(type.dtype));
  if (!type.shape.has_rank()) return n;
  for (size_t i = 0; i < type.shape.dims().size(); ++i) {
    const Dim& d = type.shape[i];
    int64_t v = d.is_static() ? d.value() : 1;
    if (type.block && i == 1) v = round_up(v, type.block);
    n *= static_cast<double>(v);
  }
  return n;
}

Cost cost_of(const Node& node) {
  if (node.op().cost) return node.op().cost(node);
  if (node.op().traits.is_view) return {};
  Cost cost;
  for (const Value* v : node.inputs())
    if (v) cost.bytes += stored_bytes(v->type);
  for (const Value* v : node.outputs()) cost.bytes += stored_bytes(v->type);
  if (const Value* out = node.output(); out && size_of(out->type.dtype))
    cost.flops = stored_bytes(out->type) / static_cast<double>(size_of(out->type.dtype));
  return cost;
}

}  // namespace svengine
