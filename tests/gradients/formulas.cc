// Operators whose kernels are float32 only, by their formulas in double.
#include <algorithm>
#include <cmath>
#include <random>
#include <string_view>

#include "engine/kernels/reference/elementwise.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/tensor/resize_common.h"
#include "tests/gradients/double_forward.h"
#include "tests/gradients/other_formulas.h"
#include "tests/gradients/window_formulas.h"
#include "tests/support/broadcast.h"

namespace svengine::tests {
namespace {

using Arrays = std::vector<Array>;

template <class F>
Arrays each(const Array& x, const F& f) {
  Array y = x;
  for (double& v : y.v) v = f(v);
  return {y};
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Arrays gelu(const Node& node, const Arrays& in) {
  if (node.attributes.get_string("approximate", "none") == "tanh")
    return each(in[0], [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); });
  return each(in[0], [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); });
}

Arrays silu(const Node&, const Arrays& in) {
  return each(in[0], [](double x) { return x * sigmoid(x); });
}

Arrays softplus(const Node&, const Arrays& in) {
  return each(in[0], [](double x) { return std::log1p(std::exp(x)); });
}

Arrays leaky_relu(const Node& node, const Arrays& in) {
  const double alpha = node.attributes.get_float("alpha", 0.01f);
  return each(in[0], [=](double x) { return x < 0 ? alpha * x : x; });
}

Arrays elu(const Node& node, const Arrays& in) {
  const double alpha = node.attributes.get_float("alpha", 1.0f);
  return each(in[0], [=](double x) { return x > 0 ? x : alpha * std::expm1(x); });
}

Arrays selu(const Node& node, const Arrays& in) {
  const double alpha = node.attributes.get_float("alpha", 1.67326319217681884765625f),
               gamma = node.attributes.get_float("gamma", 1.05070102214813232421875f);
  return each(in[0], [=](double x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); });
}

Arrays celu(const Node& node, const Arrays& in) {
  const double alpha = node.attributes.get_float("alpha", 1.0f);
  return each(in[0], [=](double x) { return x > 0 ? x : alpha * std::expm1(x / alpha); });
}

Arrays softsign(const Node&, const Arrays& in) {
  return each(in[0], [](double x) { return x / (1 + std::fabs(x)); });
}

Arrays thresholded_relu(const Node& node, const Arrays& in) {
  const double alpha = node.attributes.get_float("alpha", 1.0f);
  return each(in[0], [=](double x) { return x > alpha ? x : 0; });
}

Arrays mish(const Node&, const Arrays& in) {
  return each(in[0], [](double x) { return x * std::tanh(std::log1p(std::exp(x))); });
}

Arrays instance_norm(const Node& node, const Arrays& in) {
  const int64_t channels = in[0].dims[1], n = element_count(std::span(in[0].dims).subspan(2));
  const double epsilon = node.attributes.get_float("epsilon", 1e-5f);
  Array y = in[0];
  for (int64_t plane = 0; plane < in[0].dims[0] * channels; ++plane) {
    double* v = y.v.data() + plane * n;
    const auto c = static_cast<size_t>(plane % channels);
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < n; ++i) mean += v[i] / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) variance += (v[i] - mean) * (v[i] - mean) / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) v[i] = (v[i] - mean) / std::sqrt(variance + epsilon) * in[1].v[c] + in[2].v[c];
  }
  return {y};
}

Arrays hard_sigmoid(const Node& node, const Arrays& in) {
  const double alpha = node.attributes.get_float("alpha", 0.2f), beta = node.attributes.get_float("beta", 0.5f);
  return each(in[0], [=](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); });
}

Arrays cast(const Node&, const Arrays& in) { return {in[0]}; }

/// The mask that the operator draws: numpy.random.seed(seed), uniform numbers, kept where not below the ratio.
Arrays dropout(const Node& node, const Arrays& in) {
  const bool training = in.size() > 2 && !in[2].v.empty() && in[2].v[0] != 0;
  if (!training) return {in[0]};
  const double ratio = in[1].v.empty() ? 0.5 : in[1].v[0];
  std::mt19937 twister(static_cast<uint32_t>(node.attributes.get_int("seed", 0)));
  return each(in[0], [&](double x) {
    const uint32_t high = twister() >> 5, low = twister() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0 >= ratio ? x / (1 - ratio) : 0;
  });
}

