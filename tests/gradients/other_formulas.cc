#include "tests/gradients/other_formulas.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace svengine::tests {
namespace {

using Arrays = std::vector<Array>;

std::vector<float> list_of(const Node& node, const char* name) {
  const auto* list = node.attributes.get<std::vector<float>>(name);
  return list ? *list : std::vector<float>{};
}

int64_t columns_of(const Array& x) { return x.dims.back(); }

/// Of element i of x, the one of scale (and zero point) that it belongs to.
size_t scale_place(const Node& node, const Dims& x, const Dims& scale, int64_t i) {
  if (element_count(scale) == 1) return 0;
  int64_t axis = node.attributes.get_int("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(x.size());
  const auto a = static_cast<size_t>(axis);
  const int64_t inner = element_count(std::span(x).subspan(a + 1)), along = i / inner % x[a], block = node.attributes.get_int("block_size");
  if (block == 0) return static_cast<size_t>(along);
  return static_cast<size_t>((i / inner / x[a] * scale[a] + along / block) * inner + i % inner);
}

}  // namespace

Arrays dequantize_linear(const Node& node, const Arrays& in) {
  Array y = in[0];
  for (size_t i = 0; i < y.v.size(); ++i) {
    const size_t at = scale_place(node, y.dims, in[1].dims, static_cast<int64_t>(i));
    y.v[i] = (y.v[i] - (in.size() > 2 && !in[2].v.empty() ? in[2].v[at] : 0)) * in[1].v[at];
  }
  return {y};
}

/// One token of one head of keys after the other, as the specification says it.
Arrays linear_attention(const Node& node, const Arrays& in) {
  const int64_t batch = in[0].dims[0], tokens = in[0].dims[1];
  const int64_t q_heads = node.attributes.get_int("q_num_heads"), heads = node.attributes.get_int("kv_num_heads");
  const int64_t n = in[0].dims[2] / q_heads, m = in[2].dims[2] / heads, group = q_heads / heads;
  const std::string rule = node.attributes.get_string("update_rule", "gated_delta");
  const bool decays = rule.starts_with("gated"), corrects = rule.ends_with("delta");
  const float given = node.attributes.get_float("scale");
  const double scale = given != 0 ? double{given} : 1 / std::sqrt(static_cast<double>(n));
  const auto at = [](const Array& a, int64_t i) { return a.v[static_cast<size_t>(i)]; };
  Array y{{batch, tokens, q_heads * m}, std::vector<double>(static_cast<size_t>(batch * tokens * q_heads * m))};
  Array state{{batch, heads, n, m}, std::vector<double>(static_cast<size_t>(batch * heads * n * m))};
  if (in.size() > 3 && !in[3].v.empty()) state.v = in[3].v;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t t = 0; t < tokens; ++t) {
        double* s = state.v.data() + (b * heads + h) * n * m;
        const int64_t row = b * tokens + t;
        if (decays) {
          const int64_t sizes = in[4].dims[2] / heads;
          for (int64_t i = 0; i < n * m; ++i) s[i] *= std::exp(at(in[4], (row * heads + h) * sizes + (sizes == 1 ? 0 : i / m)));
        }
        for (int64_t j = 0; j < m; ++j) {
          double change = at(in[2], (row * heads + h) * m + j);
          if (corrects) {
            for (int64_t i = 0; i < n; ++i) change -= at(in[1], (row * heads + h) * n + i) * s[i * m + j];
            change *= at(in[5], row * in[5].dims[2] + (in[5].dims[2] == 1 ? 0 : h));
          }
          for (int64_t i = 0; i < n; ++i) s[i * m + j] += at(in[1], (row * heads + h) * n + i) * change;
        }
        for (int64_t q = h * group; q < (h + 1) * group; ++q)
          for (int64_t j = 0; j < m; ++j)
            for (int64_t i = 0; i < n; ++i)
              y.v[static_cast<size_t>((row * q_heads + q) * m + j)] += scale * at(in[0], (row * q_heads + q) * n + i) * s[i * m + j];
      }
  return {y, state};
}

