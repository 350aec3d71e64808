// com.microsoft's operators that became ai.onnx's: QuantizeLinear and DequantizeLinear (for types that ai.onnx's had not yet), Trilu,
// Unique, GridSample, ExpandDims; Range, Pad and GatherND, which are ai.onnx's from import on.
#include "engine/ops/element.h"
#include "engine/ops/microsoft/microsoft_common.h"
#include "engine/ops/registry.h"

namespace svengine::ops {

OpDef define_range();
OpDef define_gather_nd();

namespace {

/// What ai.onnx's operator of that name infers of the same inputs and attributes.
Status infer_same(InferContext& c) { return all_ops().find("", c.node().op().name)->infer(c); }

Status expand_same(ExpandContext& c) {
  c.set(0, c.op(c.node().op().name, c.node().inputs(), c.attributes()));
  return {};
}

OpDef same_as_onnx(const char* name, OpInputs inputs, std::vector<AttributeDef> attributes, std::string samples) {
  return {.name = name,
          .domain = kMicrosoftDomain,
          .until = 1,
          .inputs = inputs,
          .attributes = std::move(attributes),
          .expand = expand_same,
          .infer = infer_same,
          .samples = std::move(samples)};
}

constexpr DTypeSet kUniqueTypes = kNumericTypes | DTypeSet{DType::string};

/// Values as they come, where each element of X is among them, how often each is there.
Status infer_unique_values(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kUniqueTypes));
  SV_TRY(require_rank(c, 0, 1));
  c.set(0, c.dtype(0), unknown_dims(1));
  c.set(1, DType::i64, c.shape(0).has_rank() ? c.shape(0) : unknown_dims(1));
  c.set(2, DType::i64, unknown_dims(1));
  return {};
}

Status expand_unique_values(ExpandContext& c) {
  const Node* node = c.builder().node("", "Unique", {c.input(0)}, 4, make_attributes({{"sorted", int64_t{0}}}));
  if (!node) return {};
  c.set(0, node->output(0)), c.set(1, node->output(2)), c.set(2, node->output(3));
  return {};
}

/// The names that ai.onnx's GridSample has for them since opset 20.
std::string sampling_mode(const Attributes& attributes) {
  const std::string mode = attributes.get_string("mode", "bilinear");
  return mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode;
}

Status infer_runtime_grid_sample(InferContext& c) {
  const std::string mode = sampling_mode(c.attributes()), padding = c.attributes().get_string("padding_mode", "zeros");
  if (mode != "linear" && mode != "cubic" && mode != "nearest") return error("mode is '{}', must be bilinear, nearest or bicubic", mode);
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    return error("padding_mode is '{}', must be zeros, border or reflection", padding);
  SV_TRY(require_rank(c, 0, 4));
  SV_TRY(require_rank(c, 1, 4));
  const Shape &x = c.shape(0), &grid = c.shape(1);
  if (x.has_rank() && grid.has_rank() && known_different(x[0], grid[0]))
    return error("X {} and Grid {} need the same first dimension", to_string(x), to_string(grid));
  if (grid.has_rank() && known_different(grid[3], Dim(2))) return error("Grid is {}, its last dimension must be 2", to_string(grid));
  c.set(0, c.dtype(0), Shape{x.has_rank() ? x[0] : Dim(), x.has_rank() ? x[1] : Dim(), grid.has_rank() ? grid[1] : Dim(),
                             grid.has_rank() ? grid[2] : Dim()});
  return {};
}

Status expand_runtime_grid_sample(ExpandContext& c) {
  Attributes attributes = c.attributes();
  attributes.set("mode", sampling_mode(c.attributes()));
  c.set(0, c.op("GridSample", c.node().inputs(), std::move(attributes)));
  return {};
}

Status infer_expand_dims(InferContext& c) {
  SV_TRY(require_dtype(c, 1, {DType::i32}));
  SV_TRY(require_single(c, 1));
  const auto axis = c.integers(1);
  if (!axis || !c.shape(0).has_rank()) return c.set(0, c.dtype(0), c.shape(0).has_rank() ? unknown_dims(c.shape(0).rank() + 1) : Shape()), Status{};
  const int64_t rank = c.shape(0).rank() + 1, at = (*axis)[0] < 0 ? (*axis)[0] + rank : (*axis)[0];
  if (at < 0 || at >= rank) return error("axis is {}, must be in [{}, {})", (*axis)[0], -rank, rank);
  std::vector<Dim> dims = c.shape(0).dims();
  dims.insert(dims.begin() + at, Dim(1));
  c.set(0, c.dtype(0), Shape(std::move(dims)));
  return {};
}

Status expand_expand_dims(ExpandContext& c) {
  c.set(0, c.op("Unsqueeze", {c.input(0), c.reshape(c.cast(c.input(1), DType::i64), {1})}));
  return {};
}

/// The node is ai.onnx's operator of that name from here on.
Status take_onnx_operator(CanonicalizeContext& c) {
  c.graph().set_op(&c.node(), *c.ops().find("", c.node().op().name));
  return {};
}

/// delta may be absent: 1.
Status canonicalize_runtime_range(CanonicalizeContext& c) {
  constexpr DTypeSet kRangeTypes = kRealTypes | kIndexTypes | DTypeSet{DType::i16};
  const Value* start = c.node().input(0);
  if (!c.node().input(2) && start && kRangeTypes.has(start->type.dtype))
    c.set_input(2, c.graph().add_constant(c.node().name() + ".delta", scalar_of(start->type.dtype, 1)));
  return take_onnx_operator(c);
}

