// Padding and resizing: the tables, and the kernels that use them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "engine/kernels/data_prepare.h"
#include "engine/kernels/kernel_table.h"
#include "engine/kernels/reference/data.h"
#include "tests/support/guarded_buffer.h"
#include "tests/support/kernel_tasks.h"
#include "tests/support/tested_kernels.h"

namespace data_resize_test {
using namespace svengine::kernels;
using namespace svengine::tests;
using Catch::Matchers::Equals;

namespace {

using Map = std::vector<int32_t>;

template <class F>
void for_every_set(const F& f) {
  REQUIRE(!tested_kernel_sets().empty());
  for (const KernelTable* set : tested_kernel_sets()) f(*set);
}

template <class T>
void check_map(const KernelTable& set, const std::vector<int64_t>& in, const std::vector<Map>& maps) {
  MapArgs args{.element_bytes = sizeof(T), .rank = static_cast<int32_t>(in.size())};
  int64_t stride = 1;
  for (int d = args.rank - 1; d >= 0; --d) {
    args.src_stride[d] = stride;
    stride *= in[d];
    args.extent[d] = static_cast<int64_t>(maps[d].size());
    args.map[d] = maps[d].data();
  }
  args.value = 0x4142434445464748;
  GuardedBuffer<T> src(static_cast<size_t>(stride));
  for (int64_t i = 0; i < stride; ++i) src[i] = static_cast<T>(i);
  const size_t count = static_cast<size_t>(count_of(args.extent, args.rank));
  GuardedBuffer<T> want(count), got(count);
  args.src = src.data(), args.dst = want.data();
  reference_map(args);
  args.dst = got.data();
  const MapRun run = longest_run(maps.back());
  for (int how = 0; how < (doubles(maps.back()) ? 3 : 2); ++how) {
    args.run_begin = how == 1 ? run.begin : 0, args.run_length = how == 1 ? run.length : 0, args.doubles = how == 2;
    got.refill();
    run_tasks(set.data->map, args);
    REQUIRE(same_values(got.data(), want.data(), count));
    REQUIRE(got.intact());
  }
}

// One axis of `in` values through the resample kernel, as the last axis and as a middle one; both must agree.
std::vector<float> resample(const KernelTable& set, const std::vector<float>& x, int64_t out,
                            const ResampleTables& tables) {
  const int64_t in = static_cast<int64_t>(x.size()), inner = set.lanes + 3;
  GuardedBuffer<float> source(x.size()), line(out), wide(x.size() * inner), wide_out(out * inner);
  std::copy(x.begin(), x.end(), source.begin());
  for (int64_t i = 0; i < in * inner; ++i) wide[i] = x[i / inner];
  ResampleArgs args{source.data(),       line.data(),          1, in, out, 1, tables.taps,
                    tables.index.data(), tables.weight.data(), -5};
  run_tasks(set.data->resample, args);
  args.x = wide.data(), args.y = wide_out.data(), args.inner = inner;
  run_tasks(set.data->resample, args);
  for (int64_t i = 0; i < out * inner; ++i) REQUIRE(wide_out[i] == line[i / inner]);
  REQUIRE((line.intact() && wide_out.intact()));
  return {line.begin(), line.end()};
}

void require_near(const std::vector<float>& got, const std::vector<double>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << " got " << got[i] << " want " << want[i]);
    REQUIRE(std::fabs(got[i] - want[i]) <= 2e-6 * std::max(1.0, std::fabs(want[i])));
  }
}

}  // namespace

