#include "engine/kernels/quantized.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/quantized.h"
#include "tests/support/guarded_buffer.h"

namespace quantized_test {
using namespace svengine::kernels;
using svengine::tests::GuardedBuffer;

namespace {

struct Problem {
  int64_t m = 1, n = 1, k = 1;
  bool a_signed = false, b_signed = true, column_major = false;
  bool zeros = true, each = false;  // zero points; one for each row and column
  QuantizedOutput output = QuantizedOutput::kInt32;
  bool windows = false;
  QuantizedWindow window = {};
};

/// Every byte, the extreme ones often.
void fill(GuardedBuffer<uint8_t>& bytes, std::mt19937& random) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint32_t x = random();
    bytes[i] = x % 8 == 0 ? 0x80 : x % 8 == 1 ? 0x7f : x % 8 == 2 ? 0xff : x % 8 == 3 ? 0 : static_cast<uint8_t>(x >> 8);
  }
}

void bound(QuantizedEpilogue& e) {
  e.low = e.output == QuantizedOutput::kFloat32 ? -std::numeric_limits<float>::infinity()
          : e.output == QuantizedOutput::kInt8  ? -128.0f
                                                : 3.0f;
  e.high = e.output == QuantizedOutput::kFloat32 ? std::numeric_limits<float>::infinity()
           : e.output == QuantizedOutput::kInt8  ? 120.0f
                                                 : 255.0f;
  e.zero = e.output == QuantizedOutput::kInt8 ? -7 : 131;
}

int64_t bytes_of(QuantizedOutput output) { return output == QuantizedOutput::kInt32 || output == QuantizedOutput::kFloat32 ? 4 : 1; }

/// All tasks in pieces of random length, the last ones first.
template <class Args>
void run_in_pieces(const TaskKernel<Args>& kernel, const Args& args) {
  GuardedBuffer<uint8_t> scratch(static_cast<size_t>(kernel.scratch_bytes(args) + 255) / 256 * 256);
  std::mt19937 random(5);
  for (int64_t end = kernel.tasks(args); end > 0;) {
    const int64_t begin = std::max<int64_t>(end - 1 - static_cast<int64_t>(random() % 4), 0);
    kernel.run(args, begin, end, scratch.data());
    end = begin;
  }
  CHECK(scratch.intact());
}

struct Instance {
  Problem p;
  GuardedBuffer<uint8_t> a, b, a_zero, b_zero;
  GuardedBuffer<int32_t> bias;
  GuardedBuffer<float> scale, shift, row_scale;
  QuantizedPackArgs pack;
  QuantizedGemmArgs args;

  static size_t a_bytes(const Problem& p) {
    if (!p.windows) return static_cast<size_t>((p.m - 1) * (p.k + 3) + p.k);
    const QuantizedWindow& w = p.window;
    return static_cast<size_t>(p.m / (w.out[0] * w.out[1] * w.out[2]) * w.in[0] * w.in[1] * w.in[2] * w.pixel_bytes);
  }
  explicit Instance(const Problem& p)
      : p(p),
        a(a_bytes(p)),
        b(static_cast<size_t>(p.k * p.n)),
        a_zero(static_cast<size_t>(p.m)),
        b_zero(static_cast<size_t>(p.n)),
        bias(static_cast<size_t>(p.m * p.n)),
        scale(static_cast<size_t>(p.n)),
        shift(static_cast<size_t>(p.n)),
        row_scale(static_cast<size_t>(p.m)) {
    std::mt19937 random(static_cast<unsigned>(p.m * 131 + p.n * 17 + p.k));
    for (auto* bytes : {&a, &b, &a_zero, &b_zero}) fill(*bytes, random);
    for (int32_t& x : bias) x = static_cast<int32_t>(random() % 20001) - 10000;
    std::uniform_real_distribution<float> positive(0.0001f, 0.01f);
    for (auto* floats : {&scale, &shift, &row_scale})
      for (float& x : *floats) x = positive(random);
    pack = {b.data(), p.column_major ? p.k : p.n, p.column_major, p.b_signed, p.k, p.n, p.zeros ? b_zero.data() : nullptr, p.each, nullptr};
    args.m = p.m, args.n = p.n, args.k = p.k, args.a = a.data(), args.lda = p.k + 3, args.ldc = p.n + 1;
    args.a_signed = p.a_signed, args.a_zero = p.zeros ? a_zero.data() : nullptr, args.a_zero_step = p.each && !p.windows;
    args.windows = p.windows, args.window = p.window;
    QuantizedEpilogue& e = args.epilogue;
    e.output = p.output, e.bias = p.n % 2 ? bias.data() : nullptr, e.scale = scale.data(), e.scale_step = p.each;
    if (e.bias && p.m % 3 == 0) e.bias_ld = p.n;
    if (p.output == QuantizedOutput::kFloat32) e.shift = shift.data();
    if (p.each) e.row_scale = row_scale.data();
    bound(e);
  }

