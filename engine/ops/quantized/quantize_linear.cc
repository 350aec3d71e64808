// QuantizeLinear: y = saturate(round(x / scale) + zero_point), for the whole tensor, each index of an axis, or blocks along it. The type of y
// is the zero point's, or `output_dtype`, or uint8; the quotient is rounded to `precision`, or to the scale's type.
#include <cmath>

#include "engine/base/round.h"
#include "engine/kernels/quantized.h"
#include "engine/ops/convert/small_cast_common.h"
#include "engine/ops/element.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/quantized/quantize_common.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kQuantizeScales = kQuantizableTypes | DTypeSet{DType::f8e8m0};
constexpr DTypeSet kPrecisions{DType::undefined, DType::f32, DType::f16, DType::bf16};

Status infer_quantize_linear(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kQuantizableTypes));
  SV_TRY(require_dtype(c, 1, kQuantizeScales));
  SV_TRY(require_dtype(c, 2, kQuantizedTypes));
  SV_ASSIGN(const DType wanted, dtype_attribute(c.attributes(), "output_dtype", DType::undefined, kQuantizedTypes | DTypeSet{DType::undefined}));
  const DType out = c.has_input(2) ? c.dtype(2) : wanted == DType::undefined ? DType::u8 : wanted;
  if (wanted != DType::undefined && wanted != out)
    return error("output_dtype is {}, the zero point {}; needs one type", name_of(wanted), name_of(out));
  SV_TRY(dtype_attribute(c.attributes(), "precision", DType::undefined, kPrecisions));
  SV_TRY(check_granularity(c));
  c.set(0, out, c.shape(0));
  return {};
}

float rounded_to(DType type, double value) {
  if (type == DType::f16) return half_to_float(float_to_half(static_cast<float>(value)));
  if (type == DType::bf16) return bfloat_to_float(float_to_bfloat(static_cast<float>(value)));
  return static_cast<float>(value);
}

struct Quantization {
  Buffer x, scale, zero, y;
  DType x_type, scale_type, out_type, precision;
  QuantizedRows rows;
  ByteFloatRules rules;
  const kernels::QuantizedKernels* kernels;
};

/// Limits of an integer type.
struct Limits {
  double low, high;
};
Limits limits_of(DType type) {
  switch (type) {
    case DType::i8: return {-128, 127};
    case DType::i16: return {-32768, 32767};
    case DType::u16: return {0, 65535};
    case DType::u4: return {0, 15};
    case DType::i4: return {-8, 7};
    case DType::u2: return {0, 3};
    case DType::i2: return {-2, 1};
    default: return {0, 255};
  }
}

/// Any types, an element at a time.
void quantize_any(const Quantization& q, const Run& run, const QuantizedRow& row) {
  const auto *x = run.get<const std::byte>(q.x), *scale = run.get<const std::byte>(q.scale), *zero = run.get<const std::byte>(q.zero);
  std::byte* y = run.get<std::byte>(q.y);
  const Limits limits = limits_of(q.out_type);
  const size_t size = size_of(q.out_type);
  for (int64_t i = 0; i < row.length; ++i) {
    const int64_t at = row.begin + i, s = row.scale + i * row.scale_stride;
    const float quotient = rounded_to(q.precision, static_cast<double>(rounded_to(q.precision, number_at(q.x_type, x, at)) /
                                                                      rounded_to(q.precision, number_at(q.scale_type, scale, s))));
    const double offset = zero ? number_at(q.out_type, zero, s) : 0;
    if (is_byte_float(q.out_type)) {
      y[at] = static_cast<std::byte>(to_byte_float(q.out_type, static_cast<double>(quotient) + offset, q.rules));
      continue;
    }
    const double level = std::nearbyint(static_cast<double>(quotient)) + offset;
    const auto whole = static_cast<int32_t>(std::min(std::max(limits.low, level), limits.high));  // NaN is low, as by the kernel
    std::memcpy(y + static_cast<size_t>(at) * size, &whole, size);
  }
}

/// By the kernel: float32 to whole numbers of 8 or 16 bits.
bool by_kernel(const Quantization& q) {
  const bool bytes = q.out_type == DType::i8 || q.out_type == DType::u8 || q.out_type == DType::i16 || q.out_type == DType::u16;
  return bytes && q.x_type == DType::f32 && q.scale_type == DType::f32 && q.precision == DType::f32;
}