TEST_CASE("pad tables") {
  CHECK_THAT(pad_map(PadMode::kConstant, 3, 2, 1), Equals(Map{-1, -1, 0, 1, 2, -1}));
  CHECK_THAT(pad_map(PadMode::kEdge, 3, 2, 2), Equals(Map{0, 0, 0, 1, 2, 2, 2}));
  CHECK_THAT(pad_map(PadMode::kReflect, 4, 3, 3), Equals(Map{3, 2, 1, 0, 1, 2, 3, 2, 1, 0}));
  CHECK_THAT(pad_map(PadMode::kReflect, 3, 6, 0), Equals(Map{2, 1, 0, 1, 2, 1, 0, 1, 2}));
  CHECK_THAT(pad_map(PadMode::kReflect, 1, 2, 1), Equals(Map{0, 0, 0, 0}));
  CHECK_THAT(pad_map(PadMode::kWrap, 3, 4, 2), Equals(Map{2, 0, 1, 2, 0, 1, 2, 0, 1}));
  CHECK_THAT(pad_map(PadMode::kConstant, 5, -1, -2), Equals(Map{1, 2}));
  CHECK_THAT(pad_map(PadMode::kConstant, 4, -6, 4), Equals(Map{-1, -1}));
  CHECK_THAT(pad_map(PadMode::kEdge, 3, -1, 2), Equals(Map{1, 2, 2, 2}));
  CHECK_THAT(pad_map(PadMode::kWrap, 6, -1, 6), Equals(Map{1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1}));
  CHECK_THAT(pad_map(PadMode::kWrap, 6, 3, -1), Equals(Map{2, 3, 4, 0, 1, 2, 3, 4}));
  CHECK_THAT(pad_map(PadMode::kReflect, 6, -1, 6), Equals(Map{1, 2, 3, 4, 5, 4, 3, 2, 1, 2, 3}));
  const MapRun run = longest_run({-1, 0, 1, 2, -1, 5, 6});
  CHECK((run.begin == 1 && run.length == 3));
  CHECK(longest_run({}).length == 0);
  CHECK(longest_run({-1, -1}).length == 0);
}

TEST_CASE("maps copy rows by tables for every element size") {
  for_every_set([](const KernelTable& set) {
    for (PadMode mode : {PadMode::kConstant, PadMode::kReflect, PadMode::kEdge, PadMode::kWrap})
      for (int64_t n : {1, 3, 16, 50}) {
        const std::vector<Map> maps = {pad_map(mode, 2, 1, 0), pad_map(mode, 3, -1, 2), pad_map(mode, n, 3, 18)};
        check_map<uint8_t>(set, {2, 3, n}, maps);
        check_map<uint16_t>(set, {2, 3, n}, maps);
        check_map<int32_t>(set, {2, 3, n}, maps);
        check_map<uint64_t>(set, {2, 3, n}, maps);
      }
    const ResizeAxis twice{.in = 7, .out = 14, .scale = 2, .coordinate = ResizeCoordinate::kAsymmetric};
    const Map map = nearest_map(twice, ResizeNearest::kFloor);
    check_map<int32_t>(set, {7, 7}, {map, map});
    for (int64_t n : {1, 2, 7, 8, 15, 16, 17, 32, 33, 63, 64, 65, 130})
      for (int64_t out : {2 * n, 2 * n - 1}) {
        Map twice_as_many;
        for (int64_t i = 0; i < out; ++i) twice_as_many.push_back(static_cast<int32_t>(i / 2));
        for (const Map& rows : {map, Map{6, 6, 6, -1, -1, 2, 3, 3}}) {
          check_map<uint8_t>(set, {2, 7, n}, {Map{1, 0, -1}, rows, twice_as_many});
          check_map<uint16_t>(set, {7, n}, {rows, twice_as_many});
          check_map<int32_t>(set, {7, n}, {rows, twice_as_many});
          check_map<uint64_t>(set, {7, n}, {rows, twice_as_many});
        }
        check_map<uint8_t>(set, {n}, {twice_as_many});
      }
    check_map<int32_t>(set, {}, {Map{}});
  });
}

TEST_CASE("nearest tables follow ONNX's examples") {
  // Resize node tests of the ONNX specification: upsample_sizes_nearest_*, downsample_scales_nearest.
  const auto map = [](int64_t in, int64_t out, double scale, ResizeCoordinate c, ResizeNearest r) {
    return nearest_map(ResizeAxis{.in = in, .out = out, .scale = scale, .coordinate = c}, r);
  };
  CHECK_THAT(map(4, 8, 2, ResizeCoordinate::kHalfPixel, ResizeNearest::kRoundPreferFloor),
             Equals(Map{0, 0, 1, 1, 2, 2, 3, 3}));
  CHECK_THAT(map(4, 8, 2, ResizeCoordinate::kAlignCorners, ResizeNearest::kFloor), Equals(Map{0, 0, 0, 1, 1, 2, 2, 3}));
  CHECK_THAT(map(4, 5, 1.4, ResizeCoordinate::kAlignCorners, ResizeNearest::kFloor), Equals(Map{0, 0, 1, 2, 3}));  // 5 - 1, not 5.6 - 1
  CHECK_THAT(map(4, 8, 2, ResizeCoordinate::kHalfPixel, ResizeNearest::kCeil), Equals(Map{0, 1, 1, 2, 2, 3, 3, 3}));
  CHECK_THAT(map(4, 8, 2, ResizeCoordinate::kAsymmetric, ResizeNearest::kRoundPreferCeil),
             Equals(Map{0, 1, 1, 2, 2, 3, 3, 3}));
  CHECK_THAT(map(4, 2, 0.6, ResizeCoordinate::kHalfPixel, ResizeNearest::kRoundPreferFloor), Equals(Map{0, 2}));
}