  std::vector<uint8_t> expected() const {
    std::vector<uint8_t> c(static_cast<size_t>(p.m * args.ldc * bytes_of(p.output)));
    for (int64_t row = 0; row < p.m; ++row)
      for (int64_t column = 0; column < p.n; ++column) {
        uint32_t sum = 0;
        for (int64_t d = 0; d < p.k; ++d)
          sum += static_cast<uint32_t>(reference_quantized_a(args, row, d) * reference_quantized_b(pack, d, column));
        reference_quantized_store(args.epilogue, sum, row, column, c.data(), row * args.ldc + column);
      }
    return c;
  }
};

void check(const Problem& p) {
  Instance x(p);
  const std::vector<uint8_t> want = x.expected();
  const int64_t row_bytes = p.n * bytes_of(p.output), ld_bytes = x.args.ldc * bytes_of(p.output);
  for (const QuantizedVariant& set : quantized_variants()) {
    INFO(set.name << " m " << p.m << " n " << p.n << " k " << p.k << " signed " << p.a_signed << p.b_signed << " zeros " << p.zeros
                  << p.each << " output " << int(p.output) << " windows " << p.windows << " column major " << p.column_major);
    GuardedBuffer<uint8_t> packed(static_cast<size_t>(set.kernels->packed_bytes(p.k, p.n)));
    QuantizedPackArgs pack = x.pack;
    pack.packed = packed.data();
    for (int64_t end = set.kernels->pack_tasks(pack); end > 0; --end) set.kernels->pack(pack, end - 1, end);
    GuardedBuffer<uint8_t> c(static_cast<size_t>((p.m - 1) * ld_bytes + row_bytes));
    QuantizedGemmArgs args = x.args;
    args.b = packed.data(), args.c = c.data();
    run_in_pieces(set.kernels->gemm, args);
    int64_t wrong = 0;
    for (int64_t row = 0; row < p.m; ++row)
      wrong += !std::equal(c.data() + row * ld_bytes, c.data() + row * ld_bytes + row_bytes, want.data() + row * ld_bytes);
    CHECK(wrong == 0);
    CHECK(packed.intact());
    CHECK(c.intact());
  }
}

QuantizedWindow window_of(int64_t channels, int64_t size, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation, int64_t groups) {
  QuantizedWindow w;
  w.channels = channels, w.pixel_bytes = channels * groups;
  const int64_t reach = (kernel - 1) * dilation + 1;
  for (int i = 1; i < 3; ++i) {
    w.in[i] = size + i, w.kernel[i] = kernel, w.strides[i] = stride, w.dilations[i] = dilation, w.pads[i] = pad;
    w.out[i] = (w.in[i] + 2 * pad - reach) / stride + 1;
  }
  return w;
}

constexpr QuantizedOutput kOutputs[] = {QuantizedOutput::kInt32, QuantizedOutput::kFloat32, QuantizedOutput::kUint8,
                                        QuantizedOutput::kInt8};

}  // namespace

TEST_CASE("products of every remainder of a tile are exact", "[quantized]") {
  for (int64_t m : {1, 2, 3, 4, 5, 11, 12, 13, 25, 100})
    for (int64_t n : {1, 15, 16, 17, 31, 32, 33, 70})
      for (int64_t k : {0, 1, 3, 4, 7, 64, 101}) {
        const int64_t mix = m + n + k;
        check({.m = m,
               .n = n,
               .k = k,
               .a_signed = mix % 2 == 1,
               .b_signed = mix % 3 == 0,
               .column_major = n % 3 == 1,
               .zeros = mix % 5 != 0,
               .each = mix % 4 == 1,
               .output = kOutputs[(m + k) % 4]});
      }
}

