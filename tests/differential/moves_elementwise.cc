#include <algorithm>
#include <limits>
#include <map>

#include "engine/graph/builder.h"
#include "engine/ops/registry.h"
#include "engine/ops/samples.h"
#include "tests/differential/moves.h"

namespace svengine::differential {
namespace {

using Ops = std::vector<const char*>;

const Ops kUnary = {"Abs",         "Ceil",      "Cos",      "Elu",       "Erf",     "Exp",  "Floor",
                    "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Log",     "Mish", "Neg",
                    "Reciprocal",  "Relu",      "Round",    "Selu",      "Sigmoid", "Sign", "Sin",
                    "Softplus",    "Softsign",  "Sqrt",     "Tanh",      "Gelu",    "Celu", "ThresholdedRelu",
                    "Atan",        "Sinh",      "Cosh",     "Asinh",     "Dropout"};
const Ops kBinary = {"Add", "Add", "Sub", "Mul", "Mul", "Div", "Max", "Min", "Pow", "PRelu", "Mod"};

Attributes unary_attributes(std::string_view op, Choices& choose) {
  Attributes a;
  if (choose.chance(0.5)) return a;
  if (op == "LeakyRelu" || op == "Elu" || op == "Celu" || op == "ThresholdedRelu" || op == "HardSigmoid")
    a.set("alpha", static_cast<float>(choose.uniform(0.05, 1.5)));
  if (op == "Gelu") a.set("approximate", std::string(choose.chance(0.5) ? "tanh" : "none"));
  return a;
}

/// The operators with samples that a file can hold.
const std::vector<const OpDef*>& sampled_ops() {
  static const std::vector<const OpDef*> ops = [] {
    std::vector<const OpDef*> found;
    for (const OpDef& op : all_ops().all())
      if (!op.samples.empty() && op.domain != std::string_view(kInternalDomain)) found.push_back(&op);
    return found;
  }();
  return ops;
}

/// At times every dimension of one size gets another, in all inputs: what fitted still fits.
std::map<int64_t, int64_t> other_sizes(GraphMaker& m, const Sample& sample) {
  std::map<int64_t, int64_t> sizes;
  for (const SampleInput& in : sample.inputs)
    if (!in.value.defined())
      for (int64_t d : in.dims) sizes[d] = d;
  if (sizes.empty() || m.choose.chance(0.5)) return sizes;
  const auto changed = std::next(sizes.begin(), static_cast<int64_t>(m.choose.below(sizes.size())));
  changed->second = m.choose.chance(0.5) ? m.choose.of<int64_t>({0, 1, 2, 15, 16, 17}) : m.channels();
  return sizes;
}

/// What ONNX Runtime's operators know (packed weights) is constant in every file.
Value* sample_input(GraphMaker& m, const OpDef& op, const SampleInput& in, const std::map<int64_t, int64_t>& sizes) {
  if (in.is_absent()) return nullptr;
  if (in.value.defined()) return op.domain == std::string_view("com.microsoft") ? m.constant(in.value) : m.known(in.value);
  Dims dims = in.dims;
  for (int64_t& d : dims) d = sizes.at(d);
  if (m.choose.chance(0.5)) {
    const bool exact = m.choose.chance(0.7);
    const auto fits = [&](const Value& v) {
      const Dims have = m.dims(&v);
      return v.type.dtype == in.dtype && (exact ? have == dims : have.size() == dims.size());
    };
    if (Value* v = m.existing(fits)) return v;
  }
  return m.leaf(in.dtype, dims, in.low, in.high);
}

}  // namespace

void add_sample(GraphMaker& m) {
  const OpDef& op = *m.choose.of(sampled_ops());
  const Sample& sample = m.choose.of(samples_of(op));
  const std::map<int64_t, int64_t> sizes = other_sizes(m, sample);
  std::vector<Value*> inputs;
  for (const SampleInput& in : sample.inputs) inputs.push_back(sample_input(m, op, in, sizes));
  Attributes attributes;
  for (const auto& [name, value] : sample.attributes) attributes.set(name, value);
  m.node(op, std::move(inputs), std::move(attributes), static_cast<size_t>(sample.outputs));
}

void add_unary(GraphMaker& m) {
  Value* x = m.choose.chance(0.85) ? m.existing_real() : nullptr;
  if (!x) x = m.real_of_rank(m.choose.below(5));
  const char* op = m.choose.of(kUnary);
  m.add(op, {x}, unary_attributes(op, m.choose));
}

void add_binary(GraphMaker& m) {
  Value* a = m.choose.chance(0.85) ? m.existing_real() : nullptr;
  if (!a) a = m.real_of_rank(m.choose.below(5));
  Dims other = m.broadcast_of(m.dims(a));
  const double kind = m.choose.uniform(0, 1);
  Value* b = nullptr;
  if (kind < 0.1)
    b = a;
  else if (kind < 0.3)
    b = m.real_of(m.dims(a));
  else if (kind < 0.5)
    b = m.existing_real();
  else {
    for (int64_t& d : other)  // the first operand is repeated too
      if (d == 1 && m.choose.chance(0.3)) d = m.size();
    if (m.choose.chance(0.2)) other.insert(other.begin(), m.size());
    b = m.real_of(other);
  }
  if (m.choose.chance(0.5)) std::swap(a, b);
  const char* op = m.choose.of(kBinary);
  Attributes attributes;
  if (op == std::string_view("Mod")) attributes.set("fmod", int64_t{1});
  m.add(op, {a, b}, attributes);
}

void add_variadic(GraphMaker& m) {
  Value* a = m.existing_real();
  if (!a) a = m.real_of_rank(m.choose.below(4));
  const Dims dims = m.dims(a);
  std::vector<Value*> inputs{a};
  for (int64_t i = m.choose.between(0, 4); i > 0; --i) {
    if (m.choose.chance(0.1))
      inputs.push_back(m.choose.of(inputs));
    else
      inputs.push_back(m.real_of(m.choose.chance(0.6) ? m.broadcast_of(dims) : dims));
  }
  for (size_t i = inputs.size() - 1; i > 0; --i) std::swap(inputs[i], inputs[m.choose.below(i + 1)]);
  m.add(m.choose.of<const char*>({"Sum", "Max", "Min", "Mean"}), inputs);
}

void add_clip(GraphMaker& m) {
  Value* x = m.existing_real();
  clip(m, x ? x : m.real_of_rank(4));
}

void clip(GraphMaker& m, Value* x) {
  constexpr float kInf = std::numeric_limits<float>::infinity(), kMost = std::numeric_limits<float>::max();
  const auto bound = [&](std::initializer_list<float> values) -> Value* {
    if (m.choose.chance(0.3)) return nullptr;
    return m.choose.chance(0.9) ? m.scalar(m.choose.of(values)) : m.leaf(DType::f32, {}, -1, 1);
  };
  Value* low = bound({0, -1, -kInf, -kMost, 1});
  Value* high = bound({6, 1, 0, kInf, kMost, -1});
  std::vector<Value*> inputs{x};
  if (low || high) inputs.push_back(low);
  if (high) inputs.push_back(high);
  m.add("Clip", inputs);
}

void add_comparison(GraphMaker& m) {
  Value* a = m.existing_real();
  if (!a) a = m.real_of_rank(m.choose.below(4));
  Value* b = m.real_of(m.broadcast_of(m.dims(a)));
  Value* mask = m.add(m.choose.of<const char*>({"Less", "Greater", "Equal", "GreaterOrEqual", "LessOrEqual"}), {a, b});
  if (!mask) return;
  if (m.choose.chance(0.3)) mask = m.add("Not", {mask});
  if (m.choose.chance(0.7)) m.add("Where", {mask, a, m.real_of(m.broadcast_of(m.dims(mask)))});
  if (m.choose.chance(0.4))
    m.add("Cast", {mask}, make_attributes({{"to", static_cast<int64_t>(m.choose.of({DType::f32, DType::i64, DType::u8}))}}));
}

void add_integers(GraphMaker& m) {
  const DType type =
      m.choose.of({DType::i64, DType::i32, DType::u8, DType::i8, DType::f64, DType::f16, DType::boolean, DType::i16});
  const auto fits = [&](const Value& v) { return v.type.dtype == type; };
  Value* a = m.choose.chance(0.5) ? m.existing(fits) : nullptr;
  if (!a) a = m.leaf(type, {m.size(), m.size()}, -9, 9);
  Value* b = m.leaf(type, m.broadcast_of(m.dims(a)), 1, 9);
  switch (m.choose.below(4)) {
    case 0:
      m.add(m.choose.of<const char*>({"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "Mod"}), {a, b});
      break;
    case 1:
      m.add(m.choose.of<const char*>({"Abs", "Neg", "Sign", "Relu", "Identity", "Sqrt"}), {a});
      break;
    case 2:
      m.add("Cast", {a},
            make_attributes({{"to", static_cast<int64_t>(m.choose.of({DType::f32, DType::i64, DType::f16, DType::i32}))}}));
      break;
    default:
      m.add(m.choose.of<const char*>({"Equal", "Less", "Greater", "And", "Or", "Xor"}), {a, b});
      break;
  }
}

}  // namespace svengine::differential
