// DequantizeLinear: y = (x - zero_point) * scale, for the whole tensor, each index of an axis, or blocks along it. The type of y is
// `output_dtype` or the scale's.
#include "engine/base/round.h"
#include "engine/graph/gradient.h"
#include "engine/ops/convert/small_cast_common.h"
#include "engine/ops/element.h"
#include "engine/ops/quantized/quantize_common.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kDequantizableTypes = kQuantizedTypes | DTypeSet{DType::i32};
constexpr DTypeSet kDequantizedTypes{DType::f32, DType::f16, DType::bf16};

Status infer_dequantize_linear(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kDequantizableTypes));
  SV_TRY(require_dtype(c, 1, kDequantizedTypes | DTypeSet{DType::f8e8m0}));
  if (c.has_input(2) && c.dtype(2) != c.dtype(0))
    return error("the zero point is {}, x is {}; needs one type", name_of(c.dtype(2)), name_of(c.dtype(0)));
  SV_ASSIGN(const DType wanted, dtype_attribute(c.attributes(), "output_dtype", DType::undefined, kDequantizedTypes | DTypeSet{DType::undefined}));
  const DType out = wanted == DType::undefined ? c.dtype(1) : wanted;
  if (!kDequantizedTypes.has(out))
    return error("the output would be {}; output_dtype has to be one of {}", name_of(out), to_string(kDequantizedTypes));
  SV_TRY(check_granularity(c));
  c.set(0, out, c.shape(0));
  return {};
}

struct Dequantization {
  Buffer x, scale, zero, y;
  DType x_type, scale_type, out_type;
  QuantizedRows rows;
};

void dequantize_any(const Dequantization& d, const Run& run, const QuantizedRow& row) {
  const auto *x = run.get<const std::byte>(d.x), *scale = run.get<const std::byte>(d.scale), *zero = run.get<const std::byte>(d.zero);
  std::byte* y = run.get<std::byte>(d.y);
  for (int64_t i = 0; i < row.length; ++i) {
    const int64_t at = row.begin + i, s = row.scale + i * row.scale_stride;
    const double offset = zero ? number_at(d.x_type, zero, s) : 0;
    const float value = static_cast<float>(number_at(d.x_type, x, at) - offset) * static_cast<float>(number_at(d.scale_type, scale, s));
    if (d.out_type == DType::f32) reinterpret_cast<float*>(y)[at] = value;
    else reinterpret_cast<uint16_t*>(y)[at] = d.out_type == DType::f16 ? float_to_half(value) : float_to_bfloat(value);
  }
}

/// By the kernel: whole numbers of at most 16 bits, or of 32 bits without a zero point, with which a difference may need 33.
bool by_kernel(const Dequantization& d, bool has_zero) {
  if (d.scale_type != DType::f32 || d.out_type != DType::f32) return false;
  return d.x_type == DType::i32 ? !has_zero : kernel_type(d.x_type).has_value();
}

void emit_rows(LowerContext& c, const Dequantization& d) {
  const auto& kernel = c.kernels().quantized->dequantize;
  const int64_t each = d.rows.rows_per_task(), size = static_cast<int64_t>(size_of(d.x_type));
  c.emit("dequantize_linear", ceil_div(d.rows.count(), each), [=, &kernel](const Run& run, int64_t begin, int64_t end) -> const char* {
    const std::byte* zero = run.get<const std::byte>(d.zero);
    const kernels::DequantizeArgs args{.type = *kernel_type(d.x_type)};
    const int64_t last = std::min(d.rows.count(), end * each);
    run_rows(kernel, args, d.rows, begin * each, last, [&](kernels::DequantizeArgs& a, const QuantizedRow& row) {
      a.x = run.get<const std::byte>(d.x) + row.begin * size, a.y = run.get<float>(d.y) + row.begin;
      a.scale = run.get<const float>(d.scale) + row.scale, a.zero = zero ? zero + row.scale * size : nullptr;
    });
    return nullptr;
  });
}

