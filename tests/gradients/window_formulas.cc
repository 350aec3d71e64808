#include "tests/gradients/window_formulas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/ops/nn/window_common.h"

namespace svengine::tests {
namespace {

using ops::to_three;
using Three = std::array<int64_t, 3>;

/// The window of a node in three spatial dimensions.
struct Window3 {
  Three in, out, kernel, stride, dilation, begin, end;
};

Window3 window_of(const Node& node, const Dims& x, const Dims& kernel) {
  const ops::Window w = ops::window_of(node.attributes, Dims(x.begin() + 2, x.end()), kernel).value();
  return {to_three(w.in, 1),      to_three(w.out, 1),        to_three(w.kernel, 1),    to_three(w.strides, 1),
          to_three(w.dilations, 1), to_three(w.pads_begin, 0), to_three(w.pads_end, 0)};
}

int64_t volume(const Three& t) { return t[0] * t[1] * t[2]; }
Three place(int64_t i, const Three& extent) { return {i / (extent[1] * extent[2]), i / extent[2] % extent[1], i % extent[2]}; }

/// visit(tap, position in the image or -1, whether inside the padded image) for all taps of output `o`.
template <class F>
void for_taps(const Window3& w, int64_t o, const F& visit) {
  const Three out = place(o, w.out);
  for (int64_t t = 0; t < volume(w.kernel); ++t) {
    const Three tap = place(t, w.kernel);
    Three at{};
    bool inside = true, padded = true;
    for (size_t d = 0; d < 3; ++d) {
      at[d] = out[d] * w.stride[d] - w.begin[d] + tap[d] * w.dilation[d];
      inside = inside && at[d] >= 0 && at[d] < w.in[d];
      padded = padded && at[d] < w.in[d] + w.end[d];
    }
    visit(t, inside ? (at[0] * w.in[1] + at[1]) * w.in[2] + at[2] : -1, padded);
  }
}

Dims output_dims(const Node& node) { return *node.output()->type.shape.concrete(); }

/// One number for every window of every channel: f(window, output, the channel's image).
template <class F>
std::vector<Array> pool(const Node& node, const Array& x, const F& f) {
  const Window3 w = window_of(node, x.dims, {});
  Array y{output_dims(node), {}};
  for (int64_t plane = 0; plane < x.dims[0] * x.dims[1]; ++plane)
    for (int64_t o = 0; o < volume(w.out); ++o) y.v.push_back(f(w, o, x.v.data() + plane * volume(w.in)));
  return {y};
}

}  // namespace

std::vector<Array> lp_pool(const Node& node, const std::vector<Array>& in) {
  const auto power = static_cast<double>(node.attributes.get_int("p", 2));
  return pool(node, in[0], [power](const Window3& w, int64_t o, const double* image) {
    double sum = 0;
    for_taps(w, o, [&](int64_t, int64_t at, bool) { sum += at < 0 ? 0 : std::pow(std::fabs(image[at]), power); });
    return std::pow(sum, 1 / power);
  });
}

std::vector<Array> local_response(const Node& node, const std::vector<Array>& in) {
  const Array& x = in[0];
  const int64_t channels = x.dims[1], spatial = element_count(std::span(x.dims).subspan(2)), size = node.attributes.get_int("size");
  Array y = x;
  for (int64_t i = 0; i < static_cast<int64_t>(x.v.size()); ++i) {
    const int64_t c = i / spatial % channels;
    double squares = 0;
    for (int64_t k = std::max<int64_t>(0, c - (size - 1) / 2); k <= std::min(channels - 1, c + size / 2); ++k)
      squares += std::pow(x.v[static_cast<size_t>(i + (k - c) * spatial)], 2);
    const double factor = double{node.attributes.get_float("alpha", 1e-4f)} / static_cast<double>(size);
    const double base = node.attributes.get_float("bias", 1) + factor * squares;
    y.v[static_cast<size_t>(i)] *= std::pow(base, -node.attributes.get_float("beta", 0.75f));
  }
  return {y};
}

std::vector<Array> conv(const Node& node, const std::vector<Array>& in) {
  const Array &x = in[0], &weights = in[1];
  const Window3 w = window_of(node, x.dims, Dims(weights.dims.begin() + 2, weights.dims.end()));
  const int64_t groups = node.attributes.get_int("group", 1), outs = weights.dims[0], ins = weights.dims[1];
  Array y{output_dims(node), {}};
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t m = 0; m < outs; ++m)
      for (int64_t o = 0; o < volume(w.out); ++o) {
        double sum = in.size() > 2 && !in[2].v.empty() ? in[2].v[static_cast<size_t>(m)] : 0;
        for (int64_t c = 0; c < ins; ++c) {
          const double* image = x.v.data() + (n * x.dims[1] + m / (outs / groups) * ins + c) * volume(w.in);
          const double* taps = weights.v.data() + (m * ins + c) * volume(w.kernel);
          for_taps(w, o, [&](int64_t t, int64_t at, bool) { sum += at < 0 ? 0 : image[at] * taps[t]; });
        }
        y.v.push_back(sum);
      }
  return {y};
}

