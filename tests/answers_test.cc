// What single nodes answer where operators are easily got wrong, against the specification's words: limits, infinities, windows at
// the border, broadcasting in every position, and what older opsets say differently. On every kernel set.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "engine/graph/builder.h"
#include "engine/ops/canonical.h"
#include "engine/ops/registry.h"
#include "engine/ops/tensor/resize_common.h"
#include "engine/plan/plan.h"
#include "tests/support/broadcast.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"

namespace answers_test {
using namespace svengine;
using namespace svengine::tests;
namespace {
using AttributeList = std::initializer_list<std::pair<const char*, Attribute>>;
using Ints = std::vector<int64_t>;
constexpr float kInf = std::numeric_limits<float>::infinity();

/// The node's outputs for these inputs (an undefined tensor is an absent one), canonicalised for `opset` as the importer does.
Result<std::vector<Tensor>> answer(const kernels::KernelTable& set, const char* op, const std::vector<Tensor>& inputs,
                                   Attributes attributes, size_t outputs, int opset) {
  Graph graph;
  std::vector<Value*> values;
  for (const Tensor& t : inputs) values.push_back(t.defined() ? graph.add_constant("c", t) : nullptr);
  Node* node = graph.add_node(*all_ops().find("", op), "n", std::move(values), outputs, std::move(attributes));
  CanonicalizeContext context(graph, *node, all_ops(), opset);
  SV_TRY(ops::to_canonical_form(context));
  SV_TRY(infer_types(*node));
  return evaluate(*node, set);
}

Tensor floats(std::initializer_list<float> values) { return Tensor::of<float>({static_cast<int64_t>(values.size())}, values); }
Tensor ints(std::initializer_list<int64_t> values) { return Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values); }

/// Every kernel set answers `expected` with its first output.
void check(const char* op, const std::vector<Tensor>& inputs, AttributeList attributes, const Tensor& expected, int opset = 21) {
  for (const kernels::KernelTable* set : kernels::available_kernel_sets()) {
    const auto got = answer(*set, op, inputs, make_attributes(attributes), 1, opset);
    INFO(op << ", opset " << opset << ", " << set->name);
    if (!got.ok()) FAIL(got.error().message());
    const Status same = all_close((*got)[0], expected, 1e-6, 1e-6);
    INFO((same.ok() ? "" : same.error().message()));
    CHECK(same.ok());
  }
}

template <class T>
constexpr DType type_of() {
  if (std::is_same_v<T, float>) return DType::f32;
  if (std::is_same_v<T, double>) return DType::f64;
  constexpr DType kSigned[] = {DType::i8, DType::i16, DType::i32, DType::i64};
  constexpr DType kUnsigned[] = {DType::u8, DType::u16, DType::u32, DType::u64};
  return (std::is_signed_v<T> ? kSigned : kUnsigned)[sizeof(T) == 8 ? 3 : sizeof(T) / 2];
}

template <class T>
Tensor vector_of(std::initializer_list<T> values) {
  MutableTensor t = Tensor::allocate(type_of<T>(), {static_cast<int64_t>(values.size())}).value();
  std::copy(values.begin(), values.end(), t.data<T>().begin());
  return t;
}

template <class T>
Tensor counted(Dims dims, int seed) {
  MutableTensor t = Tensor::allocate(type_of<T>(), std::move(dims)).value();
  for (size_t i = 0; i < t.data<T>().size(); ++i) t.data<T>()[i] = static_cast<T>((i * 7 + static_cast<size_t>(seed) * 5) % 11);
  return t;
}

/// Sum, Max, Min and Mean by their definition.
template <class T>
Tensor combined(std::string_view op, const std::vector<Tensor>& inputs, const Dims& out) {
  MutableTensor result = Tensor::allocate(type_of<T>(), out).value();
  for (size_t i = 0; i < result.data<T>().size(); ++i) {
    T value = inputs[0].template data<T>()[broadcast_place(inputs[0].dims(), out, i)];
    for (size_t k = 1; k < inputs.size(); ++k) {
      const T next = inputs[k].template data<T>()[broadcast_place(inputs[k].dims(), out, i)];
      value = op == "Max" ? std::max(value, next) : op == "Min" ? std::min(value, next) : static_cast<T>(value + next);
    }
    result.data<T>()[i] = op == "Mean" ? static_cast<T>(value / static_cast<T>(inputs.size())) : value;
  }
  return result;
}

template <class T>
void check_variadic(std::initializer_list<const char*> ops) {
  struct Case {
    std::vector<Dims> in;
    Dims out;
  };
  const Case cases[] = {{{{1}, {1}, {9}}, {9}},
                        {{{1, 1}, {1}, {1, 4096}}, {1, 4096}},
                        {{{2, 1}, {2, 1}, {2, 9}}, {2, 9}},
                        {{{40, 1}, {1}, {3}}, {40, 3}},
                        {{{3, 1}, {1}, {1}, {20000}}, {3, 20000}},
                        {{{2, 1, 1}, {1, 3, 1}, {5}, {2, 1, 5}}, {2, 3, 5}},
                        {{{}, {}, {33}, {}}, {33}}};
  for (const char* op : ops)
    for (const Case& c : cases) {
      std::vector<Tensor> inputs;
      for (const Dims& d : c.in) inputs.push_back(counted<T>(d, static_cast<int>(inputs.size())));
      INFO(name_of(type_of<T>()) << " to " << to_string(c.out));
      check(op, inputs, {}, combined<T>(op, inputs, c.out));
    }
}

}  // namespace

