#include "tests/differential/graph_maker.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/graph/bodies.h"
#include "engine/ops/registry.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"

namespace svengine::differential {
namespace {

constexpr int64_t kMostElements = 20000;

/// Some elements become numbers that kernels like to get wrong.
void make_special(MutableTensor& t, Choices& choose) {
  if (t.type() != DType::f32 || t.count() == 0) return;
  using Limits = std::numeric_limits<float>;
  const auto count = 1 + choose.below(3);
  for (uint64_t i = 0; i < count; ++i)
    t.data<float>()[choose.below(static_cast<uint64_t>(t.count()))] =
        choose.of({Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), -0.0f, 0.0f, 1e-40f, -Limits::denorm_min()});
}

/// None, of other types and of an absent input.
std::span<const float> numbers_of(const Tensor& t) {
  return t.defined() && t.type() == DType::f32 ? t.data<float>() : std::span<const float>();
}

bool all_finite(const Tensor& t) {
  const auto numbers = numbers_of(t);
  return std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
}

/// Factors whose product, taken in some order, leaves the range of float32 on the way: infinity or zero, and NaN of both.
bool product_may_leave_range(const Tensor& t) {
  double above = 0, below = 0;  // binary exponents of the largest and the smallest partial product
  for (const float x : t.data<float>()) {
    if (!std::isfinite(x)) return true;
    const double exponent = x == 0 ? 0 : std::log2(std::abs(x));
    (exponent > 0 ? above : below) += exponent;
  }
  return above > 127 || below < -126;
}

double largest(const Tensor& t) {
  double most = 0;
  for (const float x : numbers_of(t)) most = std::max(most, static_cast<double>(std::abs(x)));
  return most;
}

/// Sums of products that, taken in some order, leave the range of float32 on the way: an infinity of either sign, or NaN.
bool sum_may_leave_range(const std::vector<Tensor>& inputs) {
  double bound = static_cast<double>(inputs[0].count());
  for (size_t i = 0; i < std::min<size_t>(inputs.size(), 2); ++i)
    bound *= std::max(1.0, largest(inputs[i]));
  return std::isfinite(bound) && bound > std::numeric_limits<float>::max();
}

bool sums(std::string_view op) {
  constexpr std::string_view kNames[] = {"Conv", "MatMul", "Gemm", "Einsum", "ReduceSum", "ReduceMean", "AveragePool", "CumSum"};
  return std::any_of(std::begin(kNames), std::end(kNames), [op](std::string_view name) { return op.find(name) != op.npos; });
}

/// What a node gives beyond the range of 16 bits, a chain of nodes need not: it is computed in float32.
bool leaves_narrow_range(const Tensor& t) {
  if (t.type() != DType::f16 && t.type() != DType::bf16) return false;
  const std::vector<double> values = tests::to_doubles(t);
  return !std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

bool has_nan(const Tensor& t) {
  const auto numbers = numbers_of(t);
  return std::any_of(numbers.begin(), numbers.end(), [](float x) { return std::isnan(x); });
}

/// What a scale takes to 0 before a product with infinity is NaN, and after it infinity: attention may do either.
bool may_underflow(const std::vector<Tensor>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const Tensor& t) {
    const auto numbers = numbers_of(t);
    return std::any_of(numbers.begin(), numbers.end(), [](float x) { return x != 0 && std::abs(x) < 1e-30f; });
  });
}

/// Results that the specification leaves open.
/// Convolutions may skip what lies in the padding, or multiply it, which is zero, by a weight: not the same for an infinite one.
/// And Winograd's algorithm spreads what is not finite over a tile.
bool is_open(const OpDef& op, const std::vector<Tensor>& inputs, bool winograd) {
  if (op.name == std::string_view("ReduceProd") && inputs[0].type() == DType::f32) return product_may_leave_range(inputs[0]);
  if ((op.name == std::string_view("Mul") || op.name == std::string_view("Div")) && may_underflow(inputs)) return true;
  if (op.name == std::string_view("BitCast") && has_nan(inputs[0])) return true;  // which NaN it is, nobody says
  if (sums(op.name) && sum_may_leave_range(inputs)) return true;
  if (std::string_view(op.name).find("Conv") == std::string_view::npos || inputs.size() < 2) return false;
  return !all_finite(inputs[1]) || (winograd && !all_finite(inputs[0]));
}

