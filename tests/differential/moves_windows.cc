#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/graph/builder.h"
#include "tests/differential/moves.h"
#include "tests/support/compare.h"

namespace svengine::differential {
namespace {

/// Window attributes for that many spatial dimensions; `pads` at most half the kernel.
Attributes window(GraphMaker& m, size_t spatial, const Dims& kernel) {
  Attributes a;
  std::vector<int64_t> strides, dilations, pads(2 * spatial);
  for (size_t i = 0; i < spatial; ++i) {
    strides.push_back(m.choose.chance(0.7) ? 1 : m.choose.between(1, 3));
    dilations.push_back(m.choose.chance(0.8) ? 1 : m.choose.between(1, 3));
    const int64_t most = kernel[i] / 2;
    pads[i] = m.choose.between(0, most);
    pads[spatial + i] = m.choose.chance(0.7) ? pads[i] : m.choose.between(0, most);
  }
  if (m.choose.chance(0.7)) a.set("strides", strides);
  if (m.choose.chance(0.4)) a.set("dilations", dilations);
  if (m.choose.chance(0.1))
    a.set("auto_pad", m.choose.of<std::string>({"SAME_UPPER", "SAME_LOWER", "VALID"}));
  else if (m.choose.chance(0.7))
    a.set("pads", pads);
  return a;
}

Dims kernel_of(GraphMaker& m, size_t spatial) {
  Dims kernel;
  for (size_t i = 0; i < spatial; ++i) kernel.push_back(m.choose.of<int64_t>({1, 1, 2, 3, 3, 3, 5}));
  return kernel;
}

Value* image(GraphMaker& m, size_t spatial) {
  const size_t rank = spatial + 2;
  const auto fits = [&](const Value& v) { return v.type.dtype == m.real() && !v.is_constant() && m.dims(&v).size() == rank; };
  Value* x = m.choose.chance(0.75) ? m.existing(fits) : nullptr;
  if (x) return x;
  Dims dims{m.choose.between(1, 3), m.channels()};
  for (size_t i = 0; i < spatial; ++i) dims.push_back(m.choose.chance(0.03) ? 0 : m.choose.between(1, 14));
  return m.leaf(m.real(), dims);
}

Value* padded(GraphMaker& m, Value* x, size_t spatial) {
  std::vector<int64_t> pads(2 * (spatial + 2), 0);
  for (size_t i = 0; i < spatial; ++i) {
    pads[2 + i] = m.choose.between(m.choose.chance(0.1) ? -1 : 0, 2);
    pads[spatial + 4 + i] = m.choose.between(0, 2);
  }
  if (m.choose.chance(0.1)) pads[1] = 1;
  Value* amount = m.integers(pads);
  Value* number =
      m.choose.chance(0.4) ? nullptr : m.scalar(m.choose.of({0.0f, 0.0f, 1.5f, -std::numeric_limits<float>::infinity()}));
  Attributes a;
  if (m.choose.chance(0.2)) a.set("mode", m.choose.of<std::string>({"reflect", "edge", "constant"}));
  std::vector<Value*> inputs{x, amount};
  if (number) inputs.push_back(number);
  Value* out = m.add("Pad", inputs, a);
  return out ? out : x;
}

Value* convolution(GraphMaker& m, Value* x, size_t spatial) {
  const int64_t in = m.dims(x)[1];
  const bool transposed = m.choose.chance(0.08);
  int64_t group = 1, out = m.channels();
  if (m.choose.chance(0.15) && in > 0)
    group = in, out = in * m.choose.of<int64_t>({1, 1, 2});
  else if (m.choose.chance(0.1) && in % 2 == 0)
    group = 2, out = 2 * m.choose.between(1, 18);
  const Dims kernel = kernel_of(m, spatial);
  Dims shape = transposed ? Dims{in, out / group} : Dims{out, group ? in / group : in};
  shape.insert(shape.end(), kernel.begin(), kernel.end());
  Value* w = m.choose.chance(0.85) ? m.weight(shape, -0.5, 0.5) : m.leaf(m.real(), shape, -0.5, 0.5);
  std::vector<Value*> inputs{x, w};
  if (m.choose.chance(0.5)) inputs.push_back(m.choose.chance(0.9) ? m.weight({out}) : m.leaf(m.real(), {out}));
  Attributes a = window(m, spatial, kernel);
  if (group != 1 || m.choose.chance(0.1)) a.set("group", group);
  return m.add(transposed ? "ConvTranspose" : "Conv", inputs, a);
}

Value* batch_norm(GraphMaker& m, Value* x) {
  const int64_t c = m.dims(x)[1];
  const auto statistics = [&](double low, double high) {
    return m.choose.chance(0.9) ? m.weight({c}, low, high) : m.leaf(m.real(), {c}, low, high);
  };
  std::vector<Value*> inputs{x, statistics(-1.5, 1.5), statistics(-1, 1), statistics(-1, 1), statistics(0.2, 2)};
  Attributes a;
  if (m.choose.chance(0.3)) a.set("epsilon", 1e-3f);
  if (m.choose.chance(0.1)) {
    a.set("training_mode", int64_t{1});
    Node* node = m.node("BatchNormalization", inputs, a, 3);
    return node ? node->output() : nullptr;
  }
  return m.add("BatchNormalization", inputs, a);
}

Value* activation(GraphMaker& m, Value* x) {
  static const std::vector<const char*> kActivations = {"Relu",     "Relu", "Sigmoid",     "HardSwish", "LeakyRelu",
                                                        "Tanh",     "Gelu", "HardSigmoid", "Elu",       "Mish",
                                                        "Softplus", "Erf",  "Exp"};
  if (m.choose.chance(0.1)) return m.add("Mul", {x, m.add("Sigmoid", {x})});
  return m.add(m.choose.of(kActivations), {x});
}

}  // namespace

void add_convolution(GraphMaker& m) {
  const size_t spatial = m.choose.chance(0.8) ? 2 : m.choose.of<size_t>({1, 1, 3});
  Value* x = image(m, spatial);
  if (m.choose.chance(0.15)) x = padded(m, x, spatial);
  Value* y = convolution(m, x, spatial);
  if (y && m.choose.chance(0.3)) y = batch_norm(m, y);
  if (y && m.choose.chance(0.1)) y = m.add(m.choose.of<const char*>({"Mul", "Add"}), {y, m.weight({1, m.dims(y)[1], 1, 1})});
  if (y && m.choose.chance(0.2)) y = m.add("Add", {y, m.real_of(m.choose.chance(0.8) ? m.dims(y) : m.broadcast_of(m.dims(y)))});
  if (!y || m.choose.chance(0.4)) return;
  if (m.choose.chance(0.3)) return clip(m, y);
  activation(m, y);
}

void add_parallel_convolutions(GraphMaker& m) {
  const size_t spatial = m.choose.chance(0.8) ? 2 : m.choose.of<size_t>({1, 3});
  Value* x = image(m, spatial);
  const std::vector<double> pixels = tests::to_doubles(m.tensor(x));  // what infinities add up to is open: see parallel_convs
  if (!std::all_of(pixels.begin(), pixels.end(), [](double p) { return std::isfinite(p); })) return;
  const int64_t in = m.dims(x)[1], group = m.choose.chance(0.5) ? std::max<int64_t>(in, 1) : 1,
                out = group > 1 || m.choose.chance(0.5) ? in : m.channels();
  const int64_t reach = m.choose.between(0, 2), stride = m.choose.chance(0.2) ? 2 : 1;
  const auto branch = [&]() -> Value* {
    if (m.choose.chance(0.2)) return batch_norm(m, x);
    if (m.choose.chance(0.1)) return x;
    Dims weights{out, m.choose.chance(0.9) ? in / group : in};
    std::vector<int64_t> pads, dilations(spatial, m.choose.chance(0.1) ? 2 : 1);
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t half = m.choose.chance(0.1) ? 0 : m.choose.between(0, reach);
      weights.push_back(2 * half + (m.choose.chance(0.05) ? 2 : 1));
      pads.push_back(half + (m.choose.chance(0.05) ? 1 : 0));
    }
    pads.insert(pads.end(), pads.begin(), pads.end());
    std::vector<Value*> inputs{x, m.weight(weights, -0.5, 0.5)};
    if (m.choose.chance(0.5)) inputs.push_back(m.weight({out}));
    Attributes a =
        make_attributes({{"group", weights[1] == in ? int64_t{1} : group}, {"pads", pads}, {"strides", std::vector<int64_t>(spatial, stride)}});
    if (dilations[0] > 1) a.set("dilations", dilations);
    Value* y = m.add("Conv", inputs, a);
    return y && m.choose.chance(0.4) ? batch_norm(m, y) : y;
  };
  Value* sum = branch();
  for (int64_t i = m.choose.between(1, 3); i > 0 && sum; --i) {
    Value* more = branch();
    if (more && m.dims(more) == m.dims(sum)) sum = m.choose.chance(0.5) ? m.add("Add", {sum, more}) : m.add("Add", {more, sum});
  }
  if (sum && m.choose.chance(0.5)) activation(m, sum);
}