TEST_CASE("sums, extrema and means of operands that all repeat along the last dimension") {
  check_variadic<float>({"Sum", "Max", "Min", "Mean"});
  check_variadic<double>({"Sum", "Max", "Min", "Mean"});
  check_variadic<int8_t>({"Max", "Min"});
  check_variadic<uint8_t>({"Max", "Min"});
  check_variadic<int16_t>({"Max", "Min"});
  check_variadic<uint16_t>({"Max", "Min"});
  check_variadic<int32_t>({"Max", "Min"});
  check_variadic<uint32_t>({"Max", "Min"});
  check_variadic<int64_t>({"Max", "Min"});
  check_variadic<uint64_t>({"Max", "Min"});
}

TEST_CASE("a bound that Clip does not have is the type's finite limit, in every opset") {
  constexpr float kMost = std::numeric_limits<float>::max();
  const Tensor x = floats({-kInf, kInf, NAN, 1, -3}), low = Tensor::scalar(-2.0f), high = Tensor::scalar(0.5f);
  for (int opset : {6, 7, 10, 11, 12, 13, 21}) {
    check("Clip", {x}, {}, floats({-kMost, kMost, NAN, 1, -3}), opset);
    if (opset < 11) {
      check("Clip", {x}, {{"min", -2.0f}}, floats({-2, kMost, NAN, 1, -2}), opset);
      check("Clip", {x}, {{"max", 0.5f}}, floats({-kMost, 0.5f, NAN, 0.5f, -3}), opset);
    } else {
      check("Clip", {x, low}, {}, floats({-2, kMost, NAN, 1, -2}), opset);
      check("Clip", {x, {}, high}, {}, floats({-kMost, 0.5f, NAN, 0.5f, -3}), opset);
    }
  }
  constexpr double kMostDouble = std::numeric_limits<double>::max(), kInfDouble = std::numeric_limits<double>::infinity();
  const Tensor wide = Tensor::of<double>({3}, {-kInfDouble, kInfDouble, 1e300});
  check("Clip", {wide}, {}, Tensor::of<double>({3}, {-kMostDouble, kMostDouble, 1e300}));
  check("Clip", {wide}, {}, Tensor::of<double>({3}, {-double{kMost}, double{kMost}, double{kMost}}), 6);  // the attributes' defaults
  const uint64_t longs[] = {0, UINT64_MAX};
  const Tensor most_longs = Tensor::wrap(DType::u64, {2}, longs, nullptr);
  check("Clip", {most_longs}, {}, most_longs, 12);
  const uint16_t half_in[] = {0xfc00, 0x7c00, 0x3c00}, half_out[] = {0xfbff, 0x7bff, 0x3c00};  // infinities become +-65504
  check("Clip", {Tensor::wrap(DType::f16, {3}, half_in, nullptr)}, {}, Tensor::wrap(DType::f16, {3}, half_out, nullptr));
}

