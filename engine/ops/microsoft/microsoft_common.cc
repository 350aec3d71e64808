#include "engine/ops/microsoft/microsoft_common.h"

#include <algorithm>
#include <iterator>

namespace svengine::ops {
namespace {

struct RuntimeActivation {
  const char* name;
  const char* parameters[2];
};
constexpr RuntimeActivation kRuntimeActivations[] = {
    {"Relu", {}},
    {"Tanh", {}},
    {"Sigmoid", {}},
    {"Softplus", {}},
    {"Softsign", {}},
    {"LeakyRelu", {"alpha", nullptr}},
    {"HardSigmoid", {"alpha", "beta"}},
    {"Elu", {"alpha", nullptr}},
    {"ThresholdedRelu", {"alpha", nullptr}},
    {"Selu", {"alpha", "gamma"}},
    {"HardSwish", {}},
    {"Clip", {}},
    {"Gelu", {}},
};

const RuntimeActivation* find_runtime_activation(const std::string& name) {
  const auto* at =
      std::find_if(std::begin(kRuntimeActivations), std::end(kRuntimeActivations), [&](const auto& a) { return name == a.name; });
  return at == std::end(kRuntimeActivations) ? nullptr : at;
}

}  // namespace

OpDef composite_op(const char* name, OpInputs inputs, std::vector<AttributeDef> attributes, Status (*infer)(InferContext&),
                   Status (*expand)(ExpandContext&), std::string samples) {
  return {.name = name,
          .domain = kMicrosoftDomain,
          .until = 1,
          .inputs = inputs,
          .attributes = std::move(attributes),
          .expand = expand,
          .infer = infer,
          .tolerance = {.rtol = 1e-5, .atol = 1e-5},
          .samples = std::move(samples)};
}

Status infer_as_first(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

Status check_runtime_activation(const std::string& name) {
  if (name.empty() || find_runtime_activation(name)) return {};
  std::string list;
  for (const auto& a : kRuntimeActivations) list += fmt::format("{}{}", list.empty() ? "" : ", ", a.name);
  return error("activation is '{}', must be one of {}", name, list);
}

Value* runtime_activation(ExpandContext& c, Value* v, const std::string& name, const std::vector<float>& parameters) {
  const RuntimeActivation* activation = find_runtime_activation(name);
  if (!activation) return v;
  if (name == "Clip") {
    std::vector<Value*> inputs{v};
    for (size_t i = 0; i < std::min<size_t>(parameters.size(), 2); ++i) inputs.push_back(c.number(parameters[i], v->type.dtype));
    return c.op("Clip", std::move(inputs));
  }
  Attributes attributes;
  for (size_t i = 0; i < std::min<size_t>(parameters.size(), 2); ++i)
    if (activation->parameters[i]) attributes.set(activation->parameters[i], parameters[i]);
  return c.op(name, {v}, std::move(attributes));
}

Status require_last(const InferContext& c, size_t input, size_t of) {
  SV_TRY(require_rank(c, input, 1));
  if (!c.has_input(input) || !c.shape(of).has_rank() || !c.shape(input).has_rank()) return {};
  if (c.shape(of).rank() > 0 && !known_different(c.shape(of).back(), c.shape(input)[0])) return {};
  return error("{} has {} elements, needs one for each of the last dimension of {}", c.described(input), c.shape(input)[0].value(),
               to_string(c.shape(of)));
}

Value* unpacked_bytes(ExpandContext& c, Value* v, int64_t packed, int64_t most) {
  if (packed == 1 || !v) return v;
  const int64_t bits = 8 / packed;
  const auto byte = [&](int64_t x) { return c.builder().constant(Tensor::scalar(static_cast<uint8_t>(x))); };
  std::vector<Value*> parts;
  for (int64_t i = 0; i < packed; ++i) {
    Value* part = i == 0 ? v : c.op("BitShift", {v, byte(i * bits)}, make_attributes({{"direction", std::string("RIGHT")}}));
    parts.push_back(c.unsqueeze(c.op("BitwiseAnd", {part, byte((1 << bits) - 1)}), {-1}));
  }
  std::vector<int64_t> dims(v->type.shape.dims().size(), 0);
  dims.back() = v->type.shape.back().value() * packed;
  const auto last = static_cast<int64_t>(dims.size()) - 1;
  Value* all = c.reshape(c.concat(std::move(parts), -1), dims);
  return dims.back() > most ? c.slice(all, last, 0, most) : all;
}

Value* mask_index(ExpandContext& c, Value* mask, Value* words) {
  Value* ones = mask ? c.cast(c.op("Equal", {mask, c.number(1, DType::i32)}), DType::i32) : c.op("Sub", {words, words});
  return c.op("ReduceSum", {ones, c.ints({1})}, make_attributes({{"keepdims", int64_t{0}}}));
}

}  // namespace svengine::ops
