// This file is compiled without contraction of a*b+c (engine/CMakeLists.txt), so that every machine rounds alike.
#include "engine/base/random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "engine/base/hash.h"

namespace svengine {
namespace {

constexpr double kPi = 3.14159265358979323846, kLn2 = 0.693147180559945309417;

// Coefficients from the highest power down: divisions are made here once, since A64FX takes 98 cycles for one.
constexpr std::array<double, 11> kLogSeries{1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                                            1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};

/// (-1)^n / (2n + odd)! for n = 8 .. 0: the series of cosine (odd 0) and sine (odd 1) in the square of the angle.
constexpr std::array<double, 9> trigonometric_series(int odd) {
  std::array<double, 9> out{};
  double factorial = 1;
  for (int n = 0; n <= 8; ++n) {
    if (n > 0) factorial *= (2 * n + odd - 1) * (2 * n + odd);
    out[static_cast<size_t>(8 - n)] = (n % 2 ? -1 : 1) / factorial;
  }
  return out;
}
constexpr std::array<double, 9> kCosineSeries = trigonometric_series(0), kSineSeries = trigonometric_series(1);

/// ln(x) for normal x > 0, error below 1e-15 relative to max(|ln x|, x - 1 near 1):
/// x = 2^e m with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh(s), s = (m - 1) / (m + 1), |s| < 0.172, by its series to s^21.
double natural_log(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (m >= 1.41421356237309505) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = kLogSeries[0];
  for (size_t i = 1; i < kLogSeries.size(); ++i) sum = sum * z + kLogSeries[i];
  return exponent * kLn2 + 2 * s * sum;
}

struct Direction {
  double cosine, sine;
};

/// Of the angle 2 pi turn / 2^32: the nearest quarter turn exactly, the rest, at most pi/4, by Taylor's series to the 16th power.
Direction direction(uint32_t turn) {
  const uint32_t quarter = (turn + (1u << 29)) >> 30;
  const double t = static_cast<double>(static_cast<int32_t>(turn - (quarter << 30))) * (kPi / 2147483648.0), z = t * t;
  double cosine = kCosineSeries[0], sine = kSineSeries[0];
  for (size_t i = 1; i < kCosineSeries.size(); ++i) {
    cosine = cosine * z + kCosineSeries[i];
    sine = sine * z + kSineSeries[i];
  }
  sine *= t;
  switch (quarter & 3) {
    case 0: return {cosine, sine};
    case 1: return {-sine, cosine};
    case 2: return {-cosine, -sine};
    default: return {sine, -cosine};
  }
}

float unit_float(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

/// Four uniform words become four normal numbers, two for each pair.
std::array<double, 4> box_muller(const PhiloxCounter& words) {
  std::array<double, 4> out{};
  for (size_t pair = 0; pair < 4; pair += 2) {
    const double u = (static_cast<double>(words[pair]) + 1) * 0x1p-32;  // in (0, 1]
    const double radius = std::sqrt(-2 * natural_log(u));
    const Direction d = direction(words[pair + 1]);
    out[pair] = radius * d.cosine;
    out[pair + 1] = radius * d.sine;
  }
  return out;
}

/// make(block) gives values 4 * block .. 4 * block + 3 of the stream; `out` gets those from `first` on.
template <class Make>
void fill_by_blocks(uint64_t first, std::span<float> out, const Make& make) {
  for (size_t done = 0; done < out.size();) {
    const uint64_t at = first + done;
    const std::array<float, 4> values = make(at / 4);
    const size_t skip = at % 4, n = std::min<size_t>(4 - skip, out.size() - done);
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(skip), n, out.begin() + static_cast<std::ptrdiff_t>(done));
    done += n;
  }
}

/// A standard normal number within [low, high], low <= 0 <= high. Where the interval is narrow, most normal numbers would miss
/// it, so even ones are taken with probability exp(-x^2/2) there: at least one in seven attempts succeeds either way.
double truncated(const RandomStream& stream, uint64_t index, double low, double high) {
  const bool wide = high - low >= 2;
  for (uint32_t draw = 0;; ++draw) {
    const PhiloxCounter words = stream.block(index, draw);
    if (wide) {
      for (double x : box_muller(words))
        if (x >= low && x <= high) return x;
    } else {
      for (size_t pair = 0; pair < 4; pair += 2) {
        const double x = low + (high - low) * (static_cast<double>(words[pair]) * 0x1p-32);
        const double u = (static_cast<double>(words[pair + 1]) + 1) * 0x1p-32;
        if (x * x <= -2 * natural_log(u)) return x;
      }
    }
  }
}

}  // namespace

RandomStream RandomStream::at(uint64_t id) const {
  // The last counter word keeps these apart from the blocks of numbers, where it is 0.
  const PhiloxCounter c = philox4x32({static_cast<uint32_t>(id), static_cast<uint32_t>(id >> 32), 0, 1}, key_);
  return RandomStream(PhiloxKey{c[0], c[1]});
}

RandomStream RandomStream::at(std::string_view name) const { return at(hash64(name)); }

float RandomStream::uniform(uint64_t i) const { return unit_float(block(i / 4)[i % 4]); }

uint64_t RandomStream::below(uint64_t bound, uint64_t i) const {
  __extension__ using Wide = unsigned __int128;
  const uint64_t rejected = -bound % bound;  // 2^64 mod bound: so many low parts would come once too often
  for (uint32_t draw = 0;; ++draw) {
    const PhiloxCounter words = block(i, draw);
    for (size_t pair = 0; pair < 4; pair += 2) {
      const Wide product = static_cast<Wide>(static_cast<uint64_t>(words[pair + 1]) << 32 | words[pair]) * bound;
      if (static_cast<uint64_t>(product) >= rejected) return static_cast<uint64_t>(product >> 64);
    }
  }
}

void fill_uniform(const RandomStream& stream, uint64_t first, float low, float high, std::span<float> out) {
  const float width = high - low, last = low < high ? std::nextafter(high, low) : low;
  fill_by_blocks(first, out, [&](uint64_t block) {
    const PhiloxCounter words = stream.block(block);
    std::array<float, 4> values{};
    for (size_t i = 0; i < 4; ++i) values[i] = std::min(low + width * unit_float(words[i]), last);
    return values;
  });
}

void fill_normal(const RandomStream& stream, uint64_t first, float mean, float deviation, std::span<float> out) {
  fill_by_blocks(first, out, [&](uint64_t block) {
    const std::array<double, 4> normal = box_muller(stream.block(block));
    std::array<float, 4> values{};
    for (size_t i = 0; i < 4; ++i) values[i] = static_cast<float>(mean + deviation * normal[i]);
    return values;
  });
}

void fill_truncated_normal(const RandomStream& stream, uint64_t first, float mean, float deviation, float low, float high,
                           std::span<float> out) {
  const double from = (static_cast<double>(low) - mean) / deviation, to = (static_cast<double>(high) - mean) / deviation;
  for (size_t i = 0; i < out.size(); ++i) {
    const double x = truncated(stream, first + i, from, to);
    out[i] = std::clamp(static_cast<float>(mean + deviation * x), low, high);
  }
}

std::vector<int64_t> permutation(const RandomStream& stream, int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[stream.below(i, i)]);
  return order;
}

}  // namespace svengine
