// Every gradient rule against central differences in double precision, on the samples of its operator, for every kernel set.
//
// For outputs y and random numbers r the checked gradient is that of L = sum of r y. Each input gets differences of L along some
// single elements, and along one random direction, which sees all elements at once. Samples' values are random, so that kinks
// and ties have probability zero; those are the subject of the rules' own tests.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "engine/graph/autodiff.h"
#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "tests/gradients/double_forward.h"
#include "tests/gradients/without_gradient.h"
#include "tests/support/compare.h"
#include "tests/support/random_tensor.h"
#include "tests/support/tested_kernels.h"

namespace gradient_check_test {
using namespace svengine;
using namespace svengine::tests;

namespace {

constexpr double kStep = 1e-5;
/// Of the largest gradient of an input: the float32 kernels' errors, and those of the differences.
constexpr double kTolerance = 2e-4;
/// Where a value passes through float16 on the way, its rounding shows.
constexpr double kHalfTolerance = 2e-3;
/// Of float64: the differences' own error.
constexpr double kDoubleTolerance = 1e-7;
/// Of an input, besides the random direction. Rules are the same C++ everywhere: an emulated run looks for the kernels' errors.
#ifdef SVENGINE_EMULATED
constexpr int64_t kMostElements = 6;
#else
constexpr int64_t kMostElements = 24;
#endif

bool is_real(DType t) { return t == DType::f32 || t == DType::f64 || t == DType::f16; }

/// Real numbers, or what may hold them, go in and come out in some sample; operators without samples have no other witness.
bool could_have_gradient(const OpDef& op) {
  const auto counts = [](DType t) { return is_real(t) || t == DType::bf16 || (is_handle(t) && t != DType::string); };
  for (const Sample& sample : samples_of(op)) {
    Graph graph;
    std::vector<Value*> inputs;
    bool in = false, out = false;
    for (const SampleInput& s : sample.inputs) {
      in = in || counts(s.dtype);
      if (s.is_absent()) inputs.push_back(nullptr);
      else inputs.push_back(graph.add_constant("c", s.value.defined() ? s.value : random_tensor_of(s.dtype, s.dims, 1, s.low, s.high)));
    }
    Attributes attributes;
    for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
    Node* node = graph.add_node(op, "node", std::move(inputs), static_cast<size_t>(sample.outputs), std::move(attributes));
    if (!infer_types(*node).ok()) return true;
    for (const Value* v : node->outputs()) out = out || (v && counts(v->type.dtype));
    if (in && out) return true;
  }
  return op.samples.empty();
}

/// Outputs without a gradient, as by-products of a norm or loss.
bool is_by_product(const OpDef& op, size_t output) {
  const std::string_view name = op.name;
  if (name.ends_with("LayerNormalization")) return output == 1 || output == 2;
  return output > 0 && (name.starts_with("BatchNorm") || name == "SoftmaxCrossEntropyLoss");
}

/// Inputs that are not trained: a batch norm's running statistics, tables of angles, numbers that are packed with others.
bool is_given(const OpDef& op, size_t input) {
  const std::string_view name = op.name;
  if (name == "RotaryEmbedding" || name == "MRotaryEmbedding" || name == "MatMulNBits") return input > 0;
  if (name == "NBitsMatMul") return input > 0 && input < 4;
  if (name == "GroupQueryAttention") return input == 7 || input == 8;
  if (name == "SparseAttention") return input == 9 || input == 10;
  return name.starts_with("BatchNorm") && (input == 3 || input == 4);
}

/// What a rule refuses by name, which is checked instead.
bool is_refused(const OpDef& op, const Attributes& attributes, bool in_double) {
  const std::string_view name = op.name;
  if (in_double && has_single_gradient(op)) return true;
  if (name == "LSTM" || name == "GRU" || name == "RNN" || name == "AttnLSTM")
    return attributes.has("activations") || attributes.has("clip") || attributes.get_int("input_forget") != 0;
  return false;
}

/// The sample with everything that is float32 as float64.
Sample in_double(Sample sample) {
  for (SampleInput& in : sample.inputs) {
    if (in.dtype != DType::f32) continue;
    in.dtype = DType::f64;
    if (in.value.defined()) in.value = Tensor::of<double>(in.value.dims(), std::span<const double>(to_doubles(in.value)));
  }
  return sample;
}

bool has_single(const Sample& sample) {
  return std::any_of(sample.inputs.begin(), sample.inputs.end(), [](const SampleInput& in) { return in.dtype == DType::f32; });
}

/// A sample with its values: which inputs are wanted, and the random numbers r of each output.
struct Case {
  const OpDef& op;
  Attributes attributes;
  size_t outputs;
  std::vector<Tensor> values;  // undefined: absent
  std::vector<bool> wanted;
  std::vector<Array> weights;  // of outputs; empty where it has no gradient