/// y[o][:][i] = softmax of x[o][:][i].
Array softmax_lines(const Array& x, int64_t outer, int64_t n, int64_t inner, bool log) {
  Array y = x;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) {
      const auto at = [&](int64_t j) -> double& { return y.v[static_cast<size_t>((o * n + j) * inner + i)]; };
      double largest = at(0), sum = 0;
      for (int64_t j = 0; j < n; ++j) largest = std::max(largest, at(j));
      for (int64_t j = 0; j < n; ++j) sum += std::exp(at(j) - largest);
      for (int64_t j = 0; j < n; ++j) at(j) = log ? at(j) - largest - std::log(sum) : std::exp(at(j) - largest) / sum;
    }
  return y;
}

Arrays softmax(const Node& node, const Arrays& in, bool log) {
  const Dims& dims = in[0].dims;
  const auto rank = static_cast<int64_t>(dims.size());
  int64_t axis = node.attributes.get_int("axis", -1), outer = 1, n = 1, inner = 1;
  if (axis < 0) axis += rank;
  const bool coerced = node.attributes.get_int("coerced") != 0;
  for (int64_t i = 0; i < rank; ++i) (i < axis ? outer : i == axis || coerced ? n : inner) *= dims[static_cast<size_t>(i)];
  return {softmax_lines(in[0], outer, n, inner, log)};
}

/// numpy.matmul of arrays with at least two dimensions.
Array matmul(const Array& a, const Array& b) {
  const size_t ra = a.dims.size(), rb = b.dims.size();
  const int64_t m = a.dims[ra - 2], k = a.dims[ra - 1], n = b.dims[rb - 1];
  const Dims batch_a(a.dims.begin(), a.dims.end() - 2), batch_b(b.dims.begin(), b.dims.end() - 2);
  const Dims batch = *ops::broadcast(Shape::of(batch_a), Shape::of(batch_b))->concrete();
  const auto sa = ops::broadcast_strides(batch_a, batch), sb = ops::broadcast_strides(batch_b, batch);
  Array y{batch, {}};
  y.dims.insert(y.dims.end(), {m, n});
  for (int64_t i = 0; i < element_count(batch); ++i) {
    int64_t rest = i, at_a = 0, at_b = 0;
    for (size_t d = batch.size(); d-- > 0; rest /= batch[d]) {
      at_a += rest % batch[d] * sa[d] * m * k;
      at_b += rest % batch[d] * sb[d] * k * n;
    }
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += a.v[static_cast<size_t>(at_a + row * k + p)] * b.v[static_cast<size_t>(at_b + p * n + column)];
        y.v.push_back(sum);
      }
  }
  return y;
}

Arrays mat_mul(const Node&, const Arrays& in) {
  Array a = in[0], b = in[1];
  if (a.dims.size() == 1) a.dims.insert(a.dims.begin(), 1);
  if (b.dims.size() == 1) b.dims.push_back(1);
  return {matmul(a, b)};
}

Array transposed(const Array& a) {
  Array t{{a.dims[1], a.dims[0]}, {}};
  for (int64_t j = 0; j < a.dims[1]; ++j)
    for (int64_t i = 0; i < a.dims[0]; ++i) t.v.push_back(a.v[static_cast<size_t>(i * a.dims[1] + j)]);
  return t;
}

Arrays gemm(const Node& node, const Arrays& in) {
  const Attributes& attributes = node.attributes;
  Array y =
      matmul(attributes.get_int("transA") ? transposed(in[0]) : in[0], attributes.get_int("transB") ? transposed(in[1]) : in[1]);
  for (double& v : y.v) v *= attributes.get_float("alpha", 1.0f);
  if (in.size() < 3 || in[2].v.empty()) return {y};
  const auto strides = ops::broadcast_strides(in[2].dims, y.dims);
  for (int64_t i = 0; i < y.dims[0]; ++i)
    for (int64_t j = 0; j < y.dims[1]; ++j)
      y.v[static_cast<size_t>(i * y.dims[1] + j)] +=
          attributes.get_float("beta", 1.0f) * in[2].v[static_cast<size_t>(i * strides[0] + j * strides[1])];
  return {y};
}