/// Trip after trip, the rest of a division makes anything of a rounding error: 0, and then NaN. So does a tangent of a tangent.
bool is_chaotic(const Node& part) {
  const std::string_view op = part.op().name;
  return op == "Tan" || (op == "Mod" && is_float(part.output()->type.dtype));
}

}  // namespace

GraphMaker::GraphMaker(uint64_t seed, const kernels::KernelTable& kernels, Progress progress)
    : choose(seed), kernels_(kernels), progress_(std::move(progress)), seed_(seed) {
  made_.graph.name = fmt::format("seed {}", seed);
  made_.loose = choose.chance(0.2);
  made_.special = !made_.loose && choose.chance(0.15);
  if (!made_.loose && !made_.special && choose.chance(0.15)) real_ = choose.of({DType::f64, DType::f64, DType::f16, DType::bf16});
}

GraphMaker::GraphMaker(GraphMaker& around)
    : choose(around.choose.below(uint64_t{1} << 62)),
      kernels_(around.kernels_),
      progress_(around.progress_),
      seed_(around.seed_ * 31 + ++around.bodies_),
      depth_(around.depth_ + 1),
      real_(around.real_) {
  made_.graph.name = "body";
  made_.loose = around.made_.loose, made_.special = around.made_.special;
}

Value* GraphMaker::adopt(Value* v, Tensor t) {
  if (!is_container(t.type())) order_.push_back(v);
  made_.values[v] = std::move(t);
  return v;
}

Value* GraphMaker::leaf(DType type, Dims dims, double low, double high) {
  MutableTensor t = tests::random_tensor_of(type, std::move(dims), seed_ * 1000 + tensors_++, low, high);
  if (made_.special && choose.chance(0.5)) make_special(t, choose);
  return leaf(std::move(t));
}

Value* GraphMaker::leaf(Tensor tensor) { return choose.chance(0.25) ? constant(std::move(tensor)) : input(std::move(tensor)); }

Value* GraphMaker::input(Tensor tensor) {
  Value* v = made_.graph.add_input(fmt::format("x{}", made_.graph.inputs().size()), {tensor.type(), Shape::of(tensor.dims()), 0});
  return adopt(v, std::move(tensor));
}

Value* GraphMaker::input(Tensor container, Type type) {
  return adopt(made_.graph.add_input(fmt::format("x{}", made_.graph.inputs().size()), std::move(type)), std::move(container));
}

Value* GraphMaker::weight(Dims dims, double low, double high) {
  return constant(tests::random_tensor_of(real_, std::move(dims), seed_ * 1000 + tensors_++, low, high));
}

Value* GraphMaker::constant(Tensor tensor) {
  Value* v = made_.graph.add_constant("c", tensor);
  return adopt(v, std::move(tensor));
}

Value* GraphMaker::integers(const std::vector<int64_t>& values) {
  return known(Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)));
}

Value* GraphMaker::scalar(float value) {
  if (real_ == DType::f32) return constant(Tensor::scalar(value));
  if (real_ == DType::f64) return constant(Tensor::scalar(static_cast<double>(value)));
  const float finite = std::clamp(value, -6e4f, 6e4f);
  return constant(tests::random_tensor_of(real_, {}, 0, finite, finite));
}

Value* GraphMaker::known(Tensor tensor) {
  if (!choose.chance(0.03)) return constant(std::move(tensor));
  Value* v = made_.graph.add_input("known", {tensor.type(), Shape::of(tensor.dims()), 0});
  return adopt(v, std::move(tensor));
}

Value* GraphMaker::existing(const std::function<bool(const Value&)>& fits) {
  std::vector<Value*> found;
  for (Value* v : order_)
    if (fits(*v)) found.push_back(v);
  if (found.empty()) return nullptr;
  const size_t recent = std::min<size_t>(found.size(), 4);
  if (choose.chance(0.6)) return found[found.size() - 1 - choose.below(recent)];
  return choose.of(found);
}

Value* GraphMaker::existing_real() {
  return existing([this](const Value& v) { return v.type.dtype == real_ && !(v.is_constant() && v.constant().dims().empty()); });
}

Value* GraphMaker::some_real() {
  Value* v = existing_real();
  return v ? v : real_of_rank(choose.below(4));
}

Value* GraphMaker::real_of_rank(size_t rank) {
  const auto fits = [&](const Value& v) { return v.type.dtype == real_ && dims(&v).size() == rank && !v.is_constant(); };
  Value* v = choose.chance(0.8) ? existing(fits) : nullptr;
  if (v) return v;
  Dims shape;
  for (size_t i = 0; i < rank; ++i) shape.push_back(i == 1 && rank == 4 ? channels() : size());
  return leaf(real_, std::move(shape));
}

