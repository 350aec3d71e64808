#include "tests/differential/disturb.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tests/support/broadcast.h"
#include "tests/support/compare.h"

namespace svengine::differential {
namespace {

/// Whether a value decides shapes: it is not disturbed, for another shape is another graph.
bool decides_shapes(const Value& value) {
  for (const Node* user : value.users())
    for (int i : user->op().traits.shape_inputs)
      if (user->input(static_cast<size_t>(i)) == &value) return true;
  return false;
}

template <class T>
double largest(const Tensor& t) {
  double most = 0;
  for (const T x : t.data<T>())
    if (std::isfinite(x)) most = std::max(most, std::abs(static_cast<double>(x)));
  return most;
}

/// How far a right value may be from the one that was computed: relative to it, absolutely, and relative to the function's operand,
/// which has as many elements.
struct Error {
  double relative = 0, absolute = 0, of_operand = 0;
  std::vector<double> operand = {};
  bool may_vanish = false;  // a 0 may be the rest of terms of which none is 0

  double bound(double y, size_t i) const {
    // Among subnormal numbers an intermediate result is rounded to a step, not to a share of itself.
    constexpr double kSteps = 16 * 1.401298464324817e-45;
    const double x = of_operand > 0 ? std::abs(operand[i]) : 0;
    return relative * std::abs(y) + (y != 0 || may_vanish ? kSteps : 0) + absolute + (std::isfinite(x) ? of_operand * x : 0);
  }
};

/// Functions whose kernels are exact beside 1 or their operand, not beside their result: GELU of -19 is 1e-79, and right as 0 of either
/// sign, which then is everything to a Reciprocal. The bounds are those that the kernels are tested with.
struct FunctionAccuracy {
  const char* op;
  double ulp = 0, absolute = 0, of_operand = 0, alpha = 0, beta = 0;  // as in activation.inc; the last two are not errors
};
constexpr FunctionAccuracy kFunctions[] = {
#define SVENGINE_ACTIVATION(Name, name, from, steepest, accuracy, ...) {#Name, SVENGINE_UNPACK accuracy},
#include "engine/kernels/activation.inc"
};

/// The slopes' kernels are exact beside the steepest of the function: kernels/activation_grad.h.
double slope_error(std::string_view function, double alpha, double beta) {
  constexpr double kOfSteepest = 0x1p-21;
#define SVENGINE_ACTIVATION(Name, name, from, steepest, ...) \
  if (function == #name) return kOfSteepest * (steepest);
#include "engine/kernels/activation.inc"
  return 0;
}

constexpr double kNormError = 4e-7;

/// Which zeros of the padding an infinity or NaN is multiplied with depends on the kernel, as forward (kernels/conv.h): what is NaN for one
/// may be a number.
void forget_some_nan(MutableTensor& t, const RandomStream& stream) {
  uint64_t i = 0;
  for (float& x : t.data<float>())
    if (stream.uniform(i++) < 0.5 && std::isnan(x)) x = 0;
}

/// The squares of a float32 norm are float32: from 2^64 on they may be infinite, as in PyTorch and ONNX Runtime.
constexpr float kLargestRoot = 0x1p64f, kSmallestRoot = 0x1p-63f;
void overflow_some(MutableTensor& t, const RandomStream& stream) {
  uint64_t i = 0;
  for (float& x : t.data<float>())
    if (stream.uniform(i++) < 0.5 && x >= kLargestRoot) x = HUGE_VALF;
}

/// A product that leaves the range of float32 stays a number where the nodes behind it are one kernel that computes in double: the square in a
/// norm on the reference set. The largest float stands for it, in all places or some.
void keep_some_overflown(MutableTensor& result, const std::vector<Tensor>& operands, const RandomStream& stream) {
  const bool all = stream.uniform(0) < 0.5;
  const std::vector<double> a = tests::to_doubles(operands[0]), b = tests::to_doubles(operands[1]);
  for (size_t i = 0; i < static_cast<size_t>(result.count()); ++i) {
    float& y = result.data<float>()[i];
    if (!std::isinf(y) || (!all && stream.uniform(i + 1) < 0.5)) continue;
    const double x = a[tests::broadcast_place(operands[0].dims(), result.dims(), i)];
    const double z = b[tests::broadcast_place(operands[1].dims(), result.dims(), i)];
    if (std::isfinite(x) && std::isfinite(z)) y = std::copysign(std::numeric_limits<float>::max(), y);
  }
}

/// A sum of products or numbers that are hardly normal is rounded to steps on the way: what is 0 at once may be a step below it, which has no
/// square root.
bool may_vanish(const Node& node, const std::vector<Tensor>& inputs) {
  static constexpr std::string_view kSums[] = {"MatMul", "Gemm", "Conv", "Einsum",      "Reduce",
                                               "CumSum", "Sum",  "Mean", "AveragePool", "GlobalAveragePool"};
  const std::string_view op = node.op().name;
  if (std::none_of(std::begin(kSums), std::end(kSums), [&](std::string_view sum) { return op.find(sum) != op.npos; }))
    return false;
  return std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) {
    if (!t.defined() || t.type() != DType::f32) return false;
    return std::any_of(t.data<float>().begin(), t.data<float>().end(), [](float x) { return x != 0 && std::abs(x) < kSmallestRoot; });
  });
}

/// What float16 rounds to 0 is a number in a chain of nodes that is computed in float32 and rounded once, at its end.
bool is_rounded_half(const Node& node) {
  static constexpr std::string_view kExact[] = {"Relu", "Abs", "Neg", "Sign", "Min", "Max", "Clip"};
  if (!node.output(0) || node.output(0)->type.dtype != DType::f16 || (node.op().traits.moves_elements && node.op().traits.moves_elements(node)))
    return false;
  return std::find(std::begin(kExact), std::end(kExact), node.op().name) == std::end(kExact);
}

/// A sum of products is rounded beside its terms, not beside what is left when they cancel: as far as the roundings of so many terms go at random.
double rounding_of_products(const Node& node, const std::vector<Tensor>& inputs) {
  const std::string_view op = node.op().name;
  if ((op != "Conv" && op != "MatMul" && op != "Gemm") || inputs[0].type() != DType::f32 || inputs[1].count() == 0) return 0;
  const int64_t across = op == "Conv" ? inputs[1].dims()[0] : inputs[1].dims().back();
  const double terms = static_cast<double>(inputs[1].count()) / static_cast<double>(across);  // or more: of batches, and of a transposed factor
  return 0x1p-24 * std::sqrt(terms) * largest<float>(inputs[0]) * largest<float>(inputs[1]);
}

Error error_of(const Node& node, const std::vector<Tensor>& inputs) {
  Error error;
  error.relative = node.op().tolerance.rtol;
  const bool by_tanh = node.attributes.get_string("approximate") == "tanh";
  const std::string name = std::string(node.op().name) + (by_tanh ? "Tanh" : "");  // Gelu's other form
  for (const FunctionAccuracy& f : kFunctions) {
    if (name != f.op || !is_float(inputs[0].type())) continue;
    error.absolute = f.absolute, error.of_operand = f.of_operand;
    if (f.of_operand > 0) error.operand = tests::to_doubles(inputs[0]);
  }
  if (name == "ActivationGrad" && is_float(inputs[0].type())) {
    error.of_operand = slope_error(node.attributes.get_string("function"), node.attributes.get_float("alpha"), node.attributes.get_float("beta"));
    error.operand = tests::to_doubles(inputs[0]);
  }
  error.absolute = std::max(error.absolute, rounding_of_products(node, inputs));
  // A GELU behind a product: its operand is the product, of a few units at most.
  if (node.op().expand && name.find("Gelu") != name.npos) error.absolute = 0x1p-20;
  error.may_vanish = may_vanish(node, inputs) || is_rounded_half(node);
  // What a norm gives is near 1, and its rounding errors are beside that also where the bias takes it to nearly 0: kernels/norm.h.
  if (name.ends_with("Normalization")) error.absolute = kNormError;
  if (name == "ReduceL2") error.absolute = kSmallestRoot * std::sqrt(static_cast<double>(inputs[0].count()));  // squares vanish, too
  // The new state is 1 - z parts of tanh, and z is rounded beside 1.
  if (name == "GRU") error.absolute = 0x1p-23;
  // A probability that is not normal may be 0, and log-softmax is exact beside log(n), the line's length, too: kernels/softmax.h.
  if (name == "Softmax") error.absolute = 0x1p-126;
  if (name == "LogSoftmax") error.absolute = std::ldexp(std::log(static_cast<double>(std::max<int64_t>(inputs[0].count(), 2))), -22);
  return error;
}

/// Within the bound, at random; where a whole number is within it, often that one: what is special of whole numbers (an exponent of
/// Pow, the ends of Round and Floor) is only found so. In some runs none of a tensor's numbers is one, in some all of them are: a sum
/// is NaN if a single of many 0 was divided by.
template <class T>
void disturb_reals(MutableTensor& t, const RandomStream& stream, const Error& error) {
  const double whole_share = static_cast<double>(stream.at("whole").below(3, 0)) / 2;
  uint64_t i = 0;
  size_t at = 0;
  for (T& x : t.data<T>()) {
    const double r = 2 * stream.uniform(i++) - 1, bound = error.bound(static_cast<double>(x), at++);
    if (!std::isfinite(x) || bound == 0) continue;
    double whole = std::round(static_cast<double>(x));
    if (whole == 0) whole = std::copysign(0.0, r);  // where 0 is within the bound, so is the other sign: Reciprocal tells them apart
    const bool snap = std::abs(whole - static_cast<double>(x)) <= bound && stream.uniform(i++) < whole_share;
    x = static_cast<T>(snap ? whole : static_cast<double>(x) + r * bound);
  }
}

/// One unit in the last place up or down; infinities and NaN stay, and zeros where they are exact.
void disturb_halves(MutableTensor& t, const RandomStream& stream, uint16_t exponent_mask, bool may_vanish) {
  auto* bits = reinterpret_cast<uint16_t*>(t.raw());
  for (int64_t i = 0; i < t.count(); ++i) {
    const uint16_t magnitude = bits[i] & 0x7fff;
    const auto step = static_cast<int>(stream.below(3, static_cast<uint64_t>(i))) - 1;
    if (magnitude == 0 && may_vanish && step != 0) bits[i] = step < 0 ? 0x8001 : 0x0001;
    const bool safe =
        magnitude > 1 && (magnitude & exponent_mask) != exponent_mask && ((magnitude + 1) & exponent_mask) != exponent_mask;
    if (safe) bits[i] = static_cast<uint16_t>(bits[i] + step);
  }
}

Tensor disturbed(const Tensor& t, const RandomStream& stream, Error error, bool to_largest) {
  if (!is_float(t.type()) || t.count() == 0) return t;
  Result<MutableTensor> copy = t.aligned_copy();
  if (!copy.ok()) return t;
  switch (t.type()) {
    case DType::f32:
      if (to_largest) error.absolute += 1e-5 * largest<float>(t);
      disturb_reals<float>(*copy, stream, error);
      break;
    case DType::f64:
      disturb_reals<double>(*copy, stream, error);
      break;
    case DType::f16:
      disturb_halves(*copy, stream, 0x7c00, error.may_vanish);
      break;
    case DType::bf16:
      disturb_halves(*copy, stream, 0x7f80, error.may_vanish);
      break;
    default:
      break;
  }
  return std::move(copy).value();
}

/// Equal of computed numbers flips when they come within rounding of each other, which disturbing both at random never hits.
void disturb_equal(MutableTensor& result, const std::vector<Tensor>& operands) {
  constexpr double kClose = 4e-6;
  const std::vector<double> a = tests::to_doubles(operands[0]), b = tests::to_doubles(operands[1]);
  for (size_t i = 0; i < static_cast<size_t>(result.count()); ++i) {
    const double x = a[tests::broadcast_place(operands[0].dims(), result.dims(), i)];
    const double y = b[tests::broadcast_place(operands[1].dims(), result.dims(), i)];
    if (x != y && std::abs(x - y) <= kClose * std::max(std::abs(x), std::abs(y))) result.data<uint8_t>()[i] = 1;
  }
}

bool is_convolution(const Node& node) { return std::string_view(node.op().name).find("Conv") != std::string_view::npos; }

/// Convolutions that are added up, with a norm of each between, become one (passes/merge_parallel_convs.cc): then an infinity is multiplied by the
/// sum of weights.
bool adds_convolutions(const Node& node) {
  return node.op().name == std::string_view("Add") && std::any_of(node.inputs().begin(), node.inputs().end(), [](const Value* v) {
           const Node* from = v->producer();
           if (from && from->op().name == std::string_view("BatchNormalization")) from = from->input(0)->producer();
           return from && is_convolution(*from);
         });
}

/// The sum of two infinities that is NaN may be either of them, and so may that of an infinity and of NaN, since that may be the
/// sum of two infinities, too: of two taps of one convolution.
void merge_infinities(MutableTensor& result, const std::vector<Tensor>& operands, const RandomStream& stream) {
  const std::vector<double> a = tests::to_doubles(operands[0]), b = tests::to_doubles(operands[1]);
  for (size_t i = 0; i < static_cast<size_t>(result.count()); ++i) {
    const double x = a[tests::broadcast_place(operands[0].dims(), result.dims(), i)];
    const double y = b[tests::broadcast_place(operands[1].dims(), result.dims(), i)];
    if (!std::isnan(x + y) || !(std::isinf(x) || std::isinf(y)) || stream.uniform(2 * i) >= 0.5) continue;
    const bool first = std::isinf(x) && (std::isnan(y) || stream.uniform(2 * i + 1) < 0.5);
    result.data<float>()[i] = static_cast<float>(first ? x : y);
  }
}

/// What kernels may do otherwise than by a rounding error, at random.
void change_special(const Node& node, const std::vector<Tensor>& inputs, Tensor& result, const RandomStream& stream) {
  const std::string_view op = node.op().name;
  const bool equal = op == "Equal" && is_float(inputs[0].type()), f32 = result.type() == DType::f32;
  const bool norm = f32 && op == "ReduceL2", padded = f32 && op.starts_with("ConvGrad"), product = f32 && (op == "Mul" || op == "Pow");
  const bool merged = f32 && adds_convolutions(node);
  if (!equal && !norm && !padded && !product && !merged) return;
  Result<MutableTensor> copy = result.aligned_copy();
  if (!copy.ok()) return;
  if (equal) disturb_equal(*copy, inputs);
  if (norm) overflow_some(*copy, stream);
  if (padded) forget_some_nan(*copy, stream);
  if (product) keep_some_overflown(*copy, inputs, stream);
  if (merged) merge_infinities(*copy, inputs, stream);
  result = std::move(*copy);
}

/// Squares of such numbers leave float32's range: a norm then divides by infinity, and what it gives of zeros is left.
void overflow_norm(const Node& node, Tensor& x, const RandomStream& stream) {
  constexpr double kLarge = 0x1p60;
  if (!std::string_view(node.op().name).ends_with("Normalization") || x.type() != DType::f32 || stream.uniform(0) < 0.5) return;
  const std::span<const float> values = x.data<float>();
  if (std::none_of(values.begin(), values.end(), [](float v) { return std::isfinite(v) && std::abs(v) >= kLarge; })) return;
  Result<MutableTensor> zeros = Tensor::allocate(DType::f32, x.dims());
  if (!zeros.ok()) return;
  std::ranges::fill(zeros->data<float>(), 0.0f);
  x = std::move(*zeros);
}

bool has_values(const Node& node, const Values& values) {
  return std::all_of(node.inputs().begin(), node.inputs().end(),
                     [&](const Value* v) { return !v || v->is_constant() || values.count(v); });
}

}  // namespace

