// What detection's operators infer, refuse and choose. Their values are compared with ONNX's own tests and across kernel sets.
#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "engine/graph/evaluate_context.h"
#include "engine/ops/infer_test_util.h"

namespace vision_test {
using namespace svengine;
using namespace svengine::ops::tests;
using Catch::Matchers::Contains;

namespace {

std::string outcome(const char* op, const std::vector<Given>& given,
                    std::initializer_list<std::pair<const char*, Attribute>> attributes = {}, int opset = 22) {
  return OneNode(op, given, attributes, 1, opset).outcome;
}

class Evaluation : public EvaluateContext {
 public:
  using EvaluateContext::EvaluateContext;
  Result<std::vector<Tensor>> run_body(std::string_view, std::vector<Tensor>) override { return error("no bodies here"); }
};

/// Rows of three numbers, flat; or the error.
struct Selected {
  std::vector<int64_t> rows;
  std::string error;
};

Selected suppress(const std::vector<Tensor>& inputs, std::initializer_list<std::pair<const char*, Attribute>> attributes = {}) {
  const OneNode one("NonMaxSuppression", std::vector<Given>(inputs.begin(), inputs.end()), attributes, 1, 11);
  REQUIRE(one.node);
  Evaluation evaluation(*one.node, inputs);
  if (Status status = one.node->op().evaluate(evaluation); !status.ok()) return {{}, status.error().message()};
  const Tensor out = evaluation.take_outputs()[0];
  return {{out.data<int64_t>().begin(), out.data<int64_t>().end()}, {}};
}

Tensor numbers(Dims dims, std::initializer_list<float> values) { return Tensor::of<float>(std::move(dims), values); }
Tensor count(int64_t n) { return Tensor::of<int64_t>({1}, {n}); }

}  // namespace

TEST_CASE("vision: shapes with unknown and symbolic dimensions") {
  CHECK(outcome("GridSample", {f32({sym("N"), 3, Dim(), 8}), f32({2, 4, sym("W"), 2})}) == "float32[2x3x4xW]");
  CHECK(outcome("GridSample", {f32({1, 3, 4, 5, 6}), f32({1, 2, 3, 4, 3})}) == "float32[1x3x2x3x4]");
  CHECK(outcome("RoiAlign", {f32({1, 16, 9, 9}), f32({sym("R"), 4}), i64({sym("R")})},
                {{"output_height", int64_t{7}}, {"output_width", int64_t{5}}}) == "float32[Rx16x7x5]");
  CHECK(outcome("MaxRoiPool", {f32({1, 3, 9, 9}), f32({sym("R"), 5})}, {{"pooled_shape", std::vector<int64_t>{2, 3}}}) ==
        "float32[Rx3x2x3]");
  CHECK(outcome("DeformConv", {f32({sym("N"), 4, 6, 6}), f32({8, 4, 3, 3}), f32({sym("N"), 18, 4, 4})}) == "float32[Nx8x4x4]");
  CHECK(outcome("MaxUnpool", {f32({sym("N"), 2, 3, 3}), i64({sym("N"), 2, 3, 3})},
                {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}}) == "float32[Nx2x6x6]");
  CHECK(outcome("NonMaxSuppression", {f32({1, 6, 4}), f32({1, 2, 6})}) == "int64[?x3]");
}

TEST_CASE("vision: what does not fit is refused with what would") {
  CHECK_THAT(outcome("GridSample", {f32({1, 3, 4, 5}), f32({1, 2, 2, 3})}), Contains("needs 2"));
  CHECK_THAT(outcome("GridSample", {f32({1, 3, 4, 5}), f32({2, 2, 2, 2})}), Contains("2 images"));
  CHECK_THAT(outcome("GridSample", {f32({1, 3, 4, 5}), f32({1, 2, 2, 2})}, {{"mode", std::string("bilinear")}}),
             Contains("nearest, linear or cubic"));
  CHECK_THAT(outcome("RoiAlign", {f32({1, 3, 4, 5}), f32({2, 5}), i64({2})}), Contains("4 columns"));
  CHECK_THAT(outcome("RoiAlign", {f32({1, 3, 4, 5}), f32({2, 4}), i64({3})}), Contains("3 batch indices for 2 regions"));
  CHECK_THAT(outcome("RoiAlign", {f32({1, 3, 4, 5}), f32({2, 4}), i64({2})}, {{"output_height", int64_t{0}}}),
             Contains("output_height is 0"));
  CHECK_THAT(outcome("MaxRoiPool", {f32({1, 3, 9, 9}), f32({2, 4})}, {{"pooled_shape", std::vector<int64_t>{2, 3}}}),
             Contains("5 columns"));
  CHECK_THAT(outcome("DeformConv", {f32({1, 4, 6, 6}), f32({8, 4, 3, 3}), f32({1, 9, 4, 4})}), Contains("needs 1x18x4x4"));
  CHECK_THAT(outcome("DeformConv", {f32({1, 4, 6, 6}), f32({8, 2, 3, 3}), f32({1, 18, 4, 4})}), Contains("do not fit"));
  CHECK_THAT(outcome("NonMaxSuppression", {f32({1, 6, 4}), f32({1, 2, 5})}), Contains("do not belong together"));
}

TEST_CASE("vision: older forms become the newest one") {
  const auto mode = [](const char* given, int opset) {
    return OneNode("GridSample", {f32({1, 1, 2, 2}), f32({1, 1, 1, 2})}, {{"mode", std::string(given)}}, 1, opset)
        .node->attributes.get_string("mode");
  };
  CHECK(mode("bilinear", 16) == "linear");
  CHECK(mode("bicubic", 16) == "cubic");
  CHECK(mode("nearest", 16) == "nearest");
  CHECK(mode("cubic", 20) == "cubic");
  const auto coordinates = [](int opset) {
    return OneNode("RoiAlign", {f32({1, 1, 2, 2}), f32({1, 4}), i64({1})}, {}, 1, opset)
        .node->attributes.get_string("coordinate_transformation_mode", "half_pixel");
  };
  CHECK(coordinates(10) == "output_half_pixel");
  CHECK(coordinates(16) == "half_pixel");
}

