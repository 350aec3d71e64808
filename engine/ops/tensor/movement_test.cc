// Shapes and canonical forms of the operators that move elements, and what those choose whose output sizes are in the data.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "engine/ops/host_test_util.h"
#include "engine/ops/infer_test_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace movement_test {
using namespace svengine;
using namespace svengine::ops::tests;

namespace {
using Ints = std::vector<int64_t>;
}

TEST_CASE("Concat adds along its axis") {
  const std::initializer_list<std::pair<const char*, Attribute>> axis1 = {{"axis", int64_t{1}}};
  CHECK(OneNode("Concat", {f32({2, 3}), f32({2, 5})}, axis1).outcome == "float32[2x8]");
  CHECK(OneNode("Concat", {f32({sym("N"), 3}), f32({2, sym("C")})}, axis1).outcome == "float32[2x?]");
  CHECK(OneNode("Concat", {f32({sym("N"), 3}), f32({sym("N"), 3})}, {{"axis", int64_t{-1}}}).outcome == "float32[Nx6]");
  CHECK(OneNode("Concat", {f32({2, 3}), f32({3, 3})}, axis1).says("input 1 (inputs) is 3 wide in dimension 0, those before are 2"));
  CHECK(OneNode("Concat", {f32({2, 3}), f32({3})}, axis1).says("ranks 2 and 1"));
  CHECK(OneNode("Concat", {f32({2, 3}), i64({2, 3})}, axis1).says("types float32 and int64"));
  CHECK(OneNode("Concat", {f32({2, 3})}).says("attribute 'axis' is missing"));
}

TEST_CASE("Upsample's sizes are float32 products, exact beyond float32's whole numbers") {
  const auto scaled = [](int64_t size, float scale) {
    return OneNode("Upsample", {f32({size})}, {{"scales", std::vector<float>{scale}}}, 1, 7).outcome;
  };
  CHECK(scaled(40, 3.3f) == "float32[132]");
  CHECK(scaled((1 << 24) + 1, 1) == "float32[16777217]");
  CHECK(scaled((1 << 23) + 1, 3) == "float32[25165827]");
}

TEST_CASE("Split by sizes, by number, and equally") {
  CHECK(OneNode("Split", {f32({6, 5})}, {}, 3, 17).outcome == "float32[2x5] float32[2x5] float32[2x5]");
  CHECK(OneNode("Split", {f32({7, 5})}, {{"num_outputs", int64_t{3}}}, 3).outcome == "float32[3x5] float32[3x5] float32[1x5]");
  CHECK(OneNode("Split", {f32({2, 5}), ints({1, 4})}, {{"axis", int64_t{1}}}, 2).outcome == "float32[2x1] float32[2x4]");
  CHECK(OneNode("Split", {f32({5})}, {{"split", Ints{2, 3}}}, 2, 11).outcome == "float32[2] float32[3]");
  CHECK(OneNode("Split", {f32({6, 5})}, {}, 3).says("neither input split nor attribute num_outputs"));
  CHECK(OneNode("Split", {f32({5})}, {}, 2, 17).says("5 does not split into 2 equal pieces"));
  CHECK(OneNode("Split", {f32({5}), ints({2, 2})}, {}, 2).says("the pieces sum to 4, the axis has 5"));
  CHECK(OneNode("Split", {f32({5}), ints({7, -2})}, {}, 2).says("size -2"));
  CHECK(OneNode("Split", {f32({5}), ints({5})}, {}, 2).says("1 sizes for 2 outputs"));
}

