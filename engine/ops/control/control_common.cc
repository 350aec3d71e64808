#include "engine/ops/control/control_common.h"

namespace svengine::ops {

size_t captured_count(const Attributes& attributes) { return static_cast<size_t>(std::max<int64_t>(attributes.get_int(kCaptured), 0)); }

size_t own_input_count(const InferContext& c) {
  const size_t all = c.input_count(), captured = captured_count(c.attributes());
  return all > captured ? all - captured : 0;
}

size_t own_input_count(const EvaluateContext& c) { return c.input_count() - captured_count(c.attributes()); }

Status check_body_input(const Graph& body, size_t index, const Type& given) {
  const Value& input = *body.inputs()[index];
  if (input.type.dtype == given.dtype || input.type.dtype == DType::undefined || given.dtype == DType::undefined) return {};
  return error("input '{}' of the body is {}, but it is given {}", input.name(), to_string(input.type), to_string(given));
}

Result<const Graph*> checked_body(const InferContext& c, std::string_view name, size_t own, size_t least_outputs) {
  const Subgraph* body = c.attributes().get<Subgraph>(name);
  if (!body || !*body) return error("has no body '{}'", name);
  const size_t captured = captured_count(c.attributes()), inputs = (*body)->inputs().size(), outputs = (*body)->outputs().size();
  if (captured > c.input_count()) return error("captures {} values, but has {} inputs", captured, c.input_count());
  if (inputs != own + captured)
    return error("body '{}' has {} inputs, but is given {}", name, inputs < captured ? 0 : inputs - captured, own);
  if (outputs < least_outputs) return error("body '{}' has {} outputs, needs {}", name, outputs, least_outputs);
  for (size_t i = 0; i < captured; ++i) {
    const size_t at = c.input_count() - captured + i;
    if (!c.has_input(at)) return error("captured input {} is absent", at);
    Status same = check_body_input(**body, own + i, c.type(at));
    if (!same.ok()) return std::move(same).error().in(name);
  }
  return body->get();
}

Result<Type> merged(const Type& a, const Type& b) {
  if (a.dtype == DType::undefined) return b;
  if (b.dtype == DType::undefined) return a;
  if (a.dtype != b.dtype) return error("is {} in one case and {} in another", to_string(a), to_string(b));
  Type out = a;
  if (a.element && b.element) {
    SV_ASSIGN(Type element, merged(*a.element, *b.element));
    out.element = std::make_shared<const Type>(std::move(element));
  } else {
    out.element = nullptr;
  }
  if (!a.shape.has_rank() || !b.shape.has_rank() || a.shape.rank() != b.shape.rank()) {
    out.shape = Shape();
    return out;
  }
  for (size_t i = 0; i < a.shape.dims().size(); ++i)
    if (!(a.shape[i] == b.shape[i])) out.shape.set(i, Dim());
  return out;
}

Type loosened(const Type& type) {
  Type out = type;
  if (!is_container(type.dtype)) out.shape = Shape();
  if (type.element) out.element = std::make_shared<const Type>(loosened(*type.element));
  return out;
}

std::vector<Tensor> captured_inputs(EvaluateContext& c) {
  std::vector<Tensor> out;
  for (size_t i = own_input_count(c); i < c.input_count(); ++i) out.push_back(c.input(i));
  return out;
}

Result<bool> truth_of(const Tensor& tensor, const char* what) {
  if (tensor.type() != DType::boolean || tensor.count() != 1)
    return error("{} is {}[{}], needs a single bool", what, name_of(tensor.type()), to_string(tensor.dims()));
  return tensor.data<uint8_t>()[0] != 0;
}

Tensor single(Tensor scalar, const Graph& body, size_t input) {
  const Shape& declared = body.inputs()[input]->type.shape;
  return declared.has_rank() && declared.rank() == 1 ? scalar.reshaped({1}) : scalar;
}

Cost cost_of_body(const Node& node, std::string_view name) {
  Cost sum;
  const Subgraph* body = node.attributes.get<Subgraph>(name);
  if (!body || !*body) return sum;
  for (const auto& inner : (*body)->nodes()) {
    const Cost one = cost_of(*inner);
    sum.flops += one.flops;
    sum.bytes += one.bytes;
  }
  return sum;
}

}  // namespace svengine::ops