TEST_CASE("vision: boxes are suppressed by overlap, in the order of scores, first of equal ones first") {
  const Tensor boxes =
      numbers({1, 6, 4}, {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, -0.1f, 1, 0.9f, 0, 10, 1, 11, 0, 10.1f, 1, 11.1f, 0, 100, 1, 101});
  const Tensor scores = numbers({1, 1, 6}, {0.9f, 0.75f, 0.6f, 0.95f, 0.5f, 0.3f}), half = numbers({1}, {0.5f});
  using Rows = std::vector<int64_t>;
  CHECK(suppress({boxes, scores, count(3), half, numbers({1}, {0})}).rows == Rows{0, 0, 3, 0, 0, 0, 0, 0, 5});
  CHECK(suppress({boxes, scores, count(2), half}).rows == Rows{0, 0, 3, 0, 0, 0});
  CHECK(suppress({boxes, scores, count(9), half, numbers({1}, {0.9f})}).rows == Rows{0, 0, 3});  // strictly above
  CHECK(suppress({boxes, scores}).rows.empty());
  CHECK(suppress({boxes, scores, count(-1)}).rows.empty());
  CHECK_THAT(suppress({boxes, scores, count(3), numbers({1}, {2})}).error, Contains("needs 0 to 1"));
  const Tensor flipped = numbers({1, 2, 4}, {1, 1, 0, 0, 0, 0, 1, 1}), equal = numbers({1, 1, 2}, {0.5f, 0.5f});
  CHECK(suppress({flipped, equal, count(2), half}).rows == Rows{0, 0, 0});
  const Tensor centers = numbers({1, 2, 4}, {0.5f, 0.5f, 1, 1, 0.5f, 0.6f, 1, 1});
  CHECK(suppress({centers, equal, count(2), half}, {{"center_point_box", int64_t{1}}}).rows == Rows{0, 0, 0});
  CHECK(suppress({centers, equal, count(2), numbers({1}, {0.9f})}, {{"center_point_box", int64_t{1}}}).rows ==
        Rows{0, 0, 0, 0, 0, 1});
  const Tensor empty = numbers({1, 2, 4}, {0, 0, 0, 1, 0, 0, 0, 1});  // no area: nothing overlaps
  CHECK(suppress({empty, equal, count(2), numbers({1}, {0})}).rows == Rows{0, 0, 0, 0, 0, 1});
}

namespace {

/// The specification's words: a box is chosen unless a better one that was chosen overlaps it by more than the threshold.
std::vector<int64_t> suppress_one_by_one(const std::vector<float>& boxes, const std::vector<float>& scores, float threshold) {
  std::vector<size_t> order(scores.size()), kept;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  const auto overlap = [&](size_t a, size_t b) {
    const float *p = &boxes[4 * a], *q = &boxes[4 * b];
    const float height = std::min(p[2], q[2]) - std::max(p[0], q[0]), width = std::min(p[3], q[3]) - std::max(p[1], q[1]);
    const float areas = (p[3] - p[1]) * (p[2] - p[0]) + (q[3] - q[1]) * (q[2] - q[0]), both = width * height;
    return height > 0 && width > 0 && both > 0 && both / (areas - both) > threshold;
  };
  for (const size_t i : order)
    if (std::none_of(kept.begin(), kept.end(), [&](size_t k) { return overlap(k, i); })) kept.push_back(i);
  return {kept.begin(), kept.end()};
}

}  // namespace

TEST_CASE("vision: many boxes are suppressed as one by one, wherever they lie") {
  std::mt19937 random(3);
  const auto real = [&](float low, float high) { return std::uniform_real_distribution<float>(low, high)(random); };
#ifdef SVENGINE_EMULATED  // one by one takes their square
  constexpr size_t kBoxes = 600;
#else
  constexpr size_t kBoxes = 1500;
#endif
  for (const float apart : {0.0f, 50.0f, 1e6f, 1e37f}) {  // of groups of boxes, as exports move classes
    std::vector<float> boxes, scores;
    for (size_t i = 0; i < kBoxes; ++i) {
      const float move = apart * static_cast<float>(random() % 20), top = real(-20, 20), left = real(-20, 20);
      boxes.insert(boxes.end(), {top, left + move, top + real(0, 25), left + move + real(0, i % 50 ? 25 : 500)});
      scores.push_back(static_cast<float>(random() % 700));
    }
    boxes[41] = std::numeric_limits<float>::infinity();
    boxes[83] = -std::numeric_limits<float>::infinity();
    for (const float threshold : {0.0f, 0.3f, 0.7f}) {
      MutableTensor all = Tensor::allocate(DType::f32, {1, kBoxes, 4}).value();
      MutableTensor values = Tensor::allocate(DType::f32, {1, 1, kBoxes}).value();
      std::copy(boxes.begin(), boxes.end(), all.data<float>().begin());
      std::copy(scores.begin(), scores.end(), values.data<float>().begin());
      const Selected got = suppress({all, values, count(kBoxes), numbers({1}, {threshold})});
      std::vector<int64_t> chosen;
      for (size_t i = 2; i < got.rows.size(); i += 3) chosen.push_back(got.rows[i]);
      CHECK(chosen == suppress_one_by_one(boxes, scores, threshold));
    }
  }
}
}  // namespace vision_test