Arrays scaler(const Node& node, const Arrays& in) {
  const std::vector<float> offset = list_of(node, "offset"), scale = list_of(node, "scale");
  Array y = in[0];
  const auto one = [](const std::vector<float>& list, size_t column, double none) {
    return list.empty() ? none : double{list[list.size() == 1 ? 0 : column]};
  };
  for (size_t i = 0; i < y.v.size(); ++i) {
    const size_t column = i % static_cast<size_t>(columns_of(y));
    y.v[i] = (y.v[i] - one(offset, column, 0)) * one(scale, column, 1);
  }
  return {y};
}

Arrays normalizer(const Node& node, const Arrays& in) {
  const std::string norm = node.attributes.get_string("norm", "MAX");
  Array y = in[0];
  const int64_t n = columns_of(y);
  for (int64_t row = 0; row < static_cast<int64_t>(y.v.size()); row += n) {
    double* x = y.v.data() + row;
    double by = norm == "MAX" ? *std::max_element(x, x + n) : 0;
    for (int64_t i = 0; i < n && norm != "MAX"; ++i) by += norm == "L1" ? std::fabs(x[i]) : x[i] * x[i];
    if (norm == "L2") by = std::sqrt(by);
    for (int64_t i = 0; i < n; ++i) x[i] /= by;
  }
  return {y};
}

Arrays feature_vectorizer(const Node& node, const Arrays& in) {
  const std::vector<int64_t> sizes = node.attributes.get_ints("inputdimensions");
  const int64_t rows = in[0].dims.size() == 1 ? 1 : in[0].dims[0];
  int64_t columns = 0;
  for (const int64_t size : sizes) columns += size;
  Array y{{rows, columns}, {}};
  for (int64_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < in.size(); ++i)
      for (int64_t k = 0; k < sizes[i]; ++k)
        y.v.push_back(k < columns_of(in[i]) ? in[i].v[static_cast<size_t>(row * columns_of(in[i]) + k)] : 0);
  return {y};
}

std::vector<Array> n_bits_mat_mul(const Node& node, const std::vector<Array>& in) {
  const int64_t k = node.attributes.get_int("K"), n = node.attributes.get_int("N"), bits = node.attributes.get_int("bits", 4);
  const int64_t block = node.attributes.get_int("block_size"), blocks = (k - 1) / block + 1, each = 8 / bits;
  const auto level = [&](const Array& bytes, int64_t row, int64_t i) {
    const auto byte = static_cast<int64_t>(bytes.v[static_cast<size_t>(row + i / each)]);
    return static_cast<double>(byte >> (i % each * bits) & ((1 << bits) - 1));
  };
  const bool of_file = std::string_view(node.op().name) == "MatMulNBits";  // which may name every row's block in front of the bias
  const size_t bias = of_file ? 5 : 4, groups = of_file ? 4 : in.size();
  const int64_t zero_row = (blocks + each - 1) / each;
  const bool packed = in.size() > 3 && static_cast<int64_t>(in[3].v.size()) == n * zero_row;
  Array y;
  y.dims = in[0].dims;
  y.dims.back() = n;
  for (size_t row = 0; row < in[0].v.size(); row += static_cast<size_t>(k))
    for (int64_t c = 0; c < n; ++c) {
      double sum = in.size() > bias ? in[bias].v[static_cast<size_t>(c)] : 0;
      for (int64_t d = 0; d < k; ++d) {
        const int64_t at = groups < in.size() ? static_cast<int64_t>(in[groups].v[static_cast<size_t>(d)]) : d / block;
        const auto factor = static_cast<size_t>(c * blocks + at);
        const double zero = in.size() <= 3 ? 1 << (bits - 1) : packed ? level(in[3], c * zero_row, at) : in[3].v[factor];
        sum += in[0].v[row + static_cast<size_t>(d)] * (level(in[1], c * blocks * block / each, d) - zero) * in[2].v[factor];
      }
      y.v.push_back(sum);
    }
  return {y};
}

}  // namespace svengine::tests