Status lower_dequantize_linear(LowerContext& c) {
  Dequantization d{.x = c.in(0), .scale = c.in(1), .zero = c.has_input(2) ? c.in(2) : Buffer(), .y = c.out(), .x_type = c.in_type(0).dtype,
                   .scale_type = c.in_type(1).dtype, .out_type = c.out_type().dtype, .rows = {}};
  SV_ASSIGN(d.rows, rows_of(c));
  if (by_kernel(d, c.has_input(2))) {
    emit_rows(c, d);
    return {};
  }
  const int64_t each = d.rows.rows_per_task();
  c.emit("dequantize_linear_any", ceil_div(d.rows.count(), each), [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    const int64_t last = std::min(d.rows.count(), end * each);
    for (int64_t i = begin * each; i < last; ++i) dequantize_any(d, run, d.rows.row(i));
    return nullptr;
  });
  return {};
}

/// What the elements of one scale add up to: of one number, of an axis, or of blocks along it, the last of which may be cut.
Result<Value*> sum_for_scale(GradientContext& c, Value* v) {
  const Shape &x = c.input(0)->type.shape, &scale = c.input(1)->type.shape;
  if (!x.is_static() || !scale.is_static()) return error("the gradient needs known shapes, x is {} and the scale {}", to_string(x), to_string(scale));
  const Dims dims = *x.concrete();
  const auto rank = static_cast<int64_t>(dims.size());
  const auto list = [&](const Dims& values) {
    return c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)));
  };
  const int64_t block = c.attributes().get_int("block_size"), given = c.attributes().get_int("axis", 1), axis = given < 0 ? given + rank : given;
  Dims over;
  if (block == 0 || scale.rank() < rank) {
    const bool one = element_count(*scale.concrete()) == 1;
    for (int64_t i = 0; i < rank; ++i)
      if (one || i != axis) over.push_back(i);
    if (over.empty()) return c.reshape_to(v, c.input(1));
  } else {
    const auto a = static_cast<size_t>(axis);
    Dims blocks = dims, pads(2 * dims.size(), 0);
    pads[dims.size() + a] = scale[a].value() * block - dims[a];
    if (pads[dims.size() + a] > 0) v = c.op("Pad", {v, list(pads)});
    blocks[a] = scale[a].value();
    blocks.insert(blocks.begin() + axis + 1, block);
    v = c.op("Reshape", {v, list(blocks)}, make_attributes({{"allowzero", int64_t{1}}}));
    over = {axis + 1};
  }
  return c.reshape_to(c.op("ReduceSum", {v, list(over)}, make_attributes({{"keepdims", int64_t{0}}})), c.input(1));
}

/// By the scale, where y is of its type: every x - zero_point, which scales of 1 give. x is whole numbers.
Status dequantize_linear_gradient(GradientContext& c) {
  if (!c.wants(1)) return {};
  if (c.dy()->type.dtype != c.input(1)->type.dtype)
    return error("y is {} and the scale {}; the gradient is for one type", name_of(c.dy()->type.dtype), name_of(c.input(1)->type.dtype));
  std::vector<Value*> inputs{c.input(0), filled_like(c.builder(), c.input(1), 1)};
  if (c.input(2)) inputs.push_back(c.input(2));
  Value* steps = c.op("DequantizeLinear", std::move(inputs), c.attributes());
  SV_ASSIGN(Value * sum, sum_for_scale(c, c.op("Mul", {c.dy(), steps})));
  c.set(1, sum);
  return {};
}

}  // namespace

OpDef define_dequantize_linear() {
  return {
      .name = "DequantizeLinear",
      .since = 10,
      .inputs = "x, x_scale, x_zero_point?",
      .attributes = {{"axis", AttributeKind::kInt, false, 1},
                     {"block_size", AttributeKind::kInt, false, 0},
                     {"output_dtype", AttributeKind::kInt, false, 0}},
      .infer = infer_dequantize_linear,
      .lower = lower_dequantize_linear,
      .kernel_types = kDenseTypes,
      .gradient = dequantize_linear_gradient,
      .traits = {.transposed = transposed_quantization},
      .samples = "(uint8[2, 3, 37] 0 to 255, float32[] 0.2 to 0.9, uint8[] 0 to 255)"
                 "(int8[2, 3, 37] -128 to 127, float32[3] 0.2 to 0.9, int8[3] -9 to 9)"
                 "(int32[2, 18] -1000 to 1000, float32[18] 0.2 to 0.9) {axis = -1}"
                 "(int16[4, 18] -999 to 999, float32[4, 5] 0.2 to 0.9, int16[4, 5] -9 to 9) {block_size = 4}"
                 "(uint16[7, 3] 0 to 999, float32[3, 3] 0.2 to 0.9) {axis = 0, block_size = 3}",
  };
}

}  // namespace svengine::ops