Value* GraphMaker::real_of(const Dims& wanted) {
  Value* v = choose.chance(0.6) ? existing([&](const Value& x) { return x.type.dtype == real_ && dims(&x) == wanted; }) : nullptr;
  return v ? v : leaf(real_, wanted);
}

Node* GraphMaker::node(std::string_view name, std::vector<Value*> inputs, Attributes attributes, size_t outputs) {
  const OpDef* op = all_ops().find("", name);
  return op ? node(*op, std::move(inputs), std::move(attributes), outputs) : nullptr;
}

Node* GraphMaker::node(const OpDef& op, std::vector<Value*> inputs, Attributes attributes, size_t outputs) {
  return add_node(op, std::move(inputs), std::move(attributes), outputs, false);
}

Value* GraphMaker::container(std::string_view name, std::vector<Value*> inputs, Attributes attributes) {
  const Node* made = add_node(*all_ops().find("", name), std::move(inputs), std::move(attributes), 1, true);
  return made ? made->output() : nullptr;
}

void GraphMaker::share_operands(std::vector<Value*>& inputs) {
  if (inputs.size() < 2 || !choose.chance(0.04)) return;
  const size_t a = choose.below(inputs.size()), b = choose.below(inputs.size());
  const bool alike = inputs[a] && inputs[b] && !is_container(inputs[a]->type.dtype) && inputs[a]->type.dtype == inputs[b]->type.dtype &&
                     dims(inputs[a]) == dims(inputs[b]);
  if (alike) inputs[b] = inputs[a];
}

Node* GraphMaker::add_node(const OpDef& op, std::vector<Value*> inputs, Attributes attributes, size_t outputs, bool containers) {
  share_operands(inputs);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (op.inputs.is_required(i) && !inputs[i]) return nullptr;
  std::vector<Tensor> tensors;
  std::string text = std::string(op.name) + "(";
  for (const Value* v : inputs) {
    tensors.push_back(v ? made_.values.at(v) : Tensor());
    text += v ? to_string(v->type) + ' ' : "- ";
  }
  progress_(text + ")");
  if (is_open(op, tensors, made_.loose)) return nullptr;
  Node* made = made_.graph.add_node(op, "", std::move(inputs), outputs, std::move(attributes));
  Status inferred = infer_types(*made);
  bool open = false;
  const Changes watch = {.results = [&](const Node& part, std::vector<Tensor>&) {
    open |= is_chaotic(part) || is_open(part.op(), constants_of(part), made_.loose);
  }};
  Result<std::vector<Tensor>> results = compute(*made, tensors, kernels_, kMostElements, has_body(*made) ? watch : Changes());
  const auto is_wanted = [containers](const Tensor& t) { return containers ? is_container(t.type()) : !is_handle(t.type()); };
  if (open || !inferred.ok() || !results.ok() || !std::all_of(results->begin(), results->end(), is_wanted) ||
      std::any_of(results->begin(), results->end(), leaves_narrow_range)) {
    made_.graph.erase(made);
    return nullptr;
  }
  for (size_t i = 0; i < outputs; ++i) {
    if (!containers) made->output(i)->type.shape = Shape::of((*results)[i].dims());
    adopt(made->output(i), std::move((*results)[i]));
  }
  return made;
}

Value* GraphMaker::add(std::string_view op, std::vector<Value*> inputs, Attributes attributes) {
  if (inputs.empty() || !inputs[0]) return nullptr;
  Node* made = node(op, std::move(inputs), std::move(attributes));
  return made ? made->output() : nullptr;
}

int64_t GraphMaker::size() {
  if (choose.chance(0.02)) return 0;
  if (choose.chance(0.2)) return 1;
  return choose.chance(0.85) ? choose.between(2, 9) : choose.between(10, 35);
}

int64_t GraphMaker::channels() {
  if (choose.chance(0.01)) return 0;
  if (choose.chance(0.5)) return choose.between(1, 40);
  return choose.of<int64_t>({8, 16, 32}) + choose.between(-1, 1);
}

Dims GraphMaker::broadcast_of(Dims shape) {
  for (int64_t& d : shape)
    if (choose.chance(0.35)) d = 1;
  if (choose.chance(0.4)) shape.erase(shape.begin(), shape.begin() + choose.between(0, static_cast<int64_t>(shape.size())));
  return shape;
}

}  // namespace svengine::differential