std::vector<Array> conv_transpose(const Node& node, const std::vector<Array>& in) {
  const Array &x = in[0], &weights = in[1];
  const size_t rank = x.dims.size() - 2;
  const auto three = [&](const char* name, int64_t default_value, const Dims& dims) {
    Dims values = dims.empty() ? node.attributes.get_ints(name, Dims(rank, default_value)) : dims;
    values.resize(rank);  // of pads the first half
    return to_three(values, default_value);
  };
  const Dims y_dims = output_dims(node);
  const Three xs = three("", 1, Dims(x.dims.begin() + 2, x.dims.end())), ys = three("", 1, Dims(y_dims.begin() + 2, y_dims.end())),
              ks = three("", 1, Dims(weights.dims.begin() + 2, weights.dims.end()));
  const Three stride = three("strides", 1, {}), dilation = three("dilations", 1, {}), begin = three("pads", 0, {});
  const int64_t groups = node.attributes.get_int("group", 1), ins = x.dims[1], group_outs = weights.dims[1];
  Array y{y_dims, std::vector<double>(static_cast<size_t>(element_count(y_dims)))};
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t i = 0; i < ins; ++i)
      for (int64_t m = 0; m < group_outs; ++m)
        for (int64_t p = 0; p < volume(xs); ++p)
          for (int64_t t = 0; t < volume(ks); ++t) {
            const Three from = place(p, xs), tap = place(t, ks);
            Three at{};
            bool inside = true;
            for (size_t d = 0; d < 3; ++d) {
              at[d] = from[d] * stride[d] - begin[d] + tap[d] * dilation[d];
              inside = inside && at[d] >= 0 && at[d] < ys[d];
            }
            if (!inside) continue;
            const int64_t plane = n * y_dims[1] + i / (ins / groups) * group_outs + m;
            y.v[static_cast<size_t>(plane * volume(ys) + (at[0] * ys[1] + at[1]) * ys[2] + at[2])] +=
                x.v[static_cast<size_t>((n * ins + i) * volume(xs) + p)] *
                weights.v[static_cast<size_t>((i * group_outs + m) * volume(ks) + t)];
          }
  for (size_t i = 0; in.size() > 2 && !in[2].v.empty() && i < y.v.size(); ++i)
    y.v[i] += in[2].v[i / static_cast<size_t>(volume(ys)) % static_cast<size_t>(y_dims[1])];
  return {y};
}

std::vector<Array> max_pool(const Node& node, const std::vector<Array>& in) {
  return pool(node, in[0], [](const Window3& w, int64_t o, const double* image) {
    double largest = -std::numeric_limits<double>::infinity();
    for_taps(w, o, [&](int64_t, int64_t at, bool) { largest = at < 0 ? largest : std::max(largest, image[at]); });
    return largest;
  });
}

std::vector<Array> average_pool(const Node& node, const std::vector<Array>& in) {
  const bool count_padding = node.attributes.get_int("count_include_pad") != 0;
  return pool(node, in[0], [=](const Window3& w, int64_t o, const double* image) {
    double sum = 0, count = 0;
    for_taps(w, o, [&](int64_t, int64_t at, bool padded) {
      sum += at < 0 ? 0 : image[at];
      count += at >= 0 || (count_padding && padded);
    });
    return sum / count;
  });
}

std::vector<Array> global_max_pool(const Node& node, const std::vector<Array>& in) {
  Array y{output_dims(node), {}};
  const size_t n = in[0].v.size() / static_cast<size_t>(element_count(y.dims));
  for (size_t i = 0; i < in[0].v.size(); i += n)
    y.v.push_back(*std::max_element(in[0].v.begin() + static_cast<int64_t>(i), in[0].v.begin() + static_cast<int64_t>(i + n)));
  return {y};
}

std::vector<Array> global_average_pool(const Node& node, const std::vector<Array>& in) {
  Array y{output_dims(node), {}};
  const size_t n = in[0].v.size() / static_cast<size_t>(element_count(y.dims));
  for (size_t i = 0; i < in[0].v.size(); i += n) {
    double sum = 0;
    for (size_t j = 0; j < n; ++j) sum += in[0].v[i + j];
    y.v.push_back(sum / static_cast<double>(n));
  }
  return {y};
}

}  // namespace svengine::tests