Arrays layer_norm(const Node& node, const Arrays& in) {
  const Dims& dims = in[0].dims;
  int64_t axis = node.attributes.get_int("axis", -1);
  if (axis < 0) axis += static_cast<int64_t>(dims.size());
  const size_t n = static_cast<size_t>(element_count(std::span(dims).subspan(static_cast<size_t>(axis))));
  const double epsilon = node.attributes.get_float("epsilon", 1e-5f);
  Array y = in[0];
  for (size_t row = 0; row < y.v.size(); row += n) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < n; ++i) mean += y.v[row + i] / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i) variance += std::pow(y.v[row + i] - mean, 2) / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i) {
      const double bias = in.size() > 2 && !in[2].v.empty() ? in[2].v[broadcast_place(in[2].dims, dims, row + i)] : 0;
      y.v[row + i] = (y.v[row + i] - mean) / std::sqrt(variance + epsilon) * in[1].v[broadcast_place(in[1].dims, dims, row + i)] + bias;
    }
  }
  return {y};
}

Arrays batch_norm(const Node& node, const Arrays& in) {
  const bool image = in[0].dims.size() > 1;
  const int64_t batch = in[0].dims[0], channels = image ? in[0].dims[1] : 1;
  const int64_t spatial = image ? element_count(std::span(in[0].dims).subspan(2)) : 1;
  const double epsilon = node.attributes.get_float("epsilon", 1e-5f), count = static_cast<double>(batch * spatial);
  Array y = in[0];
  for (int64_t c = 0; c < channels; ++c) {
    const auto for_all = [&](const auto& f) {
      for (int64_t b = 0; b < batch; ++b)
        for (int64_t i = 0; i < spatial; ++i) f(y.v[static_cast<size_t>((b * channels + c) * spatial + i)]);
    };
    const auto channel = static_cast<size_t>(c);
    double mean = in[3].v[channel], variance = in[4].v[channel];
    if (node.attributes.get_int("training_mode")) {
      mean = variance = 0;
      for_all([&](double& v) { mean += v / count; });
      for_all([&](double& v) { variance += (v - mean) * (v - mean) / count; });
    }
    for_all([&](double& v) { v = (v - mean) / std::sqrt(variance + epsilon) * in[1].v[channel] + in[2].v[channel]; });
  }
  return {y};
}

Arrays batch_norm_relu(const Node& node, const Arrays& in) {
  Arrays out = batch_norm(node, in);
  for (size_t i = 0; i < out[0].v.size(); ++i) {
    double& y = out[0].v[i];
    y = std::max(y + (in.size() > 5 && !in[5].v.empty() ? in[5].v[i] : 0), 0.0);
  }
  return out;
}

/// Cross entropy of log-probabilities [N, C, d...], reduced as the node says.
Arrays nll(const Node& node, const Arrays& in) {
  const Array &x = in[0], &labels = in[1];
  const int64_t classes = x.dims[1], inner = element_count(std::span(x.dims).subspan(2));
  const double smoothing = node.attributes.get_float("label_smoothing");
  const std::string reduction = node.attributes.get_string("reduction", "mean");
  Array losses{labels.dims, {}};
  double sum = 0, weights = 0;
  for (size_t i = 0; i < labels.v.size(); ++i) {
    const auto label = static_cast<int64_t>(labels.v[i]), batch = static_cast<int64_t>(i) / inner;
    double loss = 0;
    const bool ignored = node.attributes.has("ignore_index") && node.attributes.get_int("ignore_index") == label;
    for (int64_t c = 0; c < classes && !ignored; ++c) {
      const double w = in.size() > 2 ? in[2].v[static_cast<size_t>(c)] : 1;
      const double target = w * ((c == label ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes));
      loss -= target * x.v[static_cast<size_t>((batch * classes + c) * inner + static_cast<int64_t>(i) % inner)];
      if (c == label) weights += w;
    }
    losses.v.push_back(loss);
    sum += loss;
  }
  if (reduction == "none") return {losses};
  return {Array{{}, {reduction == "sum" ? sum : sum / weights}}};
}