  Case(const OpDef& o, const Sample& sample) : op(o), outputs(static_cast<size_t>(sample.outputs)) {
    uint64_t seed = 1;
    for (const SampleInput& in : sample.inputs) {
      if (in.is_absent()) values.emplace_back();
      else values.push_back(in.value.defined() ? in.value : random_tensor_of(in.dtype, in.dims, seed++, in.low, in.high));
      const bool real = in.dtype == DType::f32 || in.dtype == DType::f64;
      wanted.push_back(!in.value.defined() && real && !is_given(op, wanted.size()));
    }
    for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  }
  bool is_double() const {
    return std::all_of(values.begin(), values.end(), [](const Tensor& t) { return t.type() != DType::f32; });
  }
  bool any_wanted() const { return std::find(wanted.begin(), wanted.end(), true) != wanted.end(); }
};

/// The node alone, its wanted inputs being the graph's.
struct Forward {
  Graph graph;
  Node* node = nullptr;
  std::vector<Value*> wanted, outputs;
  std::vector<Tensor> tensors;

  explicit Forward(const Case& c) {
    std::vector<Value*> inputs;
    for (size_t i = 0; i < c.values.size(); ++i) {
      const Tensor& t = c.values[i];
      if (!c.wanted[i]) {
        inputs.push_back(t.defined() ? graph.add_constant("c", t) : nullptr);
        continue;
      }
      inputs.push_back(graph.add_input("x", {t.type(), Shape::of(t.dims()), 0}));
      wanted.push_back(inputs.back());
      tensors.push_back(t);
    }
    node = graph.add_node(c.op, "node", std::move(inputs), c.outputs, c.attributes);
    if (Status s = infer_types(*node); !s.ok()) throw std::runtime_error(s.error().message());
    outputs = node->outputs();
    if (!is_composite(c.op)) return;
    for (Value*& v : outputs)  // the node goes when gradients are added, and its values with it
      if (is_real(v->type.dtype)) v = Builder(graph, all_ops()).add("Identity", {v});
  }
};

/// r for every output that has a gradient. False when there is none.
bool draw_weights(Case& c) {
  Forward f(c);
  bool any = false;
  for (size_t i = 0; i < c.outputs; ++i) {
    const Type& type = f.node->output(i)->type;
    c.weights.emplace_back();
    if (!is_real(type.dtype) || is_by_product(c.op, i) || !type.shape.is_static()) continue;
    c.weights.back() = to_array(random_tensor(*type.shape.concrete(), 1000 + i));
    any = true;
  }
  return any;
}

/// A graph with the gradients of all wanted inputs.
struct Backward {
  Forward forward;
  Result<std::vector<Value*>> gradients;
};

Backward differentiate(const Case& c) {
  Forward f(c);
  Builder builder(f.graph, all_ops());
  std::vector<GradientSeed> seeds;
  for (size_t i = 0; i < c.outputs; ++i) {
    if (c.weights[i].v.empty()) continue;
    std::vector<float> narrow(c.weights[i].v.begin(), c.weights[i].v.end());
    Value* r = builder.constant(Tensor::of<float>(c.weights[i].dims, std::span<const float>(narrow)), "r");
    Value* y = f.outputs[i];
    if (y->type.dtype != DType::f32) r = builder.add("Cast", {r}, make_attributes({{"to", static_cast<int64_t>(y->type.dtype)}}));
    seeds.push_back({y, r});
  }
  auto gradients = add_gradients(f.graph, all_ops(), seeds, f.wanted, Unreached::zeros);
  return {std::move(f), std::move(gradients)};
}

/// The engine's gradients of all wanted inputs.
std::vector<Array> engine_gradients(const Case& c, const kernels::KernelTable* set, const char* topology) {
  Backward backward = differentiate(c);
  Forward& f = backward.forward;
  auto& gradients = backward.gradients;
  if (!gradients.ok()) throw std::runtime_error(gradients.error().message());
  for (Value* g : *gradients) f.graph.add_output(g);
  SessionOptions options;
  options.kernels = set;
  options.topology = parse_topology(topology).value();
  auto session = Session::create(std::move(f.graph), options);
  if (!session.ok()) throw std::runtime_error(session.error().message());
  auto outputs = (*session)->run(f.tensors);
  if (!outputs.ok()) throw std::runtime_error(outputs.error().message());
  std::vector<Array> arrays;
  for (const Tensor& t : *outputs) arrays.push_back(to_array(t));
  return arrays;
}

class Differences {
 public:
  explicit Differences(const Case& c) : case_(c), forward_(c.op, c.attributes, c.outputs, c.values, c.wanted) {
    for (const Tensor& t : c.values) inputs_.push_back(t.defined() ? to_array(t) : Array());
  }

