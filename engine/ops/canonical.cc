#include "engine/ops/canonical.h"

#include <algorithm>

#include "engine/base/whole.h"
#include "engine/graph/builder.h"

namespace svengine::ops {
namespace {

constexpr int kOldestPlainOpset = 7;  // all later forms are the business of OpDef::canonicalize alone

Status reshape_by_attribute(CanonicalizeContext& c) {
  if (!c.attributes().has("shape")) return error("attribute 'shape' is needed");
  c.attribute_to_input("shape", 1);
  return {};
}

/// Element types were called as TensorProto.DataType calls them.
Status cast_to_name(CanonicalizeContext& c) {
  static constexpr std::pair<const char*, DType> kNames[] = {
      {"FLOAT", DType::f32}, {"UINT8", DType::u8},   {"INT8", DType::i8},     {"UINT16", DType::u16},  {"INT16", DType::i16},
      {"INT32", DType::i32}, {"INT64", DType::i64},  {"STRING", DType::string}, {"BOOL", DType::boolean}, {"FLOAT16", DType::f16},
      {"DOUBLE", DType::f64}, {"UINT32", DType::u32}, {"UINT64", DType::u64}};
  if (c.attributes().get<int64_t>("to")) return {};
  std::string to = c.attributes().get_string("to");
  std::transform(to.begin(), to.end(), to.begin(), [](unsigned char ch) { return static_cast<char>(std::toupper(ch)); });
  for (const auto& [name, type] : kNames) {
    if (to != name) continue;
    c.attributes().set("to", static_cast<int64_t>(type));
    return {};
  }
  return error("attribute 'to' is '{}', which is no element type", to);
}

Status pad_by_paddings(CanonicalizeContext& c) {
  const auto* paddings = c.attributes().get<std::vector<int64_t>>("paddings");
  if (!paddings) return error("attribute 'paddings' is needed");
  c.attributes().set("pads", std::vector<int64_t>(*paddings));
  c.attributes().erase("paddings");
  return {};
}

Status as_int64s(Builder& b, Value*& v) {
  if (v->type.dtype != DType::i64) v = b.add("Cast", {v}, make_attributes({{"to", static_cast<int64_t>(DType::i64)}}));
  return b.status();
}

Status split_by_numbers(CanonicalizeContext& c) {
  if (!c.node().input(1)) return {};
  Builder b(c.graph(), c.ops());
  b.set_position(&c.node());
  Value* sizes = c.node().input(1);
  SV_TRY(as_int64s(b, sizes));
  c.set_input(1, sizes);
  return {};
}

/// Inputs `tiles` and `axis`, single numbers of the data's type: ones, with `tiles` at `axis`.
Status tile_one_axis(CanonicalizeContext& c) {
  if (c.node().inputs().size() != 3) return error("has {} inputs, needs 3: input, tiles, axis", c.node().inputs().size());
  const Value* data = c.node().input(0);
  Value *tiles = c.node().input(1), *axis = c.node().input(2);
  if (!data || !tiles || !axis) return error("an input is absent, needs 3: input, tiles, axis");
  if (!data->type.shape.has_rank()) return error("the input's rank has to be known");
  Builder b(c.graph(), c.ops());
  b.set_position(&c.node());
  b.set_node_name(c.node().name() + ".repeats");
  SV_TRY(as_int64s(b, tiles));
  SV_TRY(as_int64s(b, axis));
  const std::vector<int64_t> ones(static_cast<size_t>(data->type.shape.rank()), 1);
  Value* rest = b.constant(Tensor::of<int64_t>({data->type.shape.rank()}, std::span<const int64_t>(ones)));
  Value* one = b.integers({1});
  Value* repeats = b.add("ScatterElements", {rest, b.add("Reshape", {axis, one}), b.add("Reshape", {tiles, one})});
  SV_TRY(b.status());
  c.graph().resize_inputs(&c.node(), 2);
  c.set_input(1, repeats);
  return {};
}

Status upsample_by_factors(CanonicalizeContext& c) {
  const float *height = c.attributes().get<float>("height_scale"), *width = c.attributes().get<float>("width_scale");
  if (!height || !width) return error("attributes 'height_scale' and 'width_scale' are needed");
  c.attributes().set("scales", std::vector<float>{1, 1, *height, *width});
  c.attributes().erase("height_scale");
  c.attributes().erase("width_scale");
  if (c.attributes().get_string("mode") == "bilinear") c.attributes().set("mode", std::string("linear"));
  return {};
}

Status power_of_number(CanonicalizeContext& c) {
  const float* p = c.attributes().get<float>("p");
  if (!p) return {};
  if (*p != static_cast<float>(whole_within_limits<int16_t>(*p))) return error("p is {}; needs a whole number", *p);
  c.attributes().set("p", static_cast<int64_t>(*p));
  return {};
}

/// Fewer digits than now.
Status short_defaults(CanonicalizeContext& c) {
  if (!c.attributes().has("alpha")) c.attributes().set("alpha", 1.6732f);
  if (!c.attributes().has("gamma")) c.attributes().set("gamma", 1.0507f);
  return {};
}

/// It said whether the statistics are given; since opset 7 the number of outputs does.
Status without_mode(CanonicalizeContext& c) {
  c.attributes().erase("is_test");
  return {};
}

struct FirstForm {
  const char* op;
  int before;  // the first opset that writes it as now
  Status (*change)(CanonicalizeContext&);
};

constexpr FirstForm kFirstForms[] = {
    {"Reshape", 5, reshape_by_attribute}, {"Cast", 6, cast_to_name},         {"Pad", 2, pad_by_paddings},
    {"Split", 2, split_by_numbers},       {"Tile", 6, tile_one_axis},        {"Upsample", 7, upsample_by_factors},
    {"LpPool", 2, power_of_number},       {"GlobalLpPool", 2, power_of_number}, {"Selu", 6, short_defaults},
    {"BatchNormalization", 7, without_mode},
};

}  // namespace

Status to_canonical_form(CanonicalizeContext& c) {
  const OpDef& op = c.node().op();
  if (*op.domain == 0 && c.opset() < kOldestPlainOpset) {
    // Which inputs' memory the caller could do without.
    if (c.opset() < 6) c.attributes().erase("consumed_inputs");
    for (const FirstForm& form : kFirstForms)
      if (c.opset() < form.before && std::string_view(op.name) == form.op) SV_TRY(form.change(c));
  }
  return op.canonicalize ? op.canonicalize(c) : Status();
}

}  // namespace svengine::ops
