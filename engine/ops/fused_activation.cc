#include "engine/ops/fused_activation.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

namespace svengine::ops {
namespace {

using kernels::Activation;
using kernels::ActivationArgs;

struct Names {
  std::string_view attribute, op;
};
constexpr Names kNames[] = {
    {"", ""},
#define SVENGINE_FUSED_ACTIVATION(Name, name, ...) {#name, #Name},
#include "engine/kernels/activation.inc"
};
static_assert(std::size(kNames) == kernels::kActivationCount);

/// Do products of the type end in it?
bool ends_in_activations(DType type) { return type == DType::f32 || type == DType::f64; }

/// A bound of T, if it is a float.
template <class T>
std::optional<float> bound_of(const Tensor& tensor) {
  T value;
  std::memcpy(&value, tensor.raw(), sizeof value);
  const float single = static_cast<float>(value);
  if (single == value || value != value) return single;
  return std::nullopt;
}

std::optional<float> bound(const Node& node, size_t input, float none) {
  const Value* v = node.input(input);
  const bool is_f64 = node.input(0)->type.dtype == DType::f64;
  if (!v) return is_f64 ? std::nullopt : std::optional(none);  // a double's own limits are no floats
  if (!v->is_constant() || v->type.dtype != node.input(0)->type.dtype || v->constant().count() != 1) return std::nullopt;
  return is_f64 ? bound_of<double>(v->constant()) : bound_of<float>(v->constant());
}

std::optional<ActivationArgs> clip(const Node& node) {
  const auto low = bound(node, 1, std::numeric_limits<float>::lowest()), high = bound(node, 2, std::numeric_limits<float>::max());
  if (!low || !high) return std::nullopt;
  return ActivationArgs{Activation::kClip, *low, *high};
}

std::optional<ActivationArgs> args_of_node(const Node& node) {
  const OpDef& op = node.op();
  if (op.name == std::string_view("Clip")) return clip(node);
  if (node.attributes.get_string("approximate", "none") == "tanh") return ActivationArgs{Activation::kGeluTanh};  // of Gelu
  const auto parameter = [&](std::string_view name) {
    for (const AttributeDef& def : op.attributes)
      if (def.name == name) return node.attributes.get_float(def.name, *def.default_value.get<float>());
    return 0.0f;
  };
  for (size_t i = 1; i < std::size(kNames); ++i)
    if (op.name == kNames[i].op) return ActivationArgs{static_cast<Activation>(i), parameter("alpha"), parameter("beta")};
  return std::nullopt;
}

}  // namespace

std::vector<AttributeDef> with_activation_attributes(std::vector<AttributeDef> attributes) {
  attributes.push_back({"activation", AttributeKind::kString});
  attributes.push_back({"activation_alpha", AttributeKind::kFloat, false, 0.0f});
  attributes.push_back({"activation_beta", AttributeKind::kFloat, false, 0.0f});
  return attributes;
}

std::string_view name_of(Activation activation) { return kNames[static_cast<size_t>(activation)].attribute; }

ActivationArgs activation_of(const Attributes& attributes) {
  const std::string name = attributes.get_string("activation");
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i].attribute)
      return {static_cast<Activation>(i), attributes.get_float("activation_alpha"), attributes.get_float("activation_beta")};
  return {};
}

void set_activation(Attributes& attributes, const ActivationArgs& activation) {
  attributes.set("activation", std::string(name_of(activation.kind)));
  attributes.set("activation_alpha", activation.alpha);
  attributes.set("activation_beta", activation.beta);
}

Status check_activation(const Attributes& attributes, DType type) {
  const std::string name = attributes.get_string("activation");
  if (std::none_of(std::begin(kNames), std::end(kNames), [&](const Names& known) { return name == known.attribute; }))
    return error("activation '{}' is not known", name);
  if (!ends_in_activations(type)) return error("no product of {} ends in activation '{}'", name_of(type), name);
  return {};
}

std::optional<Attributes> activation_of_node(const Node& node) {
  if (!ends_in_activations(node.input(0)->type.dtype)) return std::nullopt;
  const std::optional<ActivationArgs> args = args_of_node(node);
  if (!args) return std::nullopt;
  Attributes out;
  set_activation(out, *args);
  return out;
}

}  // namespace svengine::ops
