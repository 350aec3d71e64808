// The vision operators whose loops are arranged for speed, against the plainest form of what they compute.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "engine/ops/host_test_util.h"
#include "engine/ops/vision/grid_tables_common.h"

namespace sampling_test {
using namespace svengine;
using namespace svengine::ops;
using namespace svengine::ops::tests;

namespace {

template <class T>
std::vector<T> coordinates(size_t count) {
  std::mt19937 random(4);
  const T inf = std::numeric_limits<T>::infinity();
  std::vector<T> all{T(-1),  T(1),    T(0),    T(-0.0),      T(-2), T(0.5), inf, -inf, std::numeric_limits<T>::quiet_NaN(),
                     T(1e9), T(-1e9), T(3e38), T(-1.0000001)};
  std::uniform_real_distribution<T> draw(T(-1.6), T(1.6));
  while (all.size() < count) all.push_back(draw(random));
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

/// The tables against GridPosition, bit for bit.
template <class T, class G>
void check_tables(const GridRules& rules, const GridShape& shape, int64_t count) {
  int64_t taps = 1;
  for (size_t a = 0; a < shape.axes; ++a) taps *= rules.axis_taps();
  const std::vector<G> grid = coordinates<G>(static_cast<size_t>(std::max<int64_t>(count * static_cast<int64_t>(shape.axes), 20)));
  std::vector<int32_t> index(static_cast<size_t>(taps * count), 77);
  std::vector<T> weight(index.size());
  fill_grid_tables(rules, shape, grid.data(), SampleTables<T>{taps, count, index.data(), weight.data()});
  for (int64_t j = 0; j < count; ++j) {
    const G* at = grid.data() + j * static_cast<int64_t>(shape.axes);
    const GridPosition<T> position(rules, shape, at);
    position.for_each(shape, [&](int64_t tap, int64_t place, const int64_t* along) {
      const auto i = static_cast<size_t>(tap * count + j);
      INFO("mode " << static_cast<int>(rules.mode) << " padding " << static_cast<int>(rules.padding) << " aligned " << rules.align_corners << " axes "
                   << shape.axes << " at " << at[0] << " tap " << tap << " weight " << weight[i]);
      REQUIRE(index[i] == place);
      REQUIRE(weight[i] == (place < 0 ? T(0) : position.weight(shape, along)));
    });
  }
}

std::vector<float> drawn(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = normal(random);
  return values;
}

}  // namespace

TEST_CASE("GridSample's tables are what each position says") {
  for (const GridMode mode : {GridMode::kNearest, GridMode::kLinear, GridMode::kCubic})
    for (const GridPadding padding : {GridPadding::kZeros, GridPadding::kBorder, GridPadding::kReflection})
      for (const bool aligned : {false, true})
        for (const int64_t count : {1, 3, 37, 128})
          for (const auto& [axes, a, b, c] : {std::tuple<size_t, int64_t, int64_t, int64_t>{1, 9, 0, 0}, {2, 5, 7, 0}, {2, 1, 1, 0}, {3, 4, 3, 6}}) {
            const GridRules rules{mode, padding, aligned};
            const GridShape shape{.batch = 1, .channels = 1, .positions = count, .axes = axes, .in = {a, b, c}};
            check_tables<float, float>(rules, shape, count);
            check_tables<float, double>(rules, shape, count);
            check_tables<double, float>(rules, shape, count);
            check_tables<double, double>(rules, shape, count);
          }
}

TEST_CASE("MaxRoiPool finds the largest element of every bin, NaN passed over, at every width") {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  for (const int64_t width : {1, 5, 15, 16, 17, 31, 50}) {
    constexpr int64_t kHeight = 13, kRows = 3, kColumns = 4;
    std::vector<float> x = drawn(static_cast<size_t>(2 * kHeight * width), 5);
    for (size_t i = 0; i < x.size(); i += 3) x[i] = i % 2 ? kNaN : -kInfinity;
    std::vector<float> rois{0, 0, 0, static_cast<float>(width),     kHeight, 0,  -3, -5, 4,   2,   0,   2,  3,
                            2, 3, 0, static_cast<float>(width - 1), 12,      90, 90, 0,  200, 200, 300, 300};
    const auto count = static_cast<int64_t>(rois.size() / 5);
    const HostNode pooled(
        "", "MaxRoiPool",
        {Tensor::of<float>({1, 2, kHeight, width}, std::span<const float>(x)), Tensor::of<float>({count, 5}, std::span<const float>(rois))},
        {{"pooled_shape", std::vector<int64_t>{kRows, kColumns}}});
    REQUIRE(pooled.problem.empty());
    const std::vector<float> y = pooled.floats();
    for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
      const int64_t roi = i / (2 * kRows * kColumns), plane = i / (kRows * kColumns) % 2, r = i / kColumns % kRows, k = i % kColumns;
      const auto bounds = [&](int64_t first, int64_t last, int64_t bin, int64_t bins, int64_t size) {
        const float start = rois[static_cast<size_t>(first)],
                    step = std::max(rois[static_cast<size_t>(last)] - start + 1, 1.0f) / static_cast<float>(bins);
        const auto within = [&](float v) { return static_cast<int64_t>(std::clamp(v + start, 0.0f, static_cast<float>(size))); };
        return std::pair(within(std::floor(static_cast<float>(bin) * step)), within(std::ceil(static_cast<float>(bin + 1) * step)));
      };
      const auto [top, bottom] = bounds(roi * 5 + 2, roi * 5 + 4, r, kRows, kHeight);
      const auto [left, right] = bounds(roi * 5 + 1, roi * 5 + 3, k, kColumns, width);
      bool any = false, number = false;
      float most = -kInfinity;
      for (int64_t h = top; h < bottom; ++h)
        for (int64_t w = left; w < right; ++w) {
          const float v = x[static_cast<size_t>((plane * kHeight + h) * width + w)];
          any = true;
          if (!std::isnan(v)) number = true, most = std::max(most, v);
        }
      INFO("width " << width << " region " << roi << " bin " << r << ' ' << k << " is " << y[static_cast<size_t>(i)]);
      const float got = y[static_cast<size_t>(i)];
      REQUIRE((!any ? got == 0 : !number ? std::isnan(got) : got == most));
    }
  }
}

TEST_CASE("AffineGrid maps every pixel, across the borders of tasks and runs") {
  for (const std::vector<int64_t>& size : {std::vector<int64_t>{2, 1, 3, 700}, {3, 1, 130, 65}, {1, 1, 1, 9000}, {2, 1, 3, 5, 300}})
    for (const int64_t aligned : {0, 1}) {
      const auto spatial = static_cast<int64_t>(size.size()) - 2;
      const std::vector<float> theta = drawn(static_cast<size_t>(size[0] * spatial * (spatial + 1)), 6);
      const HostNode grid("", "AffineGrid", {Tensor::of<float>({size[0], spatial, spatial + 1}, std::span<const float>(theta)),
                                             Tensor::of<int64_t>({spatial + 2}, std::span<const int64_t>(size))}, {{"align_corners", aligned}});
      REQUIRE(grid.problem.empty());
      const std::vector<float> y = grid.floats();
      size_t at = 0;
      int64_t pixels = 1;
      for (int64_t d = 0; d < spatial; ++d) pixels *= size[static_cast<size_t>(d + 2)];
      for (int64_t i = 0; i < size[0] * pixels; ++i)
        for (int64_t r = 0; r < spatial; ++r, ++at) {
          const float* row = theta.data() + (i / pixels * spatial + r) * (spatial + 1);
          double sum = row[spatial];
          int64_t rest = i % pixels;
          for (int64_t d = 0; d < spatial; ++d) {
            const int64_t n = size[static_cast<size_t>(spatial + 1 - d)];
            const auto place = static_cast<double>(rest % n), all = static_cast<double>(n);
            sum += row[d] * (!aligned ? (2 * place + 1) / all - 1 : n > 1 ? 2 * place / (all - 1) - 1 : 0);
            rest /= n;
          }
          REQUIRE(std::fabs(y[at] - sum) <= 1e-6 * (1 + std::fabs(sum)));
        }
    }
}

TEST_CASE("determinants of every size by panels are those of column after column") {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int64_t n = 0; n <= 37; ++n)
    for (const bool singular : {false, true}) {
      std::vector<double> x(static_cast<size_t>(n * n));
      for (double& v : x) v = normal(random);
      if (singular && n > 1) std::copy_n(x.begin(), n, x.begin() + (n - 1) * n);  // two rows alike
      std::vector<long double> a(x.begin(), x.end());
      const auto at = [&](int64_t r, int64_t k) -> long double& { return a[static_cast<size_t>(r * n + k)]; };
      long double want = 1, scale = 1;
      for (int64_t k = 0; k < n && want != 0; ++k) {
        int64_t pivot = k;
        for (int64_t r = k + 1; r < n; ++r)
          if (std::fabs(at(r, k)) > std::fabs(at(pivot, k))) pivot = r;
        if (pivot != k) want = -want;
        for (int64_t j = 0; j < n && pivot != k; ++j) std::swap(at(k, j), at(pivot, j));
        want *= at(k, k), scale *= std::max(std::fabs(at(k, k)), 1.0L);
        for (int64_t r = k + 1; r < n && at(k, k) != 0; ++r)
          for (int64_t j = n; j-- > k;) at(r, j) -= at(r, k) / at(k, k) * at(k, j);
      }
      const HostNode det("", "Det", {Tensor::of<double>({n, n}, std::span<const double>(x))});
      REQUIRE(det.problem.empty());
      INFO("n " << n << " is " << det.outputs[0].data<double>()[0] << ", not " << static_cast<double>(want));
      REQUIRE(std::fabs(det.outputs[0].data<double>()[0] - want) <= 1e-12L * scale);
    }
}
}  // namespace sampling_test