Values compute_disturbed(const Graph& graph, const Values& leaves, const kernels::KernelTable& kernels, uint64_t run,
                         bool loose) {
  constexpr double kLeaves = 1e-6;
  const RandomStream stream = RandomStream(run).at("disturbance");
  uint64_t number = 0;
  Values values;
  const auto set = [&](const Value* v, const Tensor& t, const Error& error, bool to_largest) {
    const RandomStream own = stream.at(number++);
    values[v] = decides_shapes(*v) ? t : disturbed(t, own, error, to_largest);
  };
  // What is rounded inside of a composite node decides as much as what is rounded between nodes: a quantised mean on which side of a tie it is.
  const auto change_part = [&](const Node& part, std::vector<Tensor>& results) {
    const std::vector<Tensor> inputs = constants_of(part);
    const Error error = error_of(part, inputs);
    change_special(part, inputs, results[0], stream.at(number++));
    for (size_t i = 0; i < results.size(); ++i)
      if (part.output(i) && !decides_shapes(*part.output(i)))
        results[i] = disturbed(results[i], stream.at(number++), error, loose && is_convolution(part));
  };
  const auto change_constant = [&](const Value& v, Tensor& t) {
    if (!decides_shapes(v)) t = disturbed(t, stream.at(number++), {kLeaves}, false);
  };
  const Changes change = {change_part, change_constant};
  for (const Value* v : graph.inputs()) set(v, leaves.at(v), {kLeaves}, false);
  for (const auto& node : graph.nodes()) {
    if (!has_values(*node, values)) continue;
    std::vector<Tensor> inputs;
    for (const Value* v : node->inputs()) {
      if (v && v->is_constant() && !values.count(v)) set(v, v->constant(), {kLeaves}, false);
      inputs.push_back(v ? values.at(v) : Tensor());
    }
    if (!inputs.empty()) overflow_norm(*node, inputs[0], stream.at("overflow").at(number));
    Result<std::vector<Tensor>> results = compute(*node, inputs, kernels, kMostComputed, change);
    if (!results.ok()) continue;
    change_special(*node, inputs, (*results)[0], stream.at(number++));
    const Error error = error_of(*node, inputs);
    for (size_t i = 0; i < results->size(); ++i) set(node->output(i), (*results)[i], error, loose && is_convolution(*node));
  }
  return values;
}

}  // namespace svengine::differential
