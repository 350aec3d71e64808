// Conv, and the convolution that fusion makes of it: activation(conv(X, scale W) + B + residual).
#include <numeric>

#include "engine/base/number_at.h"
#include "engine/ops/nn/conv_common.h"
#include "tools/emit/formulas.h"
#include "tools/emit/table.h"
#include "tools/emit/tile.h"

namespace svengine::tool::emit {
namespace {

/// With three spatial dimensions, absent ones being 1 in front.
struct ConvOf {
  int64_t batch, channels, out_channels, groups;
  std::array<int64_t, 3> in, out, kernel, stride, dilation, before, padded;
  int64_t ins, outs;           // of a group
  int64_t image, pixels;       // elements of a padded channel, and of an output's
  bool is_padded = false;
  std::vector<StepLoop> steps() const {
    const int64_t row = padded[2], plane = padded[1] * row;
    return {{ins, image}, {kernel[0], dilation[0] * plane}, {kernel[1], dilation[1] * row}, {kernel[2], dilation[2]}};
  }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

Result<ConvOf> conv_of(const NodeContext& c) {
  const Dims x = c.in_dims(0), w = c.in_dims(1);
  SV_ASSIGN(const ops::Window window, ops::window_of(c.attributes(), Dims(x.begin() + 2, x.end()), Dims(w.begin() + 2, w.end())));
  ConvOf v{};
  v.batch = x[0], v.channels = x[1], v.out_channels = w[0], v.groups = c.attributes().get_int("group", 1);
  v.in = ops::to_three(window.in, 1), v.out = ops::to_three(window.out, 1), v.kernel = ops::to_three(window.kernel, 1);
  v.stride = ops::to_three(window.strides, 1), v.dilation = ops::to_three(window.dilations, 1), v.before = ops::to_three(window.pads_begin, 0);
  const std::array<int64_t, 3> after = ops::to_three(window.pads_end, 0);
  for (size_t d = 0; d < 3; ++d) {
    v.padded[d] = v.in[d] + v.before[d] + after[d];
    v.is_padded = v.is_padded || v.padded[d] != v.in[d];
  }
  v.ins = v.channels / v.groups, v.outs = v.out_channels / v.groups;
  v.image = v.padded[0] * v.padded[1] * v.padded[2], v.pixels = v.out[0] * v.out[1] * v.out[2];
  return v;
}

std::vector<double> scales_of(const NodeContext& c) {
  std::vector<double> out;
  const Tensor* scale = c.constant(kConvWeightScale);
  for (int64_t i = 0; scale && i < scale->count(); ++i) out.push_back(number_at(scale->type(), scale->raw(), i));
  return out;
}

/// An image of the batch in zeros: "n" is which. Gives the pointer to it.
std::string emit_padding(NodeContext& c, const ConvOf& v, const std::string& padded) {
  const int64_t plane = v.in[0] * v.in[1] * v.in[2];
  if (!v.is_padded) return fmt::format("{} + n * {}", c.in(0), v.channels * plane);
  const Strides to = dense_strides({v.channels, v.padded[0], v.padded[1], v.padded[2]});
  const Nest nest = merged({{v.channels, v.in[0], v.in[1], v.in[2]}, {dense_strides({v.channels, v.in[0], v.in[1], v.in[2]}), to}});
  open_loops(c.code(), nest.sizes);
  const int64_t first = v.before[0] * to[1] + v.before[1] * to[2] + v.before[2];
  c.code().line("{}[{}] = {}[n * {} + {}];", padded, element_of(nest.operands[1], first), c.in(0), v.channels * plane,
                element_of(nest.operands[0]));
  close_loops(c.code(), nest.sizes);
  return padded;
}

/// Where output pixel q begins to be read.
std::string pixel_of(const ConvOf& v, const std::string& q) {
  const int64_t row = v.padded[2], plane = v.padded[1] * row;
  if (v.out[1] == 1 && v.out[0] == 1) return fmt::format("({}) * {}", q, v.stride[2]);
  if (v.out[0] == 1 && v.out[2] == row && v.stride[1] == 1 && v.stride[2] == 1) return q;
  std::string out = fmt::format("({0}) % {1} * {2} + ({0}) / {1}", q, v.out[2], v.stride[2]);
  if (v.out[0] == 1) return out + fmt::format(" * {}", v.stride[1] * row);
  return out + fmt::format(" % {0} * {1} + ({2}) / {3} * {4}", v.out[1], v.stride[1] * row, q, v.out[1] * v.out[2], v.stride[0] * plane);
}

/// y[index] = what becomes of the sum; the bias is already in it.
void store_pixel(NodeContext& c, std::string sum, const std::string& index) {
  if (c.has_input(3)) sum += fmt::format(" + {}", c.element(3, index));
  const std::string value = activated(c.code(), c.node(), c.out_type(), sum);
  c.code().line("{}[{}] = {};", c.out(), index, value);
}

/// Output channels are columns, pixels are rows: weights are read as they lie, for any stride.
void emit_over_channels(NodeContext& c, const ConvOf& v, const std::string& image) {
  Code& code = c.code();
  const int64_t steps = v.ins * v.taps();
  const Panels panels = make_panels(c, 1, {.batch = v.groups, .n = v.outs, .steps = steps, .batch_stride = v.outs * steps,
                                        .n_stride = steps, .step_stride = 1, .scale = scales_of(c)}, v.pixels);
  code.loop("g", v.groups);
  code.loop("p", panels.count);
  code.line("const {} *const x = {} + g * {};", c_type(c.out_type()), image, v.ins * v.image);
  Tile tile{.type = c.out_type(), .columns = panels.columns, .steps = v.steps(),
            .panel = fmt::format("{} + g * {} + p * {}", panels.name, panels.batch_size, steps * panels.columns)};
  if (v.outs % panels.columns == 0) tile.valid = panels.columns;
  else code.line("const ptrdiff_t width = {0} - p * {1} < {1} ? {0} - p * {1} : {1};", v.outs, panels.columns);
  const auto pixels = [&](const std::string& first, int64_t count) {
    tile.row = [&](int64_t r) { return "x + " + pixel_of(v, fmt::format("{} + {}", first, r)); };
    tile.store = [&](int64_t r, std::string sum) {
      const std::string channel = fmt::format("g * {} + p * {} + j", v.outs, panels.columns);
      if (c.has_input(2)) sum += fmt::format(" + {}", c.element(2, channel));
      store_pixel(c, sum, fmt::format("(n * {} + {}) * {} + {} + {}", v.out_channels, channel, v.pixels, first, r));
    };
    emit_tile(code, tile, count);
  };
  const int64_t whole = v.pixels / panels.rows * panels.rows;
  code.open("for (ptrdiff_t q = 0; q < {}; q += {})", whole, panels.rows);
  pixels("q", panels.rows);
  code.close();
  if (whole < v.pixels) {
    code.open("");
    pixels(fmt::format("{}", whole), v.pixels - whole);
    code.close();
  }
  code.close(2);
}

/// Weights as they lie, multiplied by the scales of FusedConv.
std::string scaled_weights(NodeContext& c, const ConvOf& v) {
  const Tensor* w = c.constant(1);
  const std::vector<double> scales = scales_of(c);
  if (!w || scales.empty()) return c.in(1);
  const int64_t each = v.ins * v.taps();
  std::vector<float> out;
  for (int64_t i = 0; i < w->count(); ++i)
    out.push_back(static_cast<float>(number_at(w->type(), w->raw(), i) * scales[static_cast<size_t>(i / each)]));
  return c.array(std::span<const float>(out));
}

/// Few output channels a group: columns of an output row are summed up together.
void emit_over_rows(NodeContext& c, const ConvOf& v, const std::string& image) {
  constexpr int64_t kColumns = 64;
  Code& code = c.code();
  const std::string_view t = c_type(c.out_type());
  const std::vector<StepLoop> steps = v.steps();
  const int64_t row = v.padded[2], plane = v.padded[1] * row;
  const std::string weights = scaled_weights(c, v);
  code.loop("m", v.out_channels);
  code.loop("d", v.out[0]);
  code.loop("h", v.out[1]);
  code.line("const {} *const x = {} + m / {} * {} + d * {} + h * {};", t, image, v.outs, v.ins * v.image, v.stride[0] * plane, v.stride[1] * row);
  const auto columns = [&](const std::string& first, int64_t count) {
    code.line("const {} *w = {} + m * {}, b = {};", t, weights, v.ins * v.taps(), c.has_input(2) ? c.element(2, "m") : "0");
    code.line("{} s[{}];", t, count);
    code.line("for (ptrdiff_t j = 0; j < {}; ++j) s[j] = b;", count);
    std::string at;
    for (size_t l = 0; l < steps.size(); ++l) {
      code.loop(fmt::format("l{}", l), steps[l].count);
      at += fmt::format("l{} * {} + ", l, steps[l].stride);
    }
    code.line("const {} v = *w++, *const a = x + {}{} * {};", t, at, first, v.stride[2]);
    code.line("for (ptrdiff_t j = 0; j < {}; ++j) s[j] += v * a[j * {}];", count, v.stride[2]);
    code.close(static_cast<int>(steps.size()));
    code.loop("j", count);
    store_pixel(c, "s[j]", fmt::format("(((n * {} + m) * {} + d) * {} + h) * {} + {} + j", v.out_channels, v.out[0], v.out[1],
                                        v.out[2], first));
    code.close();
  };
  const int64_t whole = v.out[2] / kColumns * kColumns;
  if (whole > 0) {
    code.open("for (ptrdiff_t o = 0; o < {}; o += {})", whole, kColumns);
    columns("o", kColumns);
    code.close();
  }
  if (whole < v.out[2]) columns(fmt::format("{}", whole), v.out[2] - whole);
  code.close(3);
}

}  // namespace

Status emit_conv(NodeContext& c) {
  SV_ASSIGN(const ConvOf v, conv_of(c));
  constexpr int64_t kFewChannels = 8;  // a panel has more columns than twice that
  std::string padded;
  if (v.is_padded) {
    padded = c.temporary(c.out_type(), v.channels * v.image);
    c.code().line("memset({0}, 0, sizeof(*{0}) * {1});", padded, v.channels * v.image);  // the border stays so
  }
  c.code().loop("n", v.batch);
  const std::string image = emit_padding(c, v, padded);
  if (v.outs < kFewChannels) emit_over_rows(c, v, image);
  else emit_over_channels(c, v, image);
  c.code().close();
  c.count_multiply_adds(v.batch * v.out_channels * v.pixels * v.ins * v.taps());
  return {};
}

}  // namespace svengine::tool::emit