TEST_CASE("activations of NaN, infinities and -0, as ONNX Runtime answers") {
  const Tensor x = floats({NAN, kInf, -kInf, -0.0f});
  const std::pair<const char*, Tensor> answers[] = {{"ThresholdedRelu", floats({0, kInf, 0, 0})},  // x > alpha ? x : 0, says ONNX
                                                    {"Relu", floats({NAN, kInf, 0, 0})},
                                                    {"HardSigmoid", floats({NAN, 1, 0, 0.5f})},
                                                    {"Sign", floats({NAN, 1, -1, 0})},
                                                    {"Elu", floats({NAN, kInf, -1, 0})},
                                                    {"Selu", floats({NAN, kInf, -1.7580993f, 0})},
                                                    {"LeakyRelu", floats({NAN, kInf, -kInf, 0})},
                                                    {"Softplus", floats({NAN, kInf, 0, 0.6931472f})},
                                                    {"HardSwish", floats({NAN, kInf, NAN, 0})},
                                                    {"Celu", floats({NAN, kInf, -1, 0})},
                                                    {"Sigmoid", floats({NAN, 1, 0, 0.5f})},
                                                    {"Mish", floats({NAN, kInf, NAN, 0})}, {"Shrink", floats({0, kInf, -kInf, 0})},
                                                    {"Gelu", floats({NAN, kInf, NAN, 0})}};
  for (const auto& [op, expected] : answers) check(op, {x}, {}, expected);
}

TEST_CASE("Softsign of infinities is infinity by infinity") {
  check("Softsign", {floats({kInf, -kInf, NAN, 1, -3, 1e30f, -0.0f})}, {}, floats({NAN, NAN, NAN, 0.5f, -0.75f, 1, -0.0f}));
}

TEST_CASE("Shrink of integers stays within their limits") {
  check("Shrink", {ints({-5, 0, 5, 1})}, {{"bias", 1e20f}, {"lambd", 1.0f}}, ints({INT64_MAX, 0, INT64_MIN, 0}));
}

TEST_CASE("what is no number becomes the lowest level, by kernels and an element at a time, as ONNX Runtime has it") {
  MutableTensor half = Tensor::allocate(DType::f16, {3}).value();
  for (size_t i = 0; i < 3; ++i) std::memcpy(half.raw() + 2 * i, "\x00\x7e", 2);
  MutableTensor zero = Tensor::allocate(DType::i8, {}).value();
  zero.data<int8_t>()[0] = 3;
  const Tensor low = vector_of<int8_t>({-128, -128, -128});
  check("QuantizeLinear", {floats({NAN, NAN, NAN}), Tensor::scalar(0.1f), zero}, {}, low);
  check("QuantizeLinear", {half, Tensor::scalar(0.1f), zero}, {}, low);
}

TEST_CASE("Slice backwards from before the first element takes it") {
  for (int64_t start : {INT64_MIN, int64_t{-100}, int64_t{-3}, int64_t{0}})
    check("Slice", {floats({1, 2, 3}), ints({start}), ints({INT64_MIN}), ints({0}), ints({-1})}, {}, floats({1}));
  check("Slice", {floats({1, 2, 3}), ints({INT64_MAX}), ints({INT64_MIN}), ints({0}), ints({-2})}, {}, floats({3, 1}));
}

