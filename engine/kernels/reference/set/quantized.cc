// Products of 8-bit integers, element by element. Packed B is B by columns less its zero points, int16.
#include "engine/kernels/quantized.h"

#include <cmath>

#include "engine/kernels/reference/n_bits.h"
#include "engine/kernels/reference/quantized.h"
#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

int64_t packed_bytes(int64_t k, int64_t n) noexcept { return round_up(k * n * 2, 256); }
int64_t pack_tasks(const QuantizedPackArgs& args) noexcept { return args.n; }

void pack(const QuantizedPackArgs& args, int64_t begin, int64_t end) noexcept {
  int16_t* packed = static_cast<int16_t*>(args.packed);
  for (int64_t column = begin; column < end; ++column)
    for (int64_t d = 0; d < args.k; ++d) packed[column * args.k + d] = static_cast<int16_t>(reference_quantized_b(args, d, column));
  if (end == args.n) std::fill(packed + args.n * args.k, packed + packed_bytes(args.k, args.n) / 2, int16_t{0});
}

int64_t rows(const QuantizedGemmArgs& args) { return args.n > 0 ? args.m : 0; }

void multiply(const QuantizedGemmArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t row = begin; row < end; ++row)
    for (int64_t column = 0; column < args.n; ++column) {
      const int16_t* b = static_cast<const int16_t*>(args.b) + column * args.k;
      uint32_t sum = 0;
      for (int64_t d = 0; d < args.k; ++d) sum += static_cast<uint32_t>(reference_quantized_a(args, row, d) * b[d]);
      reference_quantized_store(args.epilogue, sum, row, column, args.c, row * args.ldc + column);
    }
}

int64_t pixels(const QuantizedDepthwiseArgs& args) { return args.batch * args.window.out[0] * args.window.out[1] * args.window.out[2]; }

void convolve(const QuantizedDepthwiseArgs& args, int64_t begin, int64_t end, void*) {
  const int64_t channels = args.window.channels;
  for (int64_t pixel = begin; pixel < end; ++pixel)
    for (int64_t c = 0; c < channels; ++c)
      reference_quantized_store(args.epilogue, reference_depthwise_sum(args, pixel, c), pixel, c, args.y, pixel * channels + c);
}

int64_t depthwise_packed_bytes(const QuantizedWindow&) noexcept { return 0; }
void pack_depthwise(const QuantizedWindow&, const int32_t*, void*) noexcept {}

/// As an integer of the type: rounded, bounded, and the zero point added.
void store_rounded(float x, int32_t zero, int32_t low, int32_t high, void* y, int64_t at) {
  const float bounded = std::fmin(std::fmax(x, static_cast<float>(low - zero)), static_cast<float>(high - zero));
  static_cast<uint8_t*>(y)[at] = static_cast<uint8_t>(static_cast<int32_t>(std::nearbyint(bounded)) + zero);
}

int64_t results(const QuantizedBinaryArgs& args) { return args.count; }

void combine(const QuantizedBinaryArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t i = begin; i < end; ++i) {
    const auto a = static_cast<float>(quantized_at(args.a, args.is_signed, i) - args.a_zero);
    const auto b = static_cast<float>(quantized_at(args.b, args.is_signed, args.b_repeats ? 0 : i) - args.b_zero);
    const float left = args.multiply ? a * b * args.a_scale : a * args.a_scale, right = args.multiply ? 0.0f : b * args.b_scale;
    store_rounded(left + right, args.zero, args.low, args.high, args.y, i);
  }
}

int32_t element_at(const void* x, QuantizedType type, int64_t at) {
  if (!x) return 0;
  switch (type) {
    case QuantizedType::kUint8: return static_cast<const uint8_t*>(x)[at];
    case QuantizedType::kInt8: return static_cast<const int8_t*>(x)[at];
    case QuantizedType::kUint16: return static_cast<const uint16_t*>(x)[at];
    case QuantizedType::kInt16: return static_cast<const int16_t*>(x)[at];
    case QuantizedType::kInt32: break;
  }
  return static_cast<const int32_t*>(x)[at];
}

int64_t elements(const QuantizeArgs& args) { return args.count; }

void quantize(const QuantizeArgs& args, int64_t begin, int64_t end, void*) {
  const bool wide = args.type == QuantizedType::kUint16 || args.type == QuantizedType::kInt16;
  const bool is_signed = args.type == QuantizedType::kInt8 || args.type == QuantizedType::kInt16;
  const int32_t range = wide ? 65536 : 256, low = is_signed ? -range / 2 : 0;
  for (int64_t i = begin; i < end; ++i) {
    const int32_t zero = element_at(args.zero, args.type, i * args.step);
    const float bounded = std::fmin(std::fmax(args.x[i] / args.scale[i * args.step], static_cast<float>(low - zero)),
                                    static_cast<float>(low + range - 1 - zero));
    const int32_t level = static_cast<int32_t>(std::nearbyint(bounded)) + zero;
    if (wide)
      static_cast<uint16_t*>(args.y)[i] = static_cast<uint16_t>(level);
    else
      static_cast<uint8_t*>(args.y)[i] = static_cast<uint8_t>(level);
  }
}

