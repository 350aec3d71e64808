#include "engine/kernels/contract_quantized.h"

#include "engine/kernels/contract_memory.h"

namespace svengine::kernels {
namespace {

int64_t product(const int64_t (&x)[3]) { return x[0] * x[1] * x[2]; }
bool is_step(int64_t step) { return step == 0 || step == 1; }
int64_t bytes_of(QuantizedOutput output) {
  return output == QuantizedOutput::kInt32 || output == QuantizedOutput::kFloat32 ? 4 : 1;
}

const char* window_violation(const QuantizedWindow& w) {
  if (w.channels < 0 || w.channels > w.pixel_bytes) return "quantized: a window has more channels than a pixel";
  for (int d = 0; d < 3; ++d) {
    if (w.in[d] < 0 || w.out[d] < 0) return "quantized: a size of an image is negative";
    if (w.kernel[d] < 1 || w.strides[d] < 1 || w.dilations[d] < 1)
      return "quantized: a kernel, stride or dilation is not positive";
  }
  return nullptr;
}

const char* epilogue_violation(const QuantizedEpilogue& e) {
  if (e.output == QuantizedOutput::kInt32) return nullptr;
  if (!e.scale) return "quantized: scale is null where the output is not int32";
  if (!is_step(e.scale_step)) return "quantized: scale_step is neither 0 nor 1";
  if (!(e.low <= e.high)) return "quantized: low is above high";
  if (e.output == QuantizedOutput::kFloat32) return nullptr;
  if (e.shift) return "quantized: a shift of an output that is not float32";
  const bool is_signed = e.output == QuantizedOutput::kInt8;
  const float lowest = is_signed ? -128 : 0, highest = is_signed ? 127 : 255;
  if (e.low < lowest || e.high > highest || float(e.zero) < lowest || float(e.zero) > highest)
    return "quantized: low, high or zero is beyond the output's type";
  return nullptr;
}

const char* n_bits_violation(const NBitsMatrix& b) {
  if (b.k < 1 || b.n < 1 || !b.levels || !b.scales) return "n bits: k or n is not positive, or levels or scales are null";
  if (b.bits != 2 && b.bits != 4 && b.bits != 8) return "n bits: bits is not 2, 4 or 8";
  if (b.block < 16 || (b.block & (b.block - 1)) != 0) return "n bits: block is no power of two from 16 on";
  return b.zeros && b.float_zeros ? "n bits: zeros of two types" : nullptr;
}

}  // namespace

const char* violation(const QuantizedPackArgs& args) noexcept {
  if (args.k < 0 || args.n < 1) return "quantized pack: n is not positive, or k negative";
  if (!args.packed || (!args.source && args.k > 0)) return "quantized pack: source or packed is null";
  if (!is_aligned(args.packed, 256)) return "quantized pack: packed is not 256-byte aligned";
  const int64_t lines = args.column_major ? args.n : args.k, line = args.column_major ? args.k : args.n;
  if (lines > 1 && args.ld < line) return "quantized pack: ld is less than a line";
  return is_step(args.zero_step) ? nullptr : "quantized pack: zero_step is neither 0 nor 1";
}

const char* violation(const QuantizedGemmArgs& args) noexcept {
  if (args.m < 1 || args.n < 1 || args.k < 0) return "quantized gemm: m or n is not positive, or k is negative";
  if (!args.b || !args.c || (!args.a && args.k > 0)) return "quantized gemm: a, b or c is null";
  if (!is_aligned(args.b, 256)) return "quantized gemm: b is not 256-byte aligned";
  if (args.m > 1 && args.ldc < args.n) return "quantized gemm: ldc is less than n";
  if (!is_step(args.a_zero_step)) return "quantized gemm: a_zero_step is neither 0 nor 1";
  int64_t a_bytes = (args.m - 1) * args.lda + args.k;
  if (args.windows) {
    const QuantizedWindow& w = args.window;
    if (const char* broken = window_violation(w)) return broken;
    if (args.a_zero_step != 0) return "quantized gemm: a_zero_step with windows";
    if (args.k != product(w.kernel) * w.channels) return "quantized gemm: k is not taps times channels";
    if (product(w.out) < 1 || args.m % product(w.out) != 0) return "quantized gemm: m is not images times pixels";
    a_bytes = args.m / product(w.out) * product(w.in) * w.pixel_bytes - (w.pixel_bytes - w.channels);
  } else if (args.m > 1 && args.lda < args.k) {
    return "quantized gemm: lda is less than k";
  }
  if (const char* broken = epilogue_violation(args.epilogue)) return broken;
  if (args.epilogue.bias_ld != 0 && args.epilogue.bias_ld < args.n) return "quantized gemm: bias_ld is less than n";
  const Memory c = memory(args.c, ((args.m - 1) * args.ldc + args.n) * bytes_of(args.epilogue.output));
  return overlap(c, memory(args.a, a_bytes)) ? "quantized gemm: c overlaps a" : nullptr;
}

const char* violation(const QuantizedDepthwiseArgs& args) noexcept {
  const QuantizedWindow& w = args.window;
  if (args.batch < 1) return "quantized depthwise: batch is not positive";
  if (const char* broken = window_violation(w)) return broken;
  if (w.channels != w.pixel_bytes) return "quantized depthwise: channels is not pixel_bytes";
  if (!args.w || !args.y || (!args.x && product(w.in) > 0)) return "quantized depthwise: x, w or y is null";
  if (args.epilogue.row_scale || args.epilogue.bias_ld) return "quantized depthwise: row_scale or bias_ld, which it has not";
  if (const char* broken = epilogue_violation(args.epilogue)) return broken;
  const Memory y = memory(args.y, args.batch * product(w.out) * w.channels * bytes_of(args.epilogue.output));
  return overlap(y, memory(args.x, args.batch * product(w.in) * w.channels)) ? "quantized depthwise: y overlaps x" : nullptr;
}

const char* violation(const QuantizedBinaryArgs& args) noexcept {
  if (args.count < 1 || !args.a || !args.b || !args.y) return "quantized binary: count is not positive, or a, b or y is null";
  const int32_t lowest = args.is_signed ? -128 : 0, highest = args.is_signed ? 127 : 255;
  if (args.low > args.high || args.low < lowest || args.high > highest)
    return "quantized binary: low and high are no range of the type";
  const Memory y = memory(args.y, args.count);
  return cross(y, memory(args.a, args.count)) || cross(y, memory(args.b, args.b_repeats ? 1 : args.count))
             ? "quantized binary: y overlaps a or b and is not it"
             : nullptr;
}

const char* violation(const QuantizeArgs& args) noexcept {
  if (args.count < 1 || !args.x || !args.y || !args.scale) return "quantize: count is not positive, or x, y or scale is null";
  return overlap(memory(args.y, args.count), floats(args.x, args.count)) ? "quantize: y overlaps x" : nullptr;
}

const char* violation(const ByteTableArgs& args) noexcept {
  if (args.count < 1 || !args.x || !args.y || !args.table) return "byte table: count is not positive, or x, y or the table is null";
  const Memory y = memory(args.y, args.count);
  if (overlap(y, memory(args.table, 256))) return "byte table: y overlaps the table";
  return cross(y, memory(args.x, args.count)) ? "byte table: y overlaps x and is not x" : nullptr;
}

const char* violation(const ByteSumArgs& args) noexcept {
  if (args.outer < 1 || args.inner < 1 || args.n < 0) return "byte sum: outer or inner is not positive, or n is negative";
  if (!args.sums || (!args.x && args.n > 0)) return "byte sum: x or sums is null";
  const int64_t sums = args.outer * args.inner;
  return overlap(memory(args.sums, sums * 8), memory(args.x, sums * args.n)) ? "byte sum: sums overlap x" : nullptr;
}

const char* violation(const IntegerGemmArgs& args) noexcept {
  if (args.m < 1 || args.n < 1 || args.k < 0) return "integer gemm: m or n is not positive, or k is negative";
  if (args.element_bytes != 4 && args.element_bytes != 8) return "integer gemm: element_bytes is neither 4 nor 8";
  if (!args.c || (args.k > 0 && (!args.a || !args.b))) return "integer gemm: a, b or c is null";
  return args.m > 1 && args.ldc < args.n ? "integer gemm: ldc is less than n" : nullptr;
}

const char* violation(const QuantizedRangeArgs& args) noexcept {
  if (args.count < 1 || !args.x) return "quantized range: count is not positive, or x is null";
  return !args.low || !args.high || args.low == args.high ? "quantized range: low or high is null, or both are one" : nullptr;
}

const char* violation(const NBitsRoundArgs& args) noexcept {
  if (args.m < 1 || args.k < 1 || (args.m > 1 && args.lda < args.k)) return "n bits round: m or k is not positive, or lda is less than k";
  if (args.block < 16 || (args.block & (args.block - 1)) != 0) return "n bits round: block is no power of two from 16 on";
  return args.a && args.numbers && args.scales && args.sums && args.rounded ? nullptr : "n bits round: an operand is null";
}

const char* violation(const NBitsRowsArgs& args) noexcept {
  if (args.m < 1 || !args.a || !args.c) return "n bits: m is not positive, or a or c is null";
  if (const char* broken = n_bits_violation(args.b)) return broken;
  if (args.m > 1 && (args.lda < args.b.k || args.ldc < args.b.n)) return "n bits: lda is less than k, or ldc than n";
  if (args.rounded.numbers) {
    if (!args.rounded.scales || !args.rounded.sums || !args.rounded.rounded) return "n bits: rounded numbers without scales, sums or marks";
    if (args.b.bits != 4 || args.b.float_zeros) return "n bits: rounded numbers times levels that are not multiplied with them";
  }
  const Memory c = floats(args.c, (args.m - 1) * args.ldc + args.b.n);
  if (overlap(c, floats(args.a, (args.m - 1) * args.lda + args.b.k))) return "n bits: c overlaps a";
  return overlap(c, floats(args.bias, args.b.n)) ? "n bits: c overlaps bias" : nullptr;
}

const char* violation(const NBitsUnpackArgs& args) noexcept {
  if (const char* broken = n_bits_violation(args.b)) return broken;
  if (!args.target || args.ld < args.columns) return "n bits unpack: target is null, or ld is less than the columns";
  if (args.depth_begin < 0 || args.depth_begin % 16 != 0 || args.depth_begin >= args.depth_end || args.depth_end > args.b.k)
    return "n bits unpack: the depth is no part of k that begins at a multiple of 16";
  const bool whole = args.column_begin >= 0 && args.column_begin % kNBitsColumns == 0 && args.columns > 0 && args.columns % kNBitsColumns == 0;
  return whole ? nullptr : "n bits unpack: columns are no whole panels";
}

}  // namespace svengine::kernels