  /// The derivative of L along a direction in input i.
  double along(size_t i, const std::vector<double>& direction) {
    const std::vector<double> at = inputs_[i].v;
    const auto loss_at = [&](double step) {
      for (size_t j = 0; j < at.size(); ++j) inputs_[i].v[j] = at[j] + step * direction[j];
      return loss();
    };
    double slope = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
    // Richardson's extrapolation: a central difference is off by a sixth of h^2 times the third derivative, which shows in float64
    // where a function is steep.
    if (case_.is_double()) slope = (4 * (loss_at(kStep / 2) - loss_at(-kStep / 2)) / kStep - slope) / 3;
    inputs_[i].v = at;
    return slope;
  }

 private:
  double loss() {
    const std::vector<Array> y = forward_.run(inputs_);
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i)
      for (size_t j = 0; j < case_.weights[i].v.size(); ++j) sum += case_.weights[i].v[j] * y[i].v[j];
    return sum;
  }

  const Case& case_;
  DoubleForward forward_;
  std::vector<Array> inputs_;
};

double largest(const std::vector<double>& v) {
  double most = 0;
  for (double x : v) most = std::max(most, std::fabs(x));
  return most;
}

/// What is right: derivatives along single elements and along one random direction, of one input.
struct Wanted {
  std::vector<size_t> elements;
  std::vector<double> slopes;
  std::vector<double> direction;
  double along = 0;
};

Wanted differences_of(Differences& d, size_t input, const Array& x) {
  Wanted w;
  const auto count = static_cast<int64_t>(x.v.size());
  const int64_t step = std::max<int64_t>(1, count / kMostElements);
  for (int64_t at = 0; at < count; at += step) {
    std::vector<double> unit(x.v.size());
    unit[static_cast<size_t>(at)] = 1;
    w.elements.push_back(static_cast<size_t>(at));
    w.slopes.push_back(d.along(input, unit));
  }
  w.direction = to_doubles(random_tensor(x.dims, 77));
  w.along = d.along(input, w.direction);
  return w;
}

void compare(const Array& gradient, const Wanted& wanted, double tolerance) {
  const double scale = std::max({largest(gradient.v), largest(wanted.slopes), 1e-3});
  for (size_t i = 0; i < wanted.elements.size(); ++i) {
    INFO("element " << wanted.elements[i] << ": " << gradient.v[wanted.elements[i]] << ", by differences " << wanted.slopes[i]);
    CHECK(std::fabs(gradient.v[wanted.elements[i]] - wanted.slopes[i]) <= tolerance * scale);
  }
  double along = 0, magnitude = 0;
  for (size_t i = 0; i < gradient.v.size(); ++i)
    along += gradient.v[i] * wanted.direction[i], magnitude += std::fabs(gradient.v[i]);
  INFO("along a random direction: " << along << ", by differences " << wanted.along);
  CHECK(std::fabs(along - wanted.along) <= tolerance * std::max(magnitude, scale));
}

/// Does the operator take float64 where the sample has float32, with kernels of its own?
bool takes_double(const OpDef& op, const Sample& sample) {
  if (!has_single(sample)) return false;
  const Case c(op, in_double(sample));
  Graph graph;
  std::vector<Value*> inputs;
  for (const Tensor& t : c.values) inputs.push_back(t.defined() ? graph.add_constant("c", t) : nullptr);
  Node* node = graph.add_node(op, "node", std::move(inputs), c.outputs, c.attributes);
  return infer_types(*node).ok() && (is_composite(op) || types_to_widen(*node).empty());
}

/// False when the sample has nothing to differentiate.
bool check(const OpDef& op, const Sample& sample) {
  Case c(op, sample);
  if (!c.any_wanted() || !draw_weights(c)) return false;
  if (is_refused(op, c.attributes, c.is_double())) {
    CHECK(!differentiate(c).gradients.ok());
    return true;
  }
  const bool half = c.attributes.get_int("to") == static_cast<int64_t>(DType::f16);
  Differences d(c);
  std::vector<Wanted> wanted(c.values.size());
  for (size_t i = 0; i < c.values.size(); ++i)
    if (c.wanted[i]) wanted[i] = differences_of(d, i, to_array(c.values[i]));
  double tolerance = half ? kHalfTolerance : kTolerance;
  const Type y = Forward(c).node->output()->type;
  std::span<const kernels::KernelTable* const> sets = kernels::tested_kernel_sets();
  if (c.is_double()) sets = sets.first(1);  // float64 is mostly plain code, the same in all
  if (c.is_double() && y.dtype == DType::f64) tolerance = kDoubleTolerance;
  for (const kernels::KernelTable* set : sets) {
    const std::vector<Array> one = engine_gradients(c, set, "1x1"), five = engine_gradients(c, set, "1x5");
    size_t which = 0;
    for (size_t i = 0; i < c.values.size(); ++i) {
      if (!c.wanted[i]) continue;
      INFO(set->name << ", gradient of input " << i);
      REQUIRE(one[which].dims == c.values[i].dims());
      const size_t bytes = one[which].v.size() * sizeof(double);
      CHECK((bytes == 0 || std::memcmp(one[which].v.data(), five[which].v.data(), bytes) == 0));
      compare(one[which], wanted[i], tolerance);
      ++which;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("every gradient rule agrees with differences in double") {
  for (const OpDef& op : all_ops().all()) {
    if ((!op.gradient && !is_composite(op)) || reason_without_gradient(op) || op.traits.linear_input >= 0) continue;  // transposes_test.cc
    INFO(op.domain << "." << op.name);
    int checked = 0;
    for (size_t i = 0; i < samples_of(op).size(); ++i) {
      INFO("sample " << i);
      try {
        checked += check(op, samples_of(op)[i]);
        if (!takes_double(op, samples_of(op)[i])) continue;
        INFO("in float64");
        check(op, in_double(samples_of(op)[i]));
      } catch (const std::exception& e) {
        FAIL_CHECK(e.what());
      }
    }
    CHECK((checked > 0 || !could_have_gradient(op)));  // a rule without a check
  }
}

TEST_CASE("every operator that could have a gradient has one, or a reason") {
  for (const OpDef& op : all_ops().all()) {
    INFO(op.domain << "." << op.name);
    const char* reason = reason_without_gradient(op);
    CHECK((!reason || !op.gradient));  // has one by now
    const bool internal = std::string_view(op.domain) == kInternalDomain;  // made by rules, or by passes after them
    CHECK((op.gradient || is_composite(op) || reason || internal || !could_have_gradient(op)));
  }
  for (const WithoutGradient& entry : operators_without_gradient()) {
    INFO(entry.name);
    CHECK(all_ops().find(entry.domain, entry.name));
  }
}

TEST_CASE("the operators that networks are trained with have rules") {
  const char* const names[] = {
      "Abs", "Add", "AveragePool", "BatchNormalization", "Cast", "Clip", "Concat", "Conv", "ConvTranspose", "Div",
      "Dropout", "Erf", "Exp", "Expand", "Flatten", "Gather", "Gelu", "Gemm", "GlobalAveragePool", "Identity",
      "LayerNormalization", "Log", "LogSoftmax", "MatMul", "Max", "MaxPool", "Min", "Mul", "Neg",
      "NegativeLogLikelihoodLoss", "Pad", "Pow", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum",
      "Relu", "Reshape", "Resize", "Sigmoid", "Slice", "Softmax", "SoftmaxCrossEntropyLoss", "Split", "Sqrt",
      "Squeeze", "Sub", "Tanh", "Transpose", "Unsqueeze", "Where"};
  for (const char* name : names) {
    INFO(name);
    const OpDef* op = all_ops().find("", name);
    REQUIRE(op);
    CHECK(op->gradient);
  }
}
}  // namespace gradient_check_test