int64_t levels(const DequantizeArgs& args) { return args.count; }

void dequantize(const DequantizeArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t i = begin; i < end; ++i) {
    const auto x = static_cast<uint32_t>(element_at(args.x, args.type, i));
    const auto zero = static_cast<uint32_t>(element_at(args.zero, args.type, i * args.step));
    args.y[i] = static_cast<float>(static_cast<int32_t>(x - zero)) * args.scale[i * args.step];
  }
}

int64_t bytes(const ByteTableArgs& args) { return args.count; }

void look_up(const ByteTableArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t i = begin; i < end; ++i) args.y[i] = args.table[args.x[i]];
}

int64_t sums(const ByteSumArgs& args) { return args.outer * args.inner; }

void sum_up(const ByteSumArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t i = begin; i < end; ++i) {
    args.sums[i] = 0;
    for (int64_t j = 0; j < args.n; ++j)
      args.sums[i] += quantized_at(args.x, args.is_signed, (i / args.inner * args.n + j) * args.inner + i % args.inner);
  }
}

int64_t integer_results(const IntegerGemmArgs& args) { return args.m; }

template <class U>
void multiply_integers_of(const IntegerGemmArgs& args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    for (int64_t j = 0; j < args.n; ++j) {
      U sum = 0;
      for (int64_t d = 0; d < args.k; ++d)
        sum += static_cast<const U*>(args.a)[i * args.a_row + d * args.a_depth] * static_cast<const U*>(args.b)[d * args.b_depth + j * args.b_column];
      static_cast<U*>(args.c)[i * args.ldc + j] = sum;
    }
}

void multiply_integers(const IntegerGemmArgs& args, int64_t begin, int64_t end, void*) {
  args.element_bytes == 8 ? multiply_integers_of<uint64_t>(args, begin, end) : multiply_integers_of<uint32_t>(args, begin, end);
}

int64_t range_tasks(const QuantizedRangeArgs& args) noexcept { return ceil_div(args.count, 1024); }

void find_range(const QuantizedRangeArgs& args, int64_t begin, int64_t end, void*) noexcept {
  for (int64_t task = begin; task < end; ++task) {
    float low = 0, high = 0;
    for (int64_t i = task * 1024; i < std::min(args.count, (task + 1) * 1024); ++i)
      low = std::fmin(low, args.x[i]), high = std::fmax(high, args.x[i]);
    args.low[task] = low, args.high[task] = high;
  }
}

int64_t n_bits_rows(const NBitsRoundArgs& args) { return args.m; }

void round_n_bits(const NBitsRoundArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t r = begin; r < end; ++r) reference_n_bits_round(args, r);
}

int64_t n_bits_columns(const NBitsRowsArgs& args) { return args.m > 0 ? args.b.n : 0; }

void multiply_n_bits(const NBitsRowsArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t c = begin; c < end; ++c)
    for (int64_t r = 0; r < args.m; ++r) {
      double sum = args.bias ? args.bias[c] : 0;
      for (int64_t d = 0; d < args.b.k; ++d) sum += reference_n_bits_a(args, r, d) * double{reference_n_bits_weight(args.b, d, c)};
      args.c[r * args.ldc + c] = static_cast<float>(sum);
    }
}

void unpack_n_bits(const NBitsUnpackArgs& args) noexcept {
  for (int64_t d = args.depth_begin; d < args.depth_end; ++d)
    for (int64_t c = 0; c < args.columns; ++c) {
      const int64_t column = args.column_begin + c;
      args.target[(d - args.depth_begin) * args.ld + c] = column < args.b.n ? reference_n_bits_weight(args.b, d, column) : 0.0f;
    }
}

}  // namespace

extern const QuantizedKernels quantized_kernels;
constinit const QuantizedKernels quantized_kernels{1,
                                                   packed_bytes,
                                                   pack_tasks,
                                                   pack,
                                                   by_items<QuantizedGemmArgs, rows, multiply, 4>(),
                                                   depthwise_packed_bytes,
                                                   pack_depthwise,
                                                   by_items<QuantizedDepthwiseArgs, pixels, convolve, 4>(),
                                                   by_items<QuantizedBinaryArgs, results, combine, 1024>(),
                                                   by_items<QuantizeArgs, elements, quantize, 1024>(),
                                                   by_items<DequantizeArgs, levels, dequantize, 1024>(),
                                                   by_items<ByteTableArgs, bytes, look_up, 1024>(),
                                                   by_items<ByteSumArgs, sums, sum_up, 4>(),
                                                   by_items<IntegerGemmArgs, integer_results, multiply_integers, 1>(),
                                                   {range_tasks, no_scratch<QuantizedRangeArgs>, find_range},
                                                   {by_items<NBitsRoundArgs, n_bits_rows, round_n_bits, 1>(),
                                                    by_items<NBitsRowsArgs, n_bits_columns, multiply_n_bits, 4>(), unpack_n_bits}};

}  // namespace svengine::kernels::reference