void add_shared_weight(GraphMaker& m) {
  const auto fresh = [&](int64_t c) { return m.leaf(m.real(), {1, c, m.choose.between(5, 20), m.choose.between(5, 20)}); };
  Value* x = m.choose.chance(0.5) ? fresh(m.choose.of<int64_t>({1, 3, 3, 4, 8, 16})) : image(m, 2);
  const Dims kernel = kernel_of(m, 2);
  const int64_t out = m.choose.chance(0.3) ? m.choose.of<int64_t>({32, 64}) : m.channels();
  Value* w = m.weight({out, m.dims(x)[1], kernel[0], kernel[1]});
  for (int i = 0; i < 2; ++i) {
    if (i && m.choose.chance(0.3)) x = fresh(m.dims(x)[1]);
    Attributes a = window(m, 2, kernel);
    if (m.choose.chance(0.4)) a.set("dilations", std::vector<int64_t>{m.choose.between(1, 2), m.choose.between(1, 3)});
    m.add("Conv", {x, w}, a);
  }
  if (m.choose.chance(0.2)) m.add("ReduceSum", {w});
}

void add_pool(GraphMaker& m) {
  const size_t spatial = m.choose.chance(0.9) ? 2 : 1;
  Value* x = image(m, spatial);
  if (m.choose.chance(0.15)) x = padded(m, x, spatial);
  if (m.choose.chance(0.15)) {
    m.add(m.choose.of<const char*>({"GlobalAveragePool", "GlobalMaxPool"}), {x});
    return;
  }
  const Dims kernel = kernel_of(m, spatial);
  Attributes a = window(m, spatial, kernel);
  a.set("kernel_shape", kernel);
  if (m.choose.chance(0.25)) a.set("ceil_mode", int64_t{1});
  if (m.choose.chance(0.4)) {
    if (m.choose.chance(0.5)) a.set("count_include_pad", int64_t{1});
    m.add("AveragePool", {x}, a);
    return;
  }
  m.node("MaxPool", {x}, a, m.choose.chance(0.25) ? 2 : 1);
}