TEST_CASE("every pair of types with every kind of zero point and output is exact", "[quantized]") {
  for (bool a_signed : {false, true})
    for (bool b_signed : {false, true})
      for (bool zeros : {false, true})
        for (bool each : {false, true})
          for (QuantizedOutput output : kOutputs)
            check({.m = 14, .n = 37, .k = 50, .a_signed = a_signed, .b_signed = b_signed, .zeros = zeros, .each = each, .output = output});
}

TEST_CASE("deep products and large sums are exact", "[quantized]") {
  check({.m = 30, .n = 40, .k = 9001, .a_signed = true, .b_signed = false});
  check({.m = 300, .n = 70, .k = 600, .output = QuantizedOutput::kUint8});
}

TEST_CASE("rows that are windows of an image are exact", "[quantized]") {
  for (int64_t channels : {1, 3, 4, 9, 20})
    for (int64_t kernel : {1, 2, 3})
      for (int64_t stride : {1, 2})
        for (int64_t pad : {0, 1})
          for (int64_t dilation : {1, 2}) {
            const QuantizedWindow w = window_of(channels, 7, kernel, stride, pad, dilation, channels == 4 ? 2 : 1);
            check({.m = 2 * w.out[1] * w.out[2],
                   .n = 19,
                   .k = kernel * kernel * channels,
                   .a_signed = channels % 2 == 0,
                   .b_signed = kernel != 2,
                   .output = kOutputs[(channels + kernel) % 4],
                   .windows = true,
                   .window = w});
          }
}

TEST_CASE("windows of one tap that lie behind the image see padding", "[quantized]") {
  QuantizedWindow w = window_of(4, 7, 1, 1, 0, 1, 1);
  w.out[2] += 1;
  check({.m = 2 * w.out[1] * w.out[2], .n = 19, .k = 4, .windows = true, .window = w});
}

TEST_CASE("depthwise convolutions are exact", "[quantized]") {
  std::mt19937 random(3);
  for (int64_t channels : {1, 5, 16, 33, 128, 300})
    for (int64_t kernel : {1, 3, 5})
      for (int64_t stride : {1, 2})
        for (QuantizedOutput output : kOutputs) {
          const int32_t most = channels == 33 ? 255 : 127;  // weights less their zero points; of bytes kernels make quads
          QuantizedDepthwiseArgs args;
          args.batch = 2, args.window = window_of(channels, 9, kernel, stride, kernel / 2, 1 + (stride + channels) % 2, 1),
          args.x_signed = channels % 2 == 0;
          const QuantizedWindow& w = args.window;
          const int64_t taps = kernel * kernel, pixels = args.batch * w.out[1] * w.out[2];
          GuardedBuffer<uint8_t> x(static_cast<size_t>(args.batch * w.in[1] * w.in[2] * channels)), zero(1);
          GuardedBuffer<int32_t> weights(static_cast<size_t>((taps + 1) * channels)), bias(static_cast<size_t>(channels));
          GuardedBuffer<float> scale(static_cast<size_t>(channels));
          fill(x, random), fill(zero, random);
          std::fill(weights.data(), weights.data() + weights.size(), 0);
          for (int64_t i = 0; i < taps * channels; ++i) {
            weights[static_cast<size_t>(i)] = static_cast<int32_t>(random() % static_cast<uint32_t>(2 * most + 2)) - most - 1;
            weights[static_cast<size_t>(taps * channels + i % channels)] += weights[static_cast<size_t>(i)];
          }
          for (int32_t& b : bias) b = static_cast<int32_t>(random() % 2001) - 1000;
          for (float& s : scale) s = static_cast<float>(random() % 100 + 1) * 1e-4f;
          args.x = x.data(), args.x_zero = zero.data(), args.w = weights.data();
          args.epilogue.output = output, args.epilogue.bias = bias.data(), args.epilogue.scale = scale.data(), args.epilogue.scale_step = 1;
          bound(args.epilogue);
          std::vector<uint8_t> want(static_cast<size_t>(pixels * channels * bytes_of(output)));
          for (int64_t i = 0; i < pixels * channels; ++i)
            reference_quantized_store(args.epilogue, reference_depthwise_sum(args, i / channels, i % channels), i / channels, i % channels,
                                      want.data(), i);
          for (const QuantizedVariant& set : quantized_variants()) {
            INFO(set.name << " channels " << channels << " kernel " << kernel << " stride " << stride << " output " << int(output));
            GuardedBuffer<int8_t> quads(static_cast<size_t>(set.kernels->depthwise_packed_bytes(w)));
            if (quads.size() > 0) set.kernels->pack_depthwise(w, weights.data(), quads.data());
            for (bool packed : {false, true}) {
              GuardedBuffer<uint8_t> y(want.size());
              args.y = y.data(), args.quads = packed && quads.size() > 0 ? quads.data() : nullptr;
              run_in_pieces(set.kernels->depthwise, args);
              CHECK(std::equal(want.begin(), want.end(), y.data()));
              CHECK(y.intact());
            }
            CHECK(quads.intact());
          }
        }
}