TEST_CASE("positions by a float32 scale are rounded to float32") {
  // torch.nn.Upsample(scale_factor=2.7) of 13 elements, and ONNX Runtime: 27 / 2.7 is 10, though float32's 2.7 is a little more than that
  ResizeAxis axis{.in = 13, .out = 35, .scale = 2.7f, .scale_is_float = true, .coordinate = ResizeCoordinate::kAsymmetric};
  CHECK(nearest_map(axis, ResizeNearest::kFloor)[27] == 10);
  CHECK(nearest_map(axis, ResizeNearest::kFloor)[26] == 9);
  axis.scale_is_float = false;
  CHECK(nearest_map(axis, ResizeNearest::kFloor)[27] == 9);
}

TEST_CASE("positions by sizes are exact") {
  for (const int64_t in : {1, 3, 7, 14, 30, 113})
    for (int64_t out = 1; out < 130; ++out) {
      const ResizeAxis axis{
          .in = in, .out = out, .scale = static_cast<double>(out) / static_cast<double>(in), .coordinate = ResizeCoordinate::kAsymmetric};
      const Map map = nearest_map(axis, ResizeNearest::kFloor);
      for (int64_t j = 0; j < out; ++j) REQUIRE(map[static_cast<size_t>(j)] == j * in / out);
    }
}

TEST_CASE("linear and cubic tables follow ONNX's examples") {
  for_every_set([](const KernelTable& set) {
    const auto axis = [](int64_t in, int64_t out, double scale, ResizeCoordinate c = ResizeCoordinate::kHalfPixel) {
      return ResizeAxis{.in = in, .out = out, .scale = scale, .coordinate = c};
    };
    // resize_upsample_scales_linear, its rows: x = 1 2
    require_near(resample(set, {1, 2}, 4, linear_tables(axis(2, 4, 2))), {1, 1.25, 1.75, 2});
    require_near(resample(set, {1, 2}, 4, linear_tables(axis(2, 4, 2, ResizeCoordinate::kAlignCorners))),
                 {1, 4. / 3, 5. / 3, 2});
    // resize_downsample_scales_linear (x = 1 2 3 4, scale 0.6)
    require_near(resample(set, {1, 2, 3, 4}, 2, linear_tables(axis(4, 2, 0.6))), {1.0 + 1.0 / 3, 3});
    // resize_downsample_scales_linear_antialias, first row's differences: 2.875 and 4.5 are rows of x = 1 2 3 4 over
    // both axes
    const std::vector<float> rows = resample(set, {1, 5, 9, 13}, 2, linear_tables(axis(4, 2, 0.6), true));
    const std::vector<float> columns = resample(set, {0, 1, 2, 3}, 2, linear_tables(axis(4, 2, 0.6), true));
    require_near({rows[0] + columns[0], rows[0] + columns[1], rows[1] + columns[0], rows[1] + columns[1]},
                 {2.875, 4.5, 9.375, 11});
    // resize_upsample_scales_cubic, first row: x = 1 .. 4 in each row, rows 4 apart
    const std::vector<float> cubic_rows = resample(set, {1, 5, 9, 13}, 8, cubic_tables(axis(4, 8, 2)));
    const std::vector<float> cubic_columns = resample(set, {0, 1, 2, 3}, 8, cubic_tables(axis(4, 8, 2)));
    const double want[] = {0.47265625, 0.76953125, 1.24609375, 1.875, 2.28125, 2.91015625, 3.38671875, 3.68359375};
    for (size_t i = 0; i < 8; ++i) REQUIRE(std::fabs(cubic_rows[0] + cubic_columns[i] - want[i]) < 2e-6);
    // Weights of excluded taps are shared by the others: a constant stays itself.
    require_near(resample(set, {3, 3, 3}, 5, cubic_tables(axis(3, 5, 5. / 3), -0.5, true)), {3, 3, 3, 3, 3});
    // tf_crop_and_resize: beyond the source there is the given value.
    ResizeAxis crop = axis(4, 3, 1, ResizeCoordinate::kTfCropAndResize);
    crop.roi_begin = 0.5, crop.roi_end = 1.5;
    require_near(resample(set, {0, 1, 2, 3}, 3, linear_tables(crop)), {1.5, 3, -5});
    for (int64_t out = 1; out <= 4 * set.lanes + 1; out += 1 + out / 9) {
      std::vector<float> x(static_cast<size_t>(5));
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * i) - 3;
      const ResampleTables tables = linear_tables(axis(5, out, static_cast<double>(out) / 5));
      std::vector<double> expected;
      for (int64_t j = 0; j < out; ++j)
        expected.push_back(double{tables.weight[j]} * x[tables.index[j]] +
                           double{tables.weight[out + j]} * x[tables.index[out + j]]);
      require_near(resample(set, x, out, tables), expected);
    }
  });
}