Arrays softmax_cross_entropy(const Node& node, const Arrays& in) {
  Arrays inputs = in;
  const int64_t classes = in[0].dims[1], inner = element_count(std::span(in[0].dims).subspan(2));
  inputs[0] = softmax_lines(in[0], in[0].dims[0], classes, inner, true);
  return nll(node, inputs);
}

/// Axis by axis, by the tables of the forward kernels, which have tests of their own.
Arrays resize(const Node& node, const Arrays& in) {
  Array x = in[0];
  const std::vector<ops::AxisScale> axes = ops::resize_axes(node, Shape::of(x.dims)).value();
  for (const ops::AxisScale& a : axes) {
    if (a.unchanged) continue;
    const kernels::ResizeAxis axis = ops::kernel_axis(node.attributes, a).value();
    const kernels::ResampleTables tables = ops::resize_tables(node.attributes, axis);
    const int64_t inner = element_count(std::span(x.dims).subspan(a.axis + 1));
    Array y{x.dims, {}};
    y.dims[a.axis] = axis.out;
    for (int64_t i = 0; i < element_count(y.dims); ++i) {
      const int64_t outer = i / inner / axis.out, j = i / inner % axis.out;
      double sum = 0;
      for (int64_t t = 0; t < tables.taps; ++t) {
        const auto at = static_cast<size_t>(t * axis.out + j);
        sum += tables.weight[at] * x.v[static_cast<size_t>((outer * axis.in + tables.index[at]) * inner + i % inner)];
      }
      y.v.push_back(sum);
    }
    x = std::move(y);
  }
  return {x};
}

constexpr std::pair<std::string_view, Formula> kFormulas[] = {
    {"AveragePool", average_pool},
    {"BatchNormRelu", batch_norm_relu},
    {"BatchNormalization", batch_norm},
    {"Cast", cast},
    {"Celu", celu},
    {"Conv", conv},
    {"ConvTranspose", conv_transpose},
    {"DequantizeLinear", dequantize_linear},
    {"Dropout", dropout},
    {"Elu", elu},
    {"FeatureVectorizer", feature_vectorizer},
    {"Gelu", gelu},
    {"Gemm", gemm},
    {"GlobalAveragePool", global_average_pool},
    {"GlobalMaxPool", global_max_pool},
    {"HardSigmoid", hard_sigmoid},
    {"InstanceNormalization", instance_norm},
    {"LayerNormalization", layer_norm},
    {"LeakyRelu", leaky_relu},
    {"LinearAttention", linear_attention},
    {"LogSoftmax", [](const Node& node, const Arrays& in) { return softmax(node, in, true); }},
    {"LpPool", lp_pool},
    {"LRN", local_response},
    {"MatMul", mat_mul},
    {"MatMulNBits", n_bits_mat_mul},
    {"MaxPool", max_pool},
    {"Mish", mish},
    {"NBitsMatMul", n_bits_mat_mul},
    {"NegativeLogLikelihoodLoss", nll},
    {"Normalizer", normalizer},
    {"Resize", resize},
    {"Scaler", scaler},
    {"Selu", selu},
    {"Silu", silu},
    {"Softmax", [](const Node& node, const Arrays& in) { return softmax(node, in, false); }},
    {"SoftmaxCrossEntropyLoss", softmax_cross_entropy},
    {"Softplus", softplus},
    {"Softsign", softsign},
    {"ThresholdedRelu", thresholded_relu},
    {"Upsample", resize},
};

/// The others of kernels/activation.inc: functions without parameters.
template <kernels::UnaryOp kOp>
Arrays activation(const Node&, const Arrays& in) {
  return each(in[0], [](double x) { return kernels::reference_unary(kOp, x, 0, 0); });
}
constexpr std::pair<std::string_view, Formula> kActivations[] = {
#define SVENGINE_FUSED_ACTIVATION(Name, ...) {#Name, activation<kernels::UnaryOp::k##Name>},
#include "engine/kernels/activation.inc"
};

}  // namespace

Formula formula_of(const OpDef& op) {
  for (const auto& [name, formula] : kFormulas)
    if (name == op.name) return formula;
  for (const auto& [name, formula] : kActivations)
    if (name == op.name && op.attributes.empty() && op.inputs.arity().max == 1) return formula;
  return nullptr;
}

}  // namespace svengine::tests