TEST_CASE("quantisation and ranges are those of the formula", "[quantized]") {
  std::mt19937 random(9);
  for (int64_t count : {1, 7, 64, 1000, 20001})
    for (bool is_signed : {false, true}) {
      GuardedBuffer<uint8_t> zero(1);
      GuardedBuffer<float> x(static_cast<size_t>(count)), scale(1);
      fill(zero, random);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int32_t>(random() % 4001) - 2000) * 0.125f;
      x[x.size() / 2] = std::numeric_limits<float>::quiet_NaN();
      scale[0] = 0.25f;
      const QuantizedType type = is_signed ? QuantizedType::kInt8 : QuantizedType::kUint8;
      const QuantizeArgs quantize{count, x.data(), nullptr, type, scale.data(), zero.data()};
      float least = 0, most = 0;
      for (float value : x) least = std::fmin(least, value), most = std::fmax(most, value);
      std::vector<uint8_t> want(x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        const int offset = quantized_at(zero.data(), is_signed, 0);
        const double level = std::isnan(x[i]) ? -1000 : std::nearbyint(double{x[i]} * 4);
        want[i] = static_cast<uint8_t>(std::clamp(int(level) + offset, is_signed ? -128 : 0, is_signed ? 127 : 255));
      }
      for (const QuantizedVariant& set : quantized_variants()) {
        INFO(set.name << " count " << count << " signed " << is_signed);
        GuardedBuffer<uint8_t> y(x.size());
        QuantizeArgs two = quantize;
        two.y = y.data();
        run_in_pieces(set.kernels->quantize, two);
        CHECK(std::equal(want.begin(), want.end(), y.data()));
        QuantizedRangeArgs range{count, x.data(), nullptr, nullptr};
        GuardedBuffer<float> low(static_cast<size_t>(set.kernels->range.tasks(range))), high(low.size());
        range.low = low.data(), range.high = high.data();
        run_in_pieces(set.kernels->range, range);
        CHECK(*std::min_element(low.data(), low.data() + low.size()) == std::min(0.0f, least));
        CHECK(*std::max_element(high.data(), high.data() + high.size()) == std::max(0.0f, most));
      }
    }
}

namespace {

/// A sum or product of two values, the second of which may be one element, beside plain floats.
void check_binary(int64_t count, bool is_signed, bool multiply, bool repeats) {
  std::mt19937 random(static_cast<unsigned>(count));
  GuardedBuffer<uint8_t> a(static_cast<size_t>(count)), b(repeats ? 1 : a.size());
  fill(a, random), fill(b, random);
  QuantizedBinaryArgs args;
  args.count = count, args.a = a.data(), args.b = b.data(), args.is_signed = is_signed;
  args.a_zero = 3, args.b_zero = -5, args.zero = is_signed ? 4 : 120;
  args.a_scale = multiply ? 0.0625f : 0.37f, args.b_scale = 0.81f;  // of a product, one in 16 lies between two levels
  args.low = is_signed ? -128 : 10, args.high = is_signed ? 99 : 255;
  args.multiply = multiply, args.b_repeats = repeats;
  std::vector<uint8_t> want(a.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const auto p = static_cast<float>(quantized_at(a.data(), is_signed, int64_t(i)) - 3);
    const auto q = static_cast<float>(quantized_at(b.data(), is_signed, repeats ? 0 : int64_t(i)) + 5);
    // Each rounded by itself: a compiler for A64FX would make a fused multiply-add of them.
    const volatile float left = p * args.a_scale, right = q * args.b_scale, both = p * q * args.a_scale;
    const double level = std::nearbyint(multiply ? double{both} : double(left + right));
    want[i] = static_cast<uint8_t>(std::clamp(int(level) + args.zero, args.low, args.high));
  }
  for (const QuantizedVariant& set : quantized_variants()) {
    INFO(set.name << " count " << count << " signed " << is_signed << " multiply " << multiply << " repeats " << repeats);
    GuardedBuffer<uint8_t> y(a.size());
    args.y = y.data();
    run_in_pieces(set.kernels->binary, args);
    CHECK(std::equal(want.begin(), want.end(), y.data()));
    CHECK(y.intact());
  }
}

}  // namespace

