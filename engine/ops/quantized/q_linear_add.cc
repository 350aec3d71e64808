// com.microsoft's QLinearAdd and QLinearMul: sums and products of two quantised values, broadcasting.
#include <algorithm>

#include "engine/ops/broadcast.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

Status infer_q_linear_binary(InferContext& c) {
  for (size_t i : {1, 4, 6}) SV_TRY(require_single(c, i));
  for (size_t i : {2, 5, 7}) SV_TRY(require_single(c, i));
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

/// Where the elements of broadcast operands lie, line by line of the last dimension, which is as long as they step through it evenly.
struct BinaryLines {
  Dims dims;
  std::vector<int64_t> a, b;

  BinaryLines(const Dims& a_dims, const Dims& b_dims, const Dims& y)
      : dims(y), a(broadcast_strides(a_dims, y)), b(broadcast_strides(b_dims, y)) {
    merge_walks(dims, a, b);
    if (dims.empty()) dims = {1}, a = {1}, b = {1};
  }
  int64_t length() const { return dims.back(); }
  int64_t start(const std::vector<int64_t>& strides, int64_t line) const {
    int64_t at = 0;
    for (size_t i = dims.size() - 1; i-- > 0; line /= dims[i]) at += line % dims[i] * strides[i];
    return at;
  }
};

/// The kernel's scales, zero points and operands, which may change places: of a line, b alone can be one element. NaN, of a scale that
/// is none, becomes the lowest.
template <bool kMultiply>
kernels::QuantizedBinaryArgs binary_args(const kernels::QuantizedBinaryArgs& known, const Run& run, const BinaryScales& s, size_t a,
                                         size_t b) {
  kernels::QuantizedBinaryArgs args = known;
  args.a_zero = s.zero_of(run, a), args.b_zero = s.zero_of(run, b), args.zero = s.zero_of(run, 2);
  const float scale = s.scale_of(run, 2);
  args.a_scale = kMultiply ? s.scale_of(run, a) * s.scale_of(run, b) / scale : s.scale_of(run, a) / scale;
  args.b_scale = s.scale_of(run, b) / scale;
  return args;
}

template <bool kMultiply>
Status lower_q_linear_binary(LowerContext& c) {
  const Dims y = c.out_dims();
  if (element_count(y) == 0) return {};
  BinaryLines lines(c.in_dims(0), c.in_dims(3), y);
  const bool swapped = lines.a.back() == 0;
  if (swapped) std::swap(lines.a, lines.b);
  kernels::QuantizedBinaryArgs args;
  args.count = lines.length(), args.is_signed = c.out_type().dtype == DType::i8;
  args.low = args.is_signed ? -128 : 0, args.high = args.is_signed ? 127 : 255;
  args.multiply = kMultiply, args.b_repeats = lines.b.back() == 0;
  const auto& kernel = c.kernels().quantized->binary;
  const int64_t each = kernel.tasks(args);
  c.emit(kMultiply ? "mul_quantized" : "add_quantized", element_count(y) / lines.length() * each,
         [=, run_kernel = kernel.run, s = binary_scales(c), a = c.in(swapped ? 3 : 0), b = c.in(swapped ? 0 : 3), to = c.out()](
             const Run& run, int64_t begin, int64_t end) -> const char* {
           kernels::QuantizedBinaryArgs one = binary_args<kMultiply>(args, run, s, swapped, !swapped);
           for (int64_t task = begin; task < end;) {
             const int64_t line = task / each, first = task % each, last = std::min(each, first + end - task);
             one.a = run.get<const std::byte>(a) + lines.start(lines.a, line);
             one.b = run.get<const std::byte>(b) + lines.start(lines.b, line);
             one.y = run.get<std::byte>(to) + line * lines.length();
             run_kernel(one, first, last, run.scratch<void>());
             task += last - first;
           }
           return nullptr;
         });
  return {};
}

OpDef q_linear_binary(const char* name, Status (*lower)(LowerContext&)) {
  return {.name = name,
          .domain = kMicrosoftDomain,
          .until = 1,
          .inputs = "A, A_scale, A_zero_point?, B, B_scale, B_zero_point?, C_scale, C_zero_point?",
          .infer = infer_q_linear_binary,
          .lower = lower,
          .types = quantized_types({0, 2, 3, 5, 7}, {1, 4, 6}),
          .samples = "(uint8[3, 70] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, uint8[3, 70] 0 to 256, float32[] 0.01 to 0.1, "
                     "uint8[] 0 to 256, float32[] 0.1 to 0.2, uint8[] 0 to 256)"
                     "(int8[1] -128 to 128, float32[] 0.01 to 0.1, int8[] -128 to 128, int8[1] -128 to 128, float32[] 0.01 to 0.1, "
                     "int8[] -128 to 128, float32[] 0.1 to 0.2, int8[] -128 to 128)"
                     "(uint8[2, 3, 5] 0 to 256, float32[] 0.01 to 0.1, uint8[1] 0 to 256, uint8[3, 1] 0 to 256, float32[] 0.01 to 0.1, "
                     "uint8[1] 0 to 256, float32[] 0.1 to 0.2, uint8[1] 0 to 256)"
                     "(int8[] -128 to 128, float32[] 0.01 to 0.1, int8[] -128 to 128, int8[4, 5] -128 to 128, float32[] 0.01 to 0.1, "
                     "int8[] -128 to 128, float32[] 0.1 to 0.2, int8[] -128 to 128)"
                     "(uint8[2, 5, 3, 7] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, uint8[1, 5, 1, 1] 0 to 256, "
                     "float32[] 0.01 to 0.1, uint8[] 0 to 256, float32[] 0.1 to 0.2, uint8[] 0 to 256)"
                     "(int8[5, 1, 1] -128 to 128, float32[] 0.01 to 0.1, int8[] -128 to 128, int8[2, 5, 3, 7] -128 to 128, "
                     "float32[] 0.01 to 0.1, int8[] -128 to 128, float32[] 0.1 to 0.2, int8[] -128 to 128)"
                     "(uint8[2, 1, 1, 9] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, uint8[3, 4, 9] 0 to 256, "
                     "float32[] 0.01 to 0.1, uint8[] 0 to 256, float32[] 0.1 to 0.2, uint8[] 0 to 256)"};
}

}  // namespace

OpDef define_q_linear_add() { return q_linear_binary("QLinearAdd", lower_q_linear_binary<false>); }

OpDef define_q_linear_mul() { return q_linear_binary("QLinearMul", lower_q_linear_binary<true>); }

}  // namespace svengine::ops