/// Of one scale for all.
void emit_one_scale(LowerContext& c, const Quantization& q) {
  kernels::QuantizeArgs args;
  args.count = element_count(c.out_dims()), args.type = *kernel_type(q.out_type);
  emit_kernel(c, "quantize", c.kernels().quantized->quantize, args, [=](kernels::QuantizeArgs& a, const Run& run) {
    a.x = run.get<const float>(q.x), a.y = run.get<void>(q.y), a.scale = run.get<const float>(q.scale), a.zero = run.get<const void>(q.zero);
  });
}

/// Row by row of one scale, or of one for each element.
void emit_rows(LowerContext& c, const Quantization& q) {
  const int64_t each = q.rows.rows_per_task(), size = static_cast<int64_t>(size_of(q.out_type));
  c.emit("quantize_linear", ceil_div(q.rows.count(), each), [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    const std::byte* zero = run.get<const std::byte>(q.zero);
    const kernels::QuantizeArgs args{.type = *kernel_type(q.out_type)};
    const int64_t last = std::min(q.rows.count(), end * each);
    run_rows(q.kernels->quantize, args, q.rows, begin * each, last, [&](kernels::QuantizeArgs& a, const QuantizedRow& row) {
      a.x = run.get<const float>(q.x) + row.begin, a.y = run.get<std::byte>(q.y) + row.begin * size;
      a.scale = run.get<const float>(q.scale) + row.scale, a.zero = zero ? zero + row.scale * size : nullptr;
    });
    return nullptr;
  });
}

void emit_any(LowerContext& c, const Quantization& q) {
  const int64_t each = q.rows.rows_per_task();
  c.emit("quantize_linear_any", ceil_div(q.rows.count(), each), [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    const int64_t last = std::min(q.rows.count(), end * each);
    for (int64_t i = begin * each; i < last; ++i) quantize_any(q, run, q.rows.row(i));
    return nullptr;
  });
}

Status lower_quantize_linear(LowerContext& c) {
  Quantization q{.x = c.in(0),
                 .scale = c.in(1),
                 .zero = c.has_input(2) ? c.in(2) : Buffer(),
                 .y = c.out(),
                 .x_type = c.in_type(0).dtype,
                 .scale_type = c.in_type(1).dtype,
                 .out_type = c.out_type().dtype,
                 .precision = DType::f32,
                 .rows = {},
                 .rules = {},
                 .kernels = c.kernels().quantized};
  q.rules.saturate = c.attributes().get_int("saturate", 1) != 0;
  const DType precision = c.attributes().get_dtype("precision", DType::undefined);
  if (precision != DType::undefined) q.precision = precision;
  else if (q.scale_type == DType::f16 || q.scale_type == DType::bf16) q.precision = q.scale_type;
  SV_ASSIGN(q.rows, rows_of(c));
  if (by_kernel(q) && element_count(c.in_dims(1)) == 1)
    emit_one_scale(c, q);
  else if (by_kernel(q))
    emit_rows(c, q);
  else
    emit_any(c, q);
  return {};
}

}  // namespace

OpDef define_quantize_linear() {
  return {
      .name = "QuantizeLinear",
      .since = 10,
      .inputs = "x, y_scale, y_zero_point?",
      .attributes = {{"axis", AttributeKind::kInt, false, 1},
                     {"saturate", AttributeKind::kInt, false, 1},
                     {"block_size", AttributeKind::kInt, false, 0},
                     {"output_dtype", AttributeKind::kInt, false, 0},
                     {"precision", AttributeKind::kInt, false, 0}},
      .infer = infer_quantize_linear,
      .lower = lower_quantize_linear,
      .kernel_types = kDenseTypes,
      .traits = {.transposed = transposed_quantization},
      .samples = "(float32[2, 3, 37] -60 to 60, float32[] 0.2 to 0.9, uint8[] 0 to 255)"
                 "(float32[2, 3, 37] -60 to 60, float32[3] 0.2 to 0.9, int8[3] -9 to 9)"
                 "(float32[5, 18] -60 to 60, float32[18] 0.2 to 0.9) {axis = -1}"
                 "(float32[4, 18] -60 to 60, float32[4, 5] 0.2 to 0.9, int8[4, 5] -9 to 9) {block_size = 4}"
                 "(float32[7, 3] -60 to 60, float32[3, 3] 0.2 to 0.9) {axis = 0, block_size = 3, output_dtype = 5}"
                 "(float32[33] -60 to 60, float32[] 0.2 to 0.9) {output_dtype = 17}"
                 "(float32[33] -60 to 60, float32[1] 0.2 to 0.9) {output_dtype = 22, precision = 10}"
                 "(int32[9] -500 to 500, float32[] 0.5 to 2) {output_dtype = 4}",
  };
}

}  // namespace svengine::ops