TEST_CASE("sums and products of two values are those of the formula", "[quantized]") {
  for (int64_t count : {1, 7, 64, 1000, 20001})
    for (bool is_signed : {false, true})
      for (bool multiply : {false, true})
        for (bool repeats : {false, true}) check_binary(count, is_signed, multiply, repeats);
}

namespace {

template <class T>
void check_quantisation(QuantizedType type, int64_t count, bool each) {
  std::mt19937 random(static_cast<unsigned>(count));
  const auto low = static_cast<int64_t>(std::numeric_limits<T>::lowest()), high = static_cast<int64_t>(std::numeric_limits<T>::max());
  const size_t size = static_cast<size_t>(count), scales = each ? size : 1;
  GuardedBuffer<T> levels(size), zeros(scales);
  GuardedBuffer<float> x(size), scale(scales);
  for (T& v : levels) v = random() % 8 ? static_cast<T>(random()) : random() % 2 ? static_cast<T>(low) : static_cast<T>(high);
  for (T& v : zeros) v = static_cast<T>(random() % 200);
  for (float& s : scale) s = 0.25f * static_cast<float>(random() % 4 + 1);
  for (float& v : x) v = static_cast<float>(static_cast<int32_t>(random() % 200001) - 100000) * 0.125f;
  std::vector<float> floats(size);
  std::vector<T> wanted(size);
  for (size_t i = 0; i < size; ++i) {
    const size_t s = each ? i : 0;
    floats[i] = static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(levels[i]) - static_cast<uint32_t>(zeros[s]))) * scale[s];
    const double level = std::nearbyint(static_cast<double>(x[i] / scale[s])) + static_cast<double>(zeros[s]);
    wanted[i] = static_cast<T>(std::clamp(level, static_cast<double>(low), static_cast<double>(high)));
  }
  for (const QuantizedVariant& set : quantized_variants()) {
    INFO(set.name << " type " << int(type) << " count " << count << " each " << each);
    GuardedBuffer<float> back(size);
    run_in_pieces(set.kernels->dequantize, DequantizeArgs{count, levels.data(), back.data(), type, scale.data(), zeros.data(), each});
    CHECK(std::equal(floats.begin(), floats.end(), back.data()));
    CHECK(back.intact());
    if (type == QuantizedType::kInt32) continue;
    GuardedBuffer<T> y(size);
    run_in_pieces(set.kernels->quantize, QuantizeArgs{count, x.data(), y.data(), type, scale.data(), zeros.data(), each});
    CHECK(std::equal(wanted.begin(), wanted.end(), y.data()));
    CHECK(y.intact());
  }
}

}  // namespace

TEST_CASE("every type is quantised and back with one scale and with one for each element", "[quantized]") {
  for (int64_t count : {1, 15, 64, 70, 8192, 20001})
    for (bool each : {false, true}) {
      check_quantisation<uint8_t>(QuantizedType::kUint8, count, each);
      check_quantisation<int8_t>(QuantizedType::kInt8, count, each);
      check_quantisation<uint16_t>(QuantizedType::kUint16, count, each);
      check_quantisation<int16_t>(QuantizedType::kInt16, count, each);
      check_quantisation<int32_t>(QuantizedType::kInt32, count, each);
    }
}
}  // namespace quantized_test