TEST_CASE("Resize before opset 11 rounds up where it shrinks and down where it grows") {
  const Tensor x = Tensor::of<float>({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto scales = [](float h, float w) { return Tensor::of<float>({4}, {1, 1, h, w}); };
  check("Resize", {x, scales(0.6f, 0.6f)}, {}, Tensor::of<float>({1, 1, 1, 2}, {1, 3}), 10);  // as ONNX's test_resize_downsample_nearest
  check("Resize", {x, scales(0.6f, 1.6f)}, {}, Tensor::of<float>({1, 1, 1, 6}, {1, 1, 2, 2, 3, 4}), 10);
  check("Upsample", {x, scales(1, 1.6f)}, {}, Tensor::of<float>({1, 1, 2, 6}, {1, 1, 2, 2, 3, 4, 5, 5, 6, 6, 7, 8}), 9);
  const Attributes own = make_attributes({{"nearest_mode", std::string("before opset 11")}});
  const auto refused = answer(*kernels::available_kernel_sets()[0], "Resize", {x, {}, scales(1, 1)}, own, 1, 13);
  CHECK_FALSE(refused.ok());
}

TEST_CASE("Resize refuses antialiasing that reads more than there is memory for") {
  const Attributes attributes = make_attributes({{"mode", std::string("linear")}, {"antialias", int64_t{1}}});
  const auto refused = ops::kernel_axis(attributes, {.axis = 0, .in = 4, .out = 2, .scale = 0x1p-28});
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message().find("reads too many elements") != std::string::npos);
}

TEST_CASE("Resize by scales of no whole number of elements copies and rounds as PyTorch does") {
  check("Resize", {floats({1, 2, 3, 4, 5}), {}, floats({1.1f})}, {{"mode", std::string("linear")}}, floats({1, 2, 3, 4, 5}));
  check("Resize", {floats({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), {}, floats({0.7f})}, {}, floats({0, 2, 3, 4, 6, 7, 9}));
}

TEST_CASE("a region does not change how many elements a scale gives") {
  // As ONNX's inference, its reference and ONNX Runtime have it, against the operator's text.
  check("Resize", {floats({1, 2, 3, 4}), floats({0.5f, 1}), floats({0.5f})},
        {{"coordinate_transformation_mode", std::string("tf_crop_and_resize")}, {"mode", std::string("linear")}}, floats({2.5f, 4}), 19);
}

TEST_CASE("Resize rounds integers, at most to their limits") {
  const auto bytes = vector_of<uint8_t>;
  const auto small = vector_of<int8_t>;
  // 8 + 12 * (2.5 - 0.5 - 1) with the scale 0.6f, a little more than 0.6: 19.9999988.
  check("Resize", {bytes({13, 8, 20, 18, 9}), {}, floats({0.6f})}, {{"mode", std::string("linear")}}, bytes({11, 20, 12}));
  // Of ONNX 1.23's reference, as what follows.
  check("Resize", {small({-4, -3}), {}, floats({4})}, {{"mode", std::string("linear")}}, small({-4, -4, -4, -4, -3, -3, -3, -3}));
  // Keys' convolution overshoots beside an edge.
  check("Resize", {bytes({0, 0, 255, 255}), {}, floats({2})}, {{"mode", std::string("cubic")}}, bytes({0, 0, 0, 58, 197, 255, 255, 255}));
}

TEST_CASE("antialiasing is by the scale, where corners are aligned too") {
  // Of ONNX 1.23's reference: 7 elements by 0.5.
  check("Resize", {floats({1, -2, 3, 0.5f, -1, 4, 2}), {}, floats({0.5f})},
        {{"mode", std::string("linear")}, {"antialias", int64_t{1}}, {"coordinate_transformation_mode", std::string("align_corners")}},
        floats({0.25f, 0.975f, 1.925f}), 18);
}

TEST_CASE("tf_half_pixel_for_nn shifts only axes that are resized") {
  const Tensor x = Tensor::of<float>({2, 1, 2}, {1, 2, 3, 4});
  for (const char* rounding : {"round_prefer_ceil", "ceil", "floor", "round_prefer_floor"})
    check("Resize", {x, {}, {}, ints({2, 1, 2})},
          {{"coordinate_transformation_mode", std::string("tf_half_pixel_for_nn")}, {"nearest_mode", std::string(rounding)}}, x, 11);
  check("Resize", {x, {}, {}, ints({2, 1, 3})},
        {{"coordinate_transformation_mode", std::string("tf_half_pixel_for_nn")}, {"nearest_mode", std::string("round_prefer_ceil")}},
        Tensor::of<float>({2, 1, 3}, {1, 2, 2, 3, 4, 4}), 11);
  check("Resize", {floats({1, 2, 4}), {}, floats({2})},  // the answer is ONNX Runtime 1.32's
        {{"coordinate_transformation_mode", std::string("tf_half_pixel_for_nn")}, {"mode", std::string("linear")}},
        floats({1.25f, 1.75f, 2.5f, 3.5f, 4, 4}), 11);
}

TEST_CASE("the extremum of no elements is the type's own limit") {
  for (const auto& [op, expected] : {std::pair("ReduceMax", int8_t(-128)), std::pair("ReduceMin", int8_t(127))})
    check(op, {vector_of<int8_t>({})}, {}, vector_of<int8_t>({expected}));
  for (const auto& [op, expected] : {std::pair("ReduceMax", uint8_t(0)), std::pair("ReduceMin", uint8_t(255))})
    check(op, {vector_of<uint8_t>({})}, {}, vector_of<uint8_t>({expected}));
}

TEST_CASE("uint64 is scattered with every reduction, beyond int64's limit") {
  constexpr uint64_t kLarge = uint64_t{1} << 63;
  const Tensor data = vector_of<uint64_t>({5, kLarge, 7}), updates = vector_of<uint64_t>({kLarge + 1, 2, 9});
  const std::pair<const char*, Tensor> cases[] = {{"max", vector_of<uint64_t>({5, kLarge + 1, 9})},
                                                  {"min", vector_of<uint64_t>({5, 2, 7})},
                                                  {"add", vector_of<uint64_t>({5, 3, 16})}};
  for (const auto& [reduction, expected] : cases)
    check("ScatterElements", {data, ints({1, 1, 2}), updates}, {{"reduction", std::string(reduction)}}, expected, 18);
}

TEST_CASE("Dropout's mask has the data's type before opset 10") {
  const kernels::KernelTable& set = *kernels::available_kernel_sets()[0];
  for (int opset : {7, 9}) {
    const auto got = answer(set, "Dropout", {Tensor::of<double>({2}, {3, 4})}, {}, 2, opset);
    REQUIRE(got.ok());
    CHECK(all_close((*got)[1], Tensor::of<double>({2}, {1, 1}), 0, 0).ok());
  }
  const auto got = answer(set, "Dropout", {floats({3, 4})}, {}, 2, 10);
  REQUIRE(got.ok());
  CHECK(all_close((*got)[1], Tensor::of<bool>({2}, {true, true}), 0, 0).ok());
}

TEST_CASE("LayerNormalization's scale and bias broadcast to X") {
  const Dims dims{7, 5, 7};
  const Tensor x = random_tensor(dims, 1);
  for (const int64_t axis : {-1, 1, 0}) {
    const size_t row = axis == 0 ? 245 : axis == 1 ? 35 : 7;
    for (const Dims& scale_dims : {Dims{7}, Dims{1}, Dims{}, Dims{5, 1}, Dims{7, 1, 1}, Dims{7, 1, 7}, Dims{7, 5, 7}, Dims{5, 7}})
      for (const Dims& bias_dims : {Dims{7}, Dims{1, 1, 1}, Dims{7, 5, 1}}) {
        const Tensor scale = random_tensor(scale_dims, 2), bias = random_tensor(bias_dims, 3);
        MutableTensor expected = Tensor::allocate(DType::f32, dims).value();
        for (size_t first = 0; first < 245; first += row) {
          double mean = 0, variance = 0;
          for (size_t i = first; i < first + row; ++i) mean += x.data<float>()[i] / static_cast<double>(row);
          for (size_t i = first; i < first + row; ++i) variance += std::pow(x.data<float>()[i] - mean, 2) / static_cast<double>(row);
          for (size_t i = first; i < first + row; ++i)
            expected.data<float>()[i] = static_cast<float>((x.data<float>()[i] - mean) / std::sqrt(variance + 1e-5) *
                                                               scale.data<float>()[broadcast_place(scale_dims, dims, i)] +
                                                           bias.data<float>()[broadcast_place(bias_dims, dims, i)]);
        }
        INFO("axis " << axis << ", scale " << to_string(scale_dims) << ", bias " << to_string(bias_dims));
        check("LayerNormalization", {x, scale, bias}, {{"axis", axis}}, expected, 17);
      }
  }
  for (const Dims& wrong : {Dims{6, 1}, Dims{35}, Dims{1, 7, 5, 7}, Dims{7, 7}, Dims{2}}) {
    INFO(to_string(wrong));
    const auto got = answer(*kernels::available_kernel_sets()[0], "LayerNormalization", {x, random_tensor(wrong, 2)}, {}, 1, 17);
    CHECK_FALSE(got.ok());
  }
}

TEST_CASE("BatchNormalization of a vector has one channel") {
  check("BatchNormalization", {floats({1, 2, 3}), floats({2}), floats({1}), floats({0.5f}), floats({4})}, {{"epsilon", 0.0f}},
        floats({1.5f, 2.5f, 3.5f}), 15);
  const auto got = answer(*kernels::available_kernel_sets()[0], "BatchNormalization",
                          {floats({1, 2, 3}), floats({2, 2, 2}), floats({1, 1, 1}), floats({0, 0, 0}), floats({1, 1, 1})}, {}, 1, 15);
  CHECK_FALSE(got.ok());
}

namespace {

/// One-dimensional pooling by its definition.
struct Pooling {
  int64_t in, kernel, stride, dilation, before, after;
  bool ceil;

  int64_t reach() const { return (kernel - 1) * dilation + 1; }
  /// Windows are counted until one would end after the padded input (rounding up: a stride or more after it) or start in its right
  /// padding.
  int64_t windows() const {
    int64_t count = 0;
    for (int64_t start = -before;; start += stride, ++count) {
      if (start + reach() - (ceil ? stride - 1 : 0) > in + after) return count;
      if (ceil && start >= in) return count;
    }
  }
  template <class Visit>
  void visit(int64_t window, Visit&& visit) const {
    for (int64_t k = 0; k < kernel; ++k) visit(-before + window * stride + k * dilation);
  }
  /// Nothing where a window has no element to take the maximum of.
  std::optional<std::vector<float>> pooled(std::string_view op, const Tensor& x, bool count_padding) const {
    std::vector<float> out;
    for (int64_t w = 0; w < windows(); ++w) {
      double most = -kInf, sum = 0, squares = 0;
      int64_t inside = 0, padded = 0;
      visit(w, [&](int64_t at) {
        padded += at < in + after;
        if (at < 0 || at >= in) return;
        const double v = x.data<float>()[static_cast<size_t>(at)];
        ++inside, most = std::max(most, v), sum += v, squares += v * v;
      });
      if (inside == 0) return std::nullopt;
      const double mean = sum / static_cast<double>(count_padding ? padded : inside);
      out.push_back(static_cast<float>(op == "MaxPool" ? most : op == "LpPool" ? std::sqrt(squares) : mean));
    }
    return out;
  }
};

void check_pooling(const char* op, const Pooling& p, bool count_padding) {
  const Tensor x = random_tensor({1, 1, p.in}, static_cast<uint64_t>(p.in));
  Attributes attributes = make_attributes({{"kernel_shape", Ints{p.kernel}}, {"strides", Ints{p.stride}}, {"dilations", Ints{p.dilation}},
                                           {"pads", Ints{p.before, p.after}}, {"ceil_mode", int64_t{p.ceil}}});
  if (count_padding) attributes.set("count_include_pad", int64_t{1});
  INFO(op << " of " << p.in << ", kernel " << p.kernel << ", stride " << p.stride << ", dilation " << p.dilation << ", pads " << p.before
          << " " << p.after << ", ceil " << p.ceil << ", counting padding " << count_padding);
  const auto expected = p.pooled(op, x, count_padding);
  if (!expected) return;
  for (const kernels::KernelTable* set : kernels::available_kernel_sets()) {
    const auto got = answer(*set, op, {x}, attributes, 1, 21);
    REQUIRE(got.ok() == !expected->empty());
    if (!got.ok()) continue;
    const Tensor want = Tensor::of<float>({1, 1, std::ssize(*expected)}, std::span<const float>(*expected));
    REQUIRE(all_close((*got)[0], want, 1e-5, 1e-6).ok());
  }
}

}  // namespace

TEST_CASE("pooling windows at the border, by their definition") {
  for (int64_t in = 1; in <= 7; ++in)
    for (int64_t kernel = 1; kernel <= 4; ++kernel)
      for (int64_t stride = 1; stride <= 3; ++stride)
        for (int64_t dilation = 1; dilation <= 2; ++dilation)
          for (int64_t before = 0; before < std::min<int64_t>(kernel, 3); ++before)
            for (int64_t after = 0; after < std::min<int64_t>(kernel, 3); ++after)
              for (const bool ceil : {false, true}) {
                const Pooling p{in, kernel, stride, dilation, before, after, ceil};
                check_pooling("MaxPool", p, false);
                check_pooling("LpPool", p, false);
                check_pooling("AveragePool", p, false);
                check_pooling("AveragePool", p, true);
              }
}
}  // namespace answers_test
