// Constant: a value in the file that is not an initializer. Import turns it into a constant of the graph.
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

/// A sparse tensor is dense since it was read.
constexpr const char* kSparseValue = "sparse_value";

Result<Tensor> constant_value(const Attributes& attributes) {
  if (const auto* t = attributes.get<Tensor>(kSparseValue); t) return *t;
  int given = 0;
  for (const auto& entry : attributes) given += entry.first.starts_with("value") ? 1 : 0;
  if (given != 1) return error("{} value attributes are given, needs one of value, value_float(s), value_int(s), value_string(s)", given);
  if (const auto* t = attributes.get<Tensor>("value")) return *t;
  if (const auto* x = attributes.get<float>("value_float")) return Tensor::scalar<float>(*x);
  if (const auto* x = attributes.get<int64_t>("value_int")) return Tensor::scalar<int64_t>(*x);
  if (const auto* x = attributes.get<std::vector<float>>("value_floats"))
    return Tensor::of<float>({static_cast<int64_t>(x->size())}, std::span<const float>(*x));
  if (const auto* x = attributes.get<std::vector<int64_t>>("value_ints"))
    return Tensor::of<int64_t>({static_cast<int64_t>(x->size())}, std::span<const int64_t>(*x));
  if (const auto* x = attributes.get<std::string>("value_string")) return Tensor::of_strings({}, {*x});
  if (const auto* x = attributes.get<std::vector<std::string>>("value_strings")) return Tensor::of_strings({static_cast<int64_t>(x->size())}, *x);
  return error("the value is of a kind that is none of value, value_float(s), value_int(s), value_string(s)");
}

Status canonicalize_constant(CanonicalizeContext& c) {
  SV_ASSIGN(Tensor value, constant_value(c.attributes()));
  c.graph().make_constant(c.node().output(), value);
  return {};
}

Status infer_constant(InferContext& c) {
  SV_ASSIGN(const Tensor value, constant_value(c.attributes()));
  c.set(0, value.type(), Shape::of(value.dims()));
  return {};
}

Status lower_constant(LowerContext& c) {
  SV_ASSIGN(const Tensor value, constant_value(c.attributes()));
  emit_known(c, {value.raw(), value.byte_size()});
  return {};
}

}  // namespace

OpDef define_constant() {
  return {
      .name = "Constant",
      .inputs = "",
      .attributes = {{"value", AttributeKind::kTensor},
                     {"value_float", AttributeKind::kFloat},
                     {"value_floats", AttributeKind::kFloats},
                     {"value_int", AttributeKind::kInt},
                     {"value_ints", AttributeKind::kInts},
                     {"value_string", AttributeKind::kString},
                     {"value_strings", AttributeKind::kStrings},
                     {kSparseValue, AttributeKind::kTensor}},
      .canonicalize = canonicalize_constant,
      .infer = infer_constant,
      .lower = lower_constant,
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .samples = "() {value = float32[3]{1.0, -2.0, 0.5}}"
                 "() {value_ints = [4, 5]}",
  };
}

}  // namespace svengine::ops