TEST_CASE("Slice clamps") {
  const Dim n = sym("N");
  CHECK(OneNode("Slice", {f32({7, 9}), ints({1, -3}), ints({100, -1})}).outcome == "float32[6x2]");
  CHECK(OneNode("Slice", {f32({7}), ints({-1}), ints({INT64_MIN}), ints({0}), ints({-2})}).outcome == "float32[4]");
  CHECK(OneNode("Slice", {f32({7}), ints({5}), ints({2})}).outcome == "float32[0]");
  CHECK(OneNode("Slice", {f32({7}), ints({0}), ints({7}), ints({0}), ints({INT64_MIN})}).outcome == "float32[0]");
  CHECK(OneNode("Slice", {f32({7}), ints({6}), ints({-8}), ints({0}), ints({INT64_MIN})}).outcome == "float32[1]");
  // Backwards a start before the first element is the first one: ONNX's words, not NumPy's.
  for (int64_t start : {INT64_MIN, int64_t{-100}, int64_t{-8}, int64_t{0}})
    CHECK(OneNode("Slice", {f32({7}), ints({start}), ints({INT64_MIN}), ints({0}), ints({-1})}).outcome == "float32[1]");
  CHECK(OneNode("Slice", {f32({7}), ints({INT64_MAX}), ints({INT64_MAX}), ints({0}), ints({-1})}).outcome == "float32[0]");
  CHECK(OneNode("Slice", {f32({0}), ints({INT64_MIN}), ints({INT64_MIN}), ints({0}), ints({-1})}).outcome == "float32[0]");
  CHECK(OneNode("Slice", {f32({7}), ints({INT64_MIN}), ints({INT64_MIN})}).outcome == "float32[0]");
  CHECK(OneNode("Slice", {f32({n, 9}), ints({0}), ints({INT64_MAX}), ints({0})}).outcome == "float32[Nx9]");
  CHECK(OneNode("Slice", {f32({n, 9}), ints({1}), ints({2}), ints({0})}).outcome == "float32[?x9]");
  CHECK(OneNode("Slice", {f32({n, 9}), i64({1}), i64({1}), ints({1})}).outcome == "float32[Nx?]");
  CHECK(OneNode("Slice", {f32({7, 9})}, {{"starts", Ints{1}}, {"ends", Ints{3}}, {"axes", Ints{1}}}, 1, 9).outcome == "float32[7x2]");
  CHECK(OneNode("Slice", {f32({7}), ints({0}), ints({1}), ints({0}), ints({0})}).says("a step is 0"));
  CHECK(OneNode("Slice", {f32({7}), ints({0, 1}), ints({1})}).says("need equally many"));
  CHECK(OneNode("Slice", {f32({7, 7}), ints({0, 1}), ints({1, 1}), ints({0, -2})}).says("names axis 0 twice"));
}

TEST_CASE("Pad grows and crops, with pads from attribute or input") {
  CHECK(OneNode("Pad", {f32({3, 5}), ints({1, 2, 0, -3})}).outcome == "float32[4x4]");
  CHECK(OneNode("Pad", {f32({sym("N"), 5}), ints({0, 2, 0, 3})}).outcome == "float32[Nx10]");
  CHECK(OneNode("Pad", {f32({3, 5}), ints({1, 1}), {}, ints({-1})}).outcome == "float32[3x7]");
  OneNode old("Pad", {f32({3})}, {{"pads", Ints{1, 1}}, {"value", 2.0f}}, 1, 2);
  CHECK(old.outcome == "float32[5]");
  REQUIRE(old.node->inputs().size() == 3);
  CHECK(old.node->input(2)->constant().data<float>()[0] == 2.0f);
  CHECK(OneNode("Pad", {f32({3}), ints({1})}).says("1 pads, needs two for each of 1 axes"));
  CHECK(OneNode("Pad", {f32({3}), ints({-2, -2})}).says("take more from dimension 0"));
  CHECK(OneNode("Pad", {f32({0}), ints({1, 1})}, {{"mode", std::string("edge")}}).says("dimension 0 is empty"));
  CHECK(OneNode("Pad", {f32({3}), ints({-3, 2})}, {{"mode", std::string("wrap")}}).says("dimension 0 is cut off, and mode wrap has nothing"));
  CHECK(OneNode("Pad", {f32({3}), ints({-2, 2})}, {{"mode", std::string("wrap")}}).outcome == "float32[3]");
  CHECK(OneNode("Pad", {f32({3}), ints({1, 1})}, {{"mode", std::string("mirror")}}).says("needs constant, reflect, edge or wrap"));
}

