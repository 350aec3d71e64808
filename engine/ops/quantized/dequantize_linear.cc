// DequantizeLinear: y = (x - zero_point) * scale, for the whole tensor, each index of an axis, or blocks along it. The type of y is
// `output_dtype` or the scale's.
#include "engine/base/round.h"
#include "engine/ops/convert/small_cast_common.h"
#include "engine/ops/element.h"
#include "engine/ops/quantized/quantize_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kDequantizableTypes = kQuantizedTypes | DTypeSet{DType::i32};
constexpr DTypeSet kDequantizedTypes{DType::f32, DType::f16, DType::bf16};

Status infer_dequantize_linear(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "x", kDequantizableTypes));
  SV_TRY(require_dtype(c, 1, "x_scale", kDequantizedTypes | DTypeSet{DType::f8e8m0}));
  if (c.has_input(2) && c.dtype(2) != c.dtype(0))
    return error("the zero point is {}, x is {}; needs one type", name_of(c.dtype(2)), name_of(c.dtype(0)));
  const int64_t wanted = c.attributes().get_int("output_dtype");
  const DType out = wanted == 0 ? c.dtype(1) : static_cast<DType>(wanted);
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

template <class T>
void dequantize_span(const T* x, float scale, int32_t zero, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + kVectorPiece <= n; i += kVectorPiece) {
    const T* __restrict from = x + i;
    float* __restrict to = y + i;
    for (int64_t j = 0; j < kVectorPiece; ++j) to[j] = static_cast<float>(from[j] - zero) * scale;
  }
  for (; i < n; ++i) y[i] = static_cast<float>(x[i] - zero) * scale;
}

template <class T>
void dequantize_to_floats(const Dequantization& d, const Run& run, const QuantizedRow& row) {
  const T *x = run.get<const T>(d.x) + row.begin, *zero = run.get<const T>(d.zero);
  const float* scale = run.get<const float>(d.scale) + row.scale;
  float* y = run.get<float>(d.y) + row.begin;
  if (zero) zero += row.scale;
  if (row.scale_stride == 0) {
    dequantize_span(x, *scale, zero ? *zero : 0, y, row.length);
  } else {
    for (int64_t i = 0; i < row.length; ++i) y[i] = static_cast<float>(x[i] - (zero ? zero[i] : 0)) * scale[i];
  }
}

using DequantizeRow = void (*)(const Dequantization&, const Run&, const QuantizedRow&);

DequantizeRow find_dequantize(const Dequantization& d) {
  if (d.scale_type != DType::f32 || d.out_type != DType::f32) return dequantize_any;
  switch (d.x_type) {
    case DType::i8: case DType::i4: case DType::i2: return dequantize_to_floats<int8_t>;
    case DType::u8: case DType::u4: case DType::u2: return dequantize_to_floats<uint8_t>;
    case DType::i16: return dequantize_to_floats<int16_t>;
    case DType::u16: return dequantize_to_floats<uint16_t>;
    default: return dequantize_any;
  }
}

Status lower_dequantize_linear(LowerContext& c) {
  Dequantization d{.x = c.in(0), .scale = c.in(1), .zero = c.has_input(2) ? c.in(2) : Buffer(), .y = c.out(), .x_type = c.in_type(0).dtype,
                   .scale_type = c.in_type(1).dtype, .out_type = c.out_type().dtype, .rows = {}};
  SV_ASSIGN(d.rows, rows_of(c));
  const int64_t each = d.rows.rows_per_task();
  const DequantizeRow dequantize = find_dequantize(d);
  c.emit(dequantize == dequantize_any ? "dequantize_linear_any" : "dequantize_linear", ceil_div(d.rows.count(), each),
         [d, each, dequantize](const Run& run, int64_t begin, int64_t end) -> const char* {
           const int64_t last = std::min(d.rows.count(), end * each);
           for (int64_t i = begin * each; i < last; ++i) dequantize(d, run, d.rows.row(i));
           return nullptr;
         });
  return {};
}

SampleInput levels(DType type, Dims dims, double low, double high) { return any(type, std::move(dims), low, high); }

}  // namespace

OpDef define_dequantize_linear() {
  return {
      .name = "DequantizeLinear",
      .since = 10,
      .inputs = {2, 3},
      .attributes = {{"axis", AttributeKind::kInt, false, integer(1)},
                     {"block_size", AttributeKind::kInt, false, integer(0)},
                     {"output_dtype", AttributeKind::kInt, false, integer(0)}},
      .infer = infer_dequantize_linear,
      .lower = lower_dequantize_linear,
      .kernel_types = kDenseTypes,
      .samples = {{.inputs = {levels(DType::u8, {2, 3, 37}, 0, 255), f32({}, 0.2, 0.9), levels(DType::u8, {}, 0, 255)}},
                  {.inputs = {levels(DType::i8, {2, 3, 37}, -128, 127), f32({3}, 0.2, 0.9), levels(DType::i8, {3}, -9, 9)}},
                  {.inputs = {levels(DType::i32, {2, 18}, -1000, 1000), f32({18}, 0.2, 0.9)}, .attributes = {{"axis", integer(-1)}}},
                  {.inputs = {levels(DType::i16, {4, 18}, -999, 999), f32({4, 5}, 0.2, 0.9), levels(DType::i16, {4, 5}, -9, 9)},
                   .attributes = {{"block_size", integer(4)}}},
                  {.inputs = {levels(DType::u16, {7, 3}, 0, 999), f32({3, 3}, 0.2, 0.9)},
                   .attributes = {{"axis", integer(0)}, {"block_size", integer(3)}}}},
  };
}

}  // namespace svengine::ops