void add_norm(GraphMaker& m) {
  Value* x = image(m, m.choose.chance(0.8) ? 2 : 1);
  const int64_t c = m.dims(x)[1];
  switch (m.choose.below(4)) {
    case 0:
      m.add("InstanceNormalization", {x, m.weight({c}), m.weight({c})});
      break;
    case 1:
      m.add("LRN", {x}, make_attributes({{"size", m.choose.between(1, 5)}}));
      break;
    default:
      if (Value* y = batch_norm(m, x); y && m.choose.chance(0.5)) m.add("Relu", {y});
  }
}

void add_residual(GraphMaker& m) {
  const auto fits = [&](const Value& v) {
    return v.type.dtype == m.real() && v.producer() && std::string_view(v.producer()->op().name) == "Conv";
  };
  Value* y = m.existing(fits);
  if (!y) y = image(m, 2);
  const Dims dims = m.dims(y);
  Value* other = m.existing([&](const Value& v) { return v.type.dtype == m.real() && &v != y && m.dims(&v) == dims; });
  if (!other) other = m.leaf(m.real(), dims);
  Value* sum = m.choose.chance(0.5) ? m.add("Add", {y, other}) : m.add("Add", {other, y});
  if (sum && m.choose.chance(0.6)) activation(m, sum);
}

}  // namespace svengine::differential