TEST_CASE("Gathers and scatters check known indices") {
  const Given two_by_two(Tensor::of<int64_t>({2, 2}, {0, 1, -1, 2}));
  CHECK(OneNode("Gather", {f32({3, 5}), two_by_two}).outcome == "float32[2x2x5]");
  CHECK(OneNode("Gather", {f32({4, 3}), i64(kScalar)}, {{"axis", int64_t{-1}}}).outcome == "float32[4]");
  CHECK(OneNode("Gather", {f32({2, 5}), two_by_two}).says("index 2 is outside [-2, 1]"));
  CHECK(OneNode("Gather", {f32({2}), f32({1})}).says("needs int32 or int64"));
  CHECK(OneNode("GatherElements", {f32({3, 5}), two_by_two}).outcome == "float32[2x2]");
  CHECK(OneNode("GatherElements", {f32({3, 1}), two_by_two}).says("dimension 1 of the indices is 2, the data has only 1"));
  CHECK(OneNode("GatherND", {f32({2, 3, 5}), two_by_two}).outcome == "float32[2x5]");
  CHECK(OneNode("GatherND", {f32({2, 2, 5}), two_by_two}).says("index 2 is outside [-2, 1]"));
  CHECK(OneNode("GatherND", {f32({2, 3, 5}), i64({2, 4, 1})}, {{"batch_dims", int64_t{1}}}).outcome == "float32[2x4x5]");
  CHECK(OneNode("GatherND", {f32({2}), i64({2, 2})}).says("the last dimension of the indices is 2"));
  CHECK(OneNode("ScatterND", {f32({4, 5}), i64({3, 1}), f32({3, 5})}).outcome == "float32[4x5]");
  CHECK(OneNode("ScatterND", {f32({4, 5}), i64({3, 1}), f32({3})}).says("updates have shape 3, need 3x5"));
  CHECK(OneNode("ScatterElements", {f32({4}), i64({2}), f32({3})}).says("need one shape"));
  CHECK(OneNode("ScatterElements", {f32({4}), i64({2}), i64({2})}).says("input 0 (data) and input 2 (updates) are of types float32 and int64"));
  OneNode old("Scatter", {f32({4}), i64({2}), f32({2})}, {}, 1, 9);
  CHECK(old.node->op().name == std::string_view("ScatterElements"));
}

TEST_CASE("Resize takes scales or sizes; Upsample becomes Resize") {
  const Given none(Tensor::of<float>({0}, {})), doubled(Tensor::of<float>({4}, {1, 1, 2, 2}));
  const Shape x{1, sym("C"), 5, 7};
  CHECK(OneNode("Resize", {f32(x), none, doubled}).outcome == "float32[1xCx10x14]");
  CHECK(OneNode("Resize", {f32(x), {}, {}, ints({1, 3, 9, 4})}).outcome == "float32[1x3x9x4]");
  CHECK(OneNode("Resize", {f32({1, 1, 4, 8}), {}, {}, ints({8, 8})},
                {{"axes", Ints{2, 3}}, {"keep_aspect_ratio_policy", std::string("not_larger")}}).outcome == "float32[1x1x4x8]");
  CHECK(OneNode("Resize", {f32(x), doubled}, {}, 1, 10).outcome == "float32[1xCx10x14]");
  CHECK(OneNode("Resize", {f32(x), none, doubled, ints({1, 3, 9, 4})}).says("either scales or sizes"));
  CHECK(OneNode("Resize", {f32(x), none, Tensor::of<float>({2}, {1, 1})}).says("scales has 2 elements, needs 4 for 4 axes"));
  CHECK(OneNode("Resize", {f32(x), none, Tensor::of<float>({4}, {1, 1, -1, 1})}).says("scale -1 of axis 2"));
  const Attribute larger = std::string("not_smaller"), crop = std::string("tf_crop_and_resize");
  CHECK(OneNode("Resize", {f32({1, 1 << 30}), {}, {}, ints({int64_t{1} << 48, 1})}, {{"keep_aspect_ratio_policy", larger}}).says("out of range"));
  CHECK(OneNode("Resize", {f32({4}), Tensor::of<float>({2}, {0, 1e38f}), Tensor::of<float>({1}, {1e-38f})},
                {{"coordinate_transformation_mode", crop}}).says("is not within 2^30 lengths of the axis"));
  OneNode old("Upsample", {f32(x), doubled}, {{"mode", std::string("linear")}}, 1, 9);
  CHECK(old.outcome == "float32[1xCx10x14]");
  CHECK(old.node->op().name == std::string_view("Resize"));
  CHECK(OneNode("Upsample", {f32({1, 2})}, {{"scales", std::vector<float>{1, 3}}}, 1, 7).outcome == "float32[1x6]");
}

