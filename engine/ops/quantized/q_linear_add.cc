// com.microsoft's QLinearAdd and QLinearMul: sums and products of two quantised values, broadcasting.
#include <cmath>

#include "engine/ops/broadcast.h"
#include "engine/ops/element.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/quantized/quantized_samples.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

Status infer_q_linear_binary(InferContext& c) {
  SV_TRY(require_bytes(c, 0, "A"));
  for (size_t i : {2, 3, 5, 7}) SV_TRY(require_zero_of(c, i, 0, i == 3 ? "B" : "a zero point"));
  for (size_t i : {1, 4, 6}) {
    SV_TRY(require_dtype(c, i, "a scale", {DType::f32}));
    SV_TRY(require_single(c, i, "a scale"));
  }
  for (size_t i : {2, 5, 7})
    if (c.has_input(i)) SV_TRY(require_single(c, i, "a zero point"));
  SV_ASSIGN(Shape shape, broadcast(c.shape(0), c.shape(3)));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

/// Of A, B and C: what a run knows.
struct BinaryScales {
  Numbers scale[3], zero[3];
  float scale_of(const Run& run, size_t i) const { return *run.get<const float>(scale[i].buffer); }
  int32_t zero_of(const Run& run, size_t i) const {
    return zero[i].input == kNoInput ? 0 : static_cast<int32_t>(number_at(zero[i].type, run.get<const void>(zero[i].buffer), 0));
  }
};

BinaryScales binary_scales(LowerContext& c) {
  return {{numbers_of(c, 1), numbers_of(c, 4), numbers_of(c, 6)}, {numbers_of(c, 2), numbers_of(c, 5), numbers_of(c, 7)}};
}

/// Values of the same shape, by the kernel.
void emit_flat_add(LowerContext& c) {
  kernels::QuantizedAddArgs args;
  args.count = element_count(c.out_dims()), args.is_signed = c.out_type().dtype == DType::i8;
  args.low = args.is_signed ? -128 : 0, args.high = args.is_signed ? 127 : 255;
  const auto& kernel = c.kernels().quantized->add;
  c.emit("add_quantized", kernel.tasks(args),
         [=, run_kernel = kernel.run, s = binary_scales(c), a = c.in(0), b = c.in(3), y = c.out()](const Run& run, int64_t begin,
                                                                                                   int64_t end) -> const char* {
           kernels::QuantizedAddArgs one = args;
           one.a = run.get<const void>(a), one.b = run.get<const void>(b), one.y = run.get<void>(y);
           one.a_zero = s.zero_of(run, 0), one.b_zero = s.zero_of(run, 1), one.zero = s.zero_of(run, 2);
           one.a_scale = s.scale_of(run, 0) / s.scale_of(run, 2), one.b_scale = s.scale_of(run, 1) / s.scale_of(run, 2);
           run_kernel(one, begin, end, run.scratch<void>());
           return nullptr;
         });
}

/// Where the elements of a broadcast operand lie, line by line of the last dimension.
struct Lines {
  Dims dims;
  std::vector<int64_t> a, b;
  int64_t length = 1;
  int64_t start(const std::vector<int64_t>& strides, int64_t line) const {
    int64_t at = 0;
    for (size_t i = dims.empty() ? 0 : dims.size() - 1; i-- > 0; line /= dims[i]) at += line % dims[i] * strides[i];
    return at;
  }
};

template <class T, bool kMultiply>
void combine_line(const T* a, int64_t a_step, const T* b, int64_t b_step, T* y, int64_t count, const BinaryScales& s, const Run& run) {
  const float a_zero = static_cast<float>(s.zero_of(run, 0)), b_zero = static_cast<float>(s.zero_of(run, 1)),
              zero = static_cast<float>(s.zero_of(run, 2));
  const float a_scale = s.scale_of(run, 0), b_scale = s.scale_of(run, 1), scale = s.scale_of(run, 2);
  const float low = static_cast<float>(std::numeric_limits<T>::lowest()), high = static_cast<float>(std::numeric_limits<T>::max());
  const float product = a_scale * b_scale / scale, a_factor = a_scale / scale, b_factor = b_scale / scale;
  for (int64_t i = 0; i < count; ++i) {
    const float p = static_cast<float>(a[i * a_step]) - a_zero, q = static_cast<float>(b[i * b_step]) - b_zero;
    const float x = std::nearbyint(kMultiply ? p * q * product : p * a_factor + q * b_factor) + zero;
    y[i] = static_cast<T>(static_cast<int32_t>(std::min(std::max(low, x), high)));  // NaN, of a scale that is none, is low, as by the kernel
  }
}

template <bool kMultiply>
Status lower_q_linear_binary(LowerContext& c) {
  const Dims a = c.in_dims(0), b = c.in_dims(3), y = c.out_dims();
  if (element_count(y) == 0) return {};
  if (!kMultiply && a == y && b == y) {
    emit_flat_add(c);
    return {};
  }
  Lines lines{y, broadcast_strides(a, y), broadcast_strides(b, y), y.empty() ? 1 : y.back()};
  c.emit(kMultiply ? "mul_quantized" : "add_quantized", element_count(y) / lines.length,
         [=, s = binary_scales(c), from_a = c.in(0), from_b = c.in(3), to = c.out(), is_signed = c.out_type().dtype == DType::i8](
             const Run& run, int64_t begin, int64_t end) -> const char* {
           const int64_t a_step = y.empty() ? 0 : lines.a.back(), b_step = y.empty() ? 0 : lines.b.back();
           const auto go = [&]<class T>() {
             for (int64_t line = begin; line < end; ++line)
               combine_line<T, kMultiply>(run.get<const T>(from_a) + lines.start(lines.a, line), a_step,
                                          run.get<const T>(from_b) + lines.start(lines.b, line), b_step,
                                          run.get<T>(to) + line * lines.length, lines.length, s, run);
           };
           is_signed ? go.template operator()<int8_t>() : go.template operator()<uint8_t>();
           return nullptr;
         });
  return {};
}

std::vector<Sample> q_binary_samples() {
  const auto inputs = [](SampleInput a, SampleInput b, SampleInput zero) {
    return std::vector<SampleInput>{std::move(a), scale(), zero, std::move(b), scale(), zero, scale(0.1, 0.2), zero};
  };
  return {{.inputs = inputs(u8({3, 70}), u8({3, 70}), u8({}))},
          {.inputs = inputs(i8({1}), i8({1}), i8({}))},
          {.inputs = inputs(u8({2, 3, 5}), u8({3, 1}), u8({1}))},
          {.inputs = inputs(i8({}), i8({4, 5}), i8({}))}};
}

OpDef q_linear_binary(const char* name, Status (*lower)(LowerContext&)) {
  return {.name = name,
          .domain = kMicrosoftDomain,
          .until = 1,
          .inputs = {7, 8},
          .infer = infer_q_linear_binary,
          .lower = lower,
          .samples = q_binary_samples()};
}

}  // namespace

OpDef define_q_linear_add() { return q_linear_binary("QLinearAdd", lower_q_linear_binary<false>); }

OpDef define_q_linear_mul() { return q_linear_binary("QLinearMul", lower_q_linear_binary<true>); }

}  // namespace svengine::ops