TEST_CASE("sums of doubles along an axis are the same bits on every set") {
  std::mt19937 random(9);
  for (int64_t in : {3, 40})
    for (int64_t inner : {1, 5, 33})
      for (int64_t out : {1, 7, 16, 61}) {
        ResizeAxis axis{.in = in, .out = out, .scale = static_cast<double>(out) / static_cast<double>(in)};
        if (out == 7) axis.coordinate = ResizeCoordinate::kTfCropAndResize, axis.roi_begin = 0.4, axis.roi_end = 1.3;
        const ResampleTables tables = in == 3 ? cubic_tables(axis) : linear_tables(axis, true);
        GuardedBuffer<double> x(static_cast<size_t>(2 * in * inner)), y(static_cast<size_t>(2 * out * inner));
        for (double& v : x) v = static_cast<double>(random() % 256);
        for (const KernelTable* set : tested_kernel_sets()) {
          y.refill();
          run_tasks(set->data->resample_f64,
                    ResampleF64Args{x.data(), y.data(), 2, in, out, inner, tables.taps, tables.index.data(), tables.exact.data(), -5});
          for (int64_t o = 0; o < 2; ++o)
            for (int64_t j = 0; j < out; ++j)
              for (int64_t i = 0; i < inner; ++i) {
                double sum = 0;
                for (int64_t t = 0; t < tables.taps && tables.index[j] >= 0; ++t) {
                  const volatile double product = tables.exact[t * out + j] * x[(o * in + tables.index[t * out + j]) * inner + i];
                  sum += product;
                }
                REQUIRE(y[(o * out + j) * inner + i] == (tables.index[j] < 0 ? -5 : sum));
              }
          REQUIRE(y.intact());
        }
      }
}

TEST_CASE("A weighted gather of blocks sums as one of planes, and reads nothing for negative indices") {
  std::mt19937 random(8);
  const auto draw = [&] { return static_cast<float>(random() % 1000) / 500 - 1; };
  for_every_set([&](const KernelTable& set) {
    for (int64_t count : {1, 4, 11})
      for (int64_t taps : {0, 1, 5}) {
        constexpr int64_t kPlane = 23;
        const int64_t lanes = set.lanes, channels = lanes + 2;
        GuardedBuffer<float> x(2 * kPlane * lanes), weight(taps * count), y(2 * count * lanes);
        GuardedBuffer<int32_t> index(taps * count);
        for (float& v : x) v = draw();
        for (int64_t i = 0; i < lanes; ++i) x[i] = std::numeric_limits<float>::quiet_NaN();  // pixel 0, which nothing reads
        for (float& v : weight) v = draw();
        for (int32_t& v : index) v = random() % 4 ? static_cast<int32_t>(random() % (kPlane - 1)) + 1 : -1;
        WeightedGatherArgs args{.x = x.data(), .y = y.data(), .channels = channels, .count = count, .x_stride = kPlane * lanes,
                                .y_stride = count * lanes, .taps = taps, .index = index.data(), .weight = weight.data(), .blocked = true};
        std::vector<double> want(static_cast<size_t>(2 * count * lanes));
        for (int pass = 0; pass < 2; ++pass) {
          args.accumulate = pass == 1;
          run_tasks(set.data->weighted_gather, args);
          for (int64_t i = 0; i < 2 * count * lanes; ++i) {
            const int64_t block = i / (count * lanes), j = i / lanes % count;
            double& sum = want[static_cast<size_t>(i)];
            for (int64_t t = 0; t < taps; ++t)
              if (const int32_t at = index[t * count + j]; at >= 0)
                sum += double{weight[t * count + j]} * x[(block * kPlane + at) * lanes + i % lanes];
            REQUIRE(std::fabs(y[i] - sum) <= 1e-5);
          }
          REQUIRE(y.intact());
        }
      }
  });
}