TEST_CASE("operators whose output size is in the data wait for it") {
  CHECK(OneNode("NonZero", {f32({2, 3})}).outcome == "int64[2x?]");
  CHECK(OneNode("NonZero", {Tensor::of<float>({2, 2}, {0, 1, 2, 0})}).outcome == "int64[2x2]");
  CHECK(OneNode("Compress", {f32({3, 2}), Tensor::of<bool>({2}, {true, false})}, {{"axis", int64_t{0}}}).outcome == "float32[1x2]");
  CHECK(OneNode("Compress", {f32({2}), Tensor::of<bool>({3}, {true, false, true})}).says("condition 2 is true"));
  CHECK(OneNode("Unique", {Tensor::of<float>({3}, {1, 2, 1})}, {}, 4).outcome == "float32[2] int64[2] int64[3] int64[2]");
  CHECK(OneNode("TopK", {f32({3, 9}), ints({4})}, {}, 2).outcome == "float32[3x4] int64[3x4]");
  CHECK(OneNode("TopK", {f32({3, 9})}, {{"k", int64_t{2}}}, 2, 9).outcome == "float32[3x2] int64[3x2]");
  CHECK(OneNode("TopK", {f32({3, 9}), ints({10})}, {}, 2).says("k is 10, needs 0 to 9"));
  CHECK(OneNode("OneHot", {i64({3}), ints({5}), f32({2})}).outcome == "float32[3x5]");
  CHECK(OneNode("OneHot", {i64({3}), i64({1}), f32({2})}, {{"axis", int64_t{0}}}).outcome == "float32[?x3]");
  CHECK(OneNode("Tile", {f32({2, sym("N")}), ints({3, 1})}).outcome == "float32[6xN]");
  CHECK(OneNode("DepthToSpace", {f32({1, 8, 2, 3})}, {{"blocksize", int64_t{2}}}).outcome == "float32[1x2x4x6]");
  CHECK(OneNode("DepthToSpace", {f32({1, 6, 2, 3})}, {{"blocksize", int64_t{2}}}).says("6 channels do not divide by 4"));
  CHECK(OneNode("SpaceToDepth", {f32({1, 2, 4, 6})}, {{"blocksize", int64_t{2}}}).outcome == "float32[1x8x2x3]");
}

namespace {

/// Elements of one type that are zero at every third place and at those of `zeros`.
template <class T>
void check_non_zero(DType type, T some, std::initializer_list<T> zeros, const Dims& dims) {
  const auto count = static_cast<size_t>(element_count(dims));
  std::vector<T> x;
  for (size_t i = 0; i < count; ++i) x.push_back(i % 3 == 1 ? T(0) : i % 7 == 5 && zeros.size() ? *zeros.begin() : some);
  const HostNode node("", "NonZero", {Tensor::wrap(type, dims, x.data(), nullptr)}, {}, 1, 13);
  std::vector<int64_t> places, want;
  for (size_t i = 0; i < count; ++i)
    if (i % 3 != 1 && (i % 7 != 5 || zeros.size() == 0)) places.push_back(static_cast<int64_t>(i));
  const std::vector<int64_t> strides = ops::strides_of(dims);
  for (size_t d = 0; d < dims.size(); ++d)
    for (const int64_t place : places) want.push_back(place / strides[d] % dims[d]);
  INFO(node.problem << " " << name_of(type) << " of " << to_string(dims));
  CHECK(node.ints() == want);
  CHECK(node.outputs[0].dims() == Dims{static_cast<int64_t>(dims.size()), static_cast<int64_t>(places.size())});
}

}  // namespace