/// pads may be a matrix of one row.
Status canonicalize_runtime_pad(CanonicalizeContext& c) {
  Value* pads = c.node().input(1);
  if (pads && pads->type.shape.has_rank() && pads->type.shape.rank() == 2 && pads->type.shape[0].same(Dim(1))) {
    Builder b(c.graph(), c.ops());
    b.set_position(&c.node());
    c.set_input(1, b.add("Squeeze", {pads, b.constant(Tensor::of<int64_t>({1}, {0}))}));
    SV_TRY(Status(b.status()));
  }
  return take_onnx_operator(c);
}

/// Indices may be of 32 bits.
Status canonicalize_runtime_gather(CanonicalizeContext& c) {
  Value* indices = c.node().input(1);
  if (indices && indices->type.dtype == DType::i32) {
    Builder b(c.graph(), c.ops());
    b.set_position(&c.node());
    c.set_input(1, b.add("Cast", {indices}, make_attributes({{"to", static_cast<int64_t>(DType::i64)}})));
    SV_TRY(Status(b.status()));
  }
  return take_onnx_operator(c);
}

}  // namespace

OpDef define_microsoft_range() {
  OpDef op = same_as_onnx("Range", "start, limit, delta?", {}, "(int64[]{2}, int64[]{9}, int64[]{3})");
  op.canonicalize = canonicalize_runtime_range;
  op.types = define_range().types;
  op.traits.shape_inputs = {0, 1, 2};
  return op;
}

OpDef define_microsoft_pad() {
  OpDef op = same_as_onnx("Pad", "data, pads, value?", {{"mode", AttributeKind::kString, false, "constant"}},
                          "(float32[3, 5], int64[4]{1, 2, 0, 3}, float32[1]{1.5})"
                          R"((float32[4, 5], int64[4]{1, 0, 2, 2}) {mode = "edge"})");
  op.canonicalize = canonicalize_runtime_pad;
  op.types = {{"T", {DType::f16, DType::f32, DType::f64}, {0, 2}}, {"pads", DTypeSet{DType::i64}, {1}}};
  op.traits.shape_inputs = {1};
  return op;
}

OpDef define_microsoft_gather_nd() {
  OpDef op = same_as_onnx("GatherND", "data, indices", {}, "(float32[3, 4, 5], int64[5, 2] 0 to 3)");
  op.canonicalize = canonicalize_runtime_gather;
  op.types = define_gather_nd().types;
  return op;
}

OpDef define_microsoft_quantize_linear() {
  OpDef op = same_as_onnx("QuantizeLinear", "x, y_scale, y_zero_point?", {{"axis", AttributeKind::kInt, false, 1}},
                      "(float32[3, 4], float32[] 0.01 to 0.1, uint8[] 0 to 256)"
                      "(float32[3, 4], float32[3] 0.01 to 0.1, int16[3] -9 to 9) {axis = 0}"
                      "(float16[1], float16[] 0.1 to 0.5)");
  op.types = {{"T1", {DType::f16, DType::f32}, {0, 1}}};
  return op;
}

OpDef define_microsoft_dequantize_linear() {
  return same_as_onnx("DequantizeLinear", "x, x_scale, x_zero_point?", {{"axis", AttributeKind::kInt, false, 1}},
                      "(uint8[3, 4] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256)"
                      "(uint16[3, 4] 0 to 999, float32[4] 0.01 to 0.1, uint16[4] 0 to 9)"
                      "(int32[1] -99 to 99, float32[] 0.01 to 0.1)");
}

OpDef define_microsoft_trilu() {
  OpDef op = same_as_onnx("Trilu", "X, k?", {{"upper", AttributeKind::kInt, false, 1}},
                          "(float32[2, 3, 4])"
                          "(int64[3, 3], int64[]{-1}) {upper = 0}");
  op.types = {{"T", kNumericTypes | kBool, {0}}};
  return op;
}

OpDef define_microsoft_unique() {
  return {.name = "Unique",
          .domain = kMicrosoftDomain,
          .until = 1,
          .inputs = "x",
          .outputs = {3, 3},
          .expand = expand_unique_values,
          .infer = infer_unique_values,
          .samples = "(float32[6]{2.0, 1.0, 1.0, 3.0, 4.0, 3.0}) 3"};
}

OpDef define_microsoft_grid_sample() {
  OpDef op = same_as_onnx("GridSample", "X, Grid",
                          {{"mode", AttributeKind::kString, false, "bilinear"},
                           {"padding_mode", AttributeKind::kString, false, "zeros"},
                           {"align_corners", AttributeKind::kInt, false, 0}},
                          "(float32[2, 3, 5, 4], float32[2, 3, 2, 2] -1.2 to 1.2)"
                          R"((float32[1, 1, 4, 4], float32[1, 2, 2, 2] -1.2 to 1.2) {mode = "bicubic", padding_mode = "border"})");
  op.infer = infer_runtime_grid_sample;
  op.types = {{"T1", {DType::f16, DType::f32, DType::f64}, {0, 1}}};
  op.expand = expand_runtime_grid_sample;
  op.tolerance = {.rtol = 1e-4, .atol = 1e-5};
  return op;
}

OpDef define_microsoft_expand_dims() {
  return {.name = "ExpandDims",
          .domain = kMicrosoftDomain,
          .until = 1,
          .inputs = "X, axis",
          .expand = expand_expand_dims,
          .infer = infer_expand_dims,
          .traits = {.shape_inputs = {1}},
          .samples = "(float32[2, 3], int32[]{1})"
                     "(int64[2], int32[]{-1})"};
}

}  // namespace svengine::ops