TEST_CASE("A weighted gather sums what its tables name, and reads nothing for negative indices") {
  std::mt19937 random(7);
  for_every_set([&](const KernelTable& set) {
    for (int64_t count : {int64_t{1}, int64_t{set.lanes}, int64_t{5 * set.lanes + 3}})
      for (int64_t taps : {0, 1, 4}) {
        constexpr int64_t kChannels = 3, kPlane = 37;
        GuardedBuffer<float> x(kChannels * kPlane), weight(taps * count), y(kChannels * (count + 2));
        GuardedBuffer<int32_t> index(taps * count);
        for (float& v : x) v = static_cast<float>(random() % 1000) / 500 - 1;
        for (float& v : weight) v = static_cast<float>(random() % 1000) / 500 - 1;
        for (int32_t& v : index) v = static_cast<int32_t>(random() % (kPlane + 1)) - 1;
        WeightedGatherArgs args{.x = x.data(), .y = y.data(), .channels = kChannels, .count = count, .x_stride = kPlane,
                                .y_stride = count + 2, .taps = taps, .index = index.data(), .weight = weight.data()};
        std::vector<double> want(static_cast<size_t>(kChannels * count));
        for (int pass = 0; pass < 2; ++pass) {
          args.accumulate = pass == 1;
          run_tasks(set.data->weighted_gather, args);
          for (int64_t c = 0; c < kChannels; ++c)
            for (int64_t j = 0; j < count; ++j) {
              double& sum = want[static_cast<size_t>(c * count + j)];
              for (int64_t t = 0; t < taps; ++t)
                if (index[t * count + j] >= 0) sum += double{weight[t * count + j]} * x[c * kPlane + index[t * count + j]];
              REQUIRE(std::fabs(y[c * (count + 2) + j] - sum) <= 1e-5);
            }
          REQUIRE(y.intact());
        }
      }
  });
}

TEST_CASE("A weighted gather takes the largest product, NaN where it is the first, in planes and in blocks") {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  std::mt19937 random(9);
  for_every_set([&](const KernelTable& set) {
    for (const bool blocked : {false, true})
      for (int64_t count : {1, 4, 7, 35})
        for (int64_t taps : {0, 1, 2, 8}) {
          constexpr int64_t kPlane = 23, kPlanes = 2;
          const int64_t lanes = blocked ? set.lanes : 1;
          GuardedBuffer<float> x(kPlanes * kPlane * lanes), weight(taps * count), y(kPlanes * count * lanes);
          GuardedBuffer<int32_t> index(taps * count);
          for (float& v : x) v = random() % 9 ? static_cast<float>(random() % 1000) / 500 - 1.5f : kNaN;
          for (float& v : weight) v = static_cast<float>(random() % 1000) / 900;
          for (int32_t& v : index) v = static_cast<int32_t>(random() % (kPlane + 1)) - 1;
          for (int64_t i = 0; i < taps * count; ++i)
            if (index[i] < 0) weight[i] = kNaN;  // nobody looks at it
          WeightedGatherArgs args{.x = x.data(),
                                  .y = y.data(),
                                  .channels = kPlanes * lanes,
                                  .count = count,
                                  .x_stride = kPlane * lanes,
                                  .y_stride = count * lanes,
                                  .taps = taps,
                                  .index = index.data(),
                                  .weight = weight.data(),
                                  .blocked = blocked,
                                  .largest = true};
          std::vector<float> want(y.size());
          for (int pass = 0; pass < 2; ++pass) {
            args.accumulate = pass == 1;
            run_tasks(set.data->weighted_gather, args);
            for (size_t i = 0; i < want.size(); ++i) {
              const auto at = static_cast<int64_t>(i), plane = at / (count * lanes), j = at / lanes % count;
              for (int64_t t = 0; t < taps; ++t) {
                const int32_t from = index[t * count + j];
                const float product = from < 0 ? 0 : weight[t * count + j] * x[(plane * kPlane + from) * lanes + at % lanes];
                want[i] = t == 0 && pass == 0 ? product : std::max(want[i], product);
              }
            }
            REQUIRE(same_values(y.data(), want.data(), want.size()));
            REQUIRE(y.intact());
          }
        }
  });
}
}  // namespace data_resize_test