TEST_CASE("NonZero tells NaN from zeros of either sign, at every place of a line") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Dims& dims :
       {Dims{1}, Dims{7}, Dims{8}, Dims{9}, Dims{67}, Dims{3, 1}, Dims{2, 8}, Dims{5, 3, 17}, Dims{2, 2, 2, 25}, Dims{0}, Dims{4, 0, 2}, Dims{}}) {
    check_non_zero<uint8_t>(DType::boolean, 1, {}, dims);
    check_non_zero<uint8_t>(DType::u8, 0x80, {}, dims);
    check_non_zero<uint16_t>(DType::f16, 0x7e01, {0x8000}, dims);
    check_non_zero<uint16_t>(DType::i16, 0x8000, {}, dims);
    check_non_zero<float>(DType::f32, static_cast<float>(nan), {-0.0f}, dims);
    check_non_zero<float>(DType::f32, 1e-40f, {-0.0f}, dims);
    check_non_zero<int32_t>(DType::i32, INT32_MIN, {}, dims);
    check_non_zero<double>(DType::f64, nan, {-0.0}, dims);
    check_non_zero<int64_t>(DType::i64, INT64_MIN, {}, dims);
    check_non_zero<uint8_t>(DType::f8e4m3fnuz, 0x80, {}, dims);  // its NaN; there is no -0
    check_non_zero<uint8_t>(DType::f8e5m2, 0x7f, {0x80}, dims);
  }
}

TEST_CASE("Compress takes elements of every size, and slices") {
  const bool some[] = {true, false, false, true, false, false, false, false, false, false, true};
  const Tensor chosen = Tensor::wrap(DType::boolean, {11}, some, nullptr);
  const auto check = [&]<class T>(T, DType type) {
    T x[24];
    for (int i = 0; i < 24; ++i) x[i] = static_cast<T>(3 * i + 1);
    const HostNode flat("", "Compress", {Tensor::wrap(type, {2, 12}, x, nullptr), chosen}, {}, 1, 11);
    REQUIRE(flat.outputs[0].dims() == Dims{3});
    CHECK(std::memcmp(flat.outputs[0].raw(), std::array<T, 3>{x[0], x[3], x[10]}.data(), 3 * sizeof(T)) == 0);
    const HostNode columns("", "Compress", {Tensor::wrap(type, {2, 12}, x, nullptr), chosen}, {{"axis", int64_t{1}}}, 1, 11);
    CHECK(std::memcmp(columns.outputs[0].raw(), std::array<T, 6>{x[0], x[3], x[10], x[12], x[15], x[22]}.data(), 6 * sizeof(T)) == 0);
  };
  const HostNode empty("", "Compress", {Tensor::wrap(DType::f32, {11, 0}, some, nullptr), chosen}, {{"axis", int64_t{0}}}, 1, 11);
  CHECK(empty.outputs[0].dims() == Dims{3, 0});
  check(uint8_t{}, DType::u8);
  check(uint16_t{}, DType::u16);
  check(float{}, DType::f32);
  check(int64_t{}, DType::i64);
}

TEST_CASE("GatherElements and GatherND refuse an index outside, wherever it stands, and take negative ones") {
  const int64_t count = 300;
  std::vector<float> x(static_cast<size_t>(count));
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const Tensor data = Tensor::of<float>({count}, std::span<const float>(x));
  for (const int64_t bad : {-count - 1, count, INT64_MIN, INT64_MAX})
    for (const size_t at : {size_t{0}, size_t{150}, size_t{299}}) {
      std::vector<int64_t> indices(static_cast<size_t>(count), -count);
      const auto gathered = [&](const char* op, Dims dims) {
        return HostNode("", op, {data, Tensor::of<int64_t>(std::move(dims), std::span<const int64_t>(indices))}, {}, 1, 13);
      };
      CHECK(gathered("GatherElements", {count}).problem.empty());
      CHECK(gathered("GatherND", {count, 1}).outputs[0].data<float>()[at] == 0);
      indices[at] = bad;
      CHECK(gathered("GatherElements", {count}).says("outside"));
      CHECK(gathered("GatherND", {count, 1}).says("outside"));
    }
}
}  // namespace movement_test
