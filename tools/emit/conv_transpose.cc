// ConvTranspose: every element of X times its weights is added to an image that is as large as all of them reach, of which Y is a part.
#include "engine/ops/nn/transposed_window.h"
#include "tools/emit/table.h"

namespace svengine::tool::emit {
namespace {

using Three = std::array<int64_t, 3>;

/// With three spatial dimensions, absent ones being 1 in front.
struct TransposeOf {
  int64_t batch, ins, outs, groups;  // channels of a group
  Three x, y, kernel, stride, dilation, before, full;
  int64_t pixels() const { return x[0] * x[1] * x[2]; }
  int64_t image() const { return full[0] * full[1] * full[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

Result<TransposeOf> transpose_of(const NodeContext& c) {
  const Dims x = c.in_dims(0), w = c.in_dims(1), y = c.out_dims();
  SV_ASSIGN(const ops::Window window, ops::transposed_window(c.attributes(), Dims(x.begin() + 2, x.end()), Dims(w.begin() + 2, w.end())));
  TransposeOf v{};
  v.groups = c.attributes().get_int("group", 1);
  v.batch = x[0], v.ins = x[1] / v.groups, v.outs = w[1];
  v.x = ops::to_three(window.out, 1), v.y = ops::to_three(window.in, 1), v.kernel = ops::to_three(window.kernel, 1);
  v.stride = ops::to_three(window.strides, 1), v.dilation = ops::to_three(window.dilations, 1), v.before = ops::to_three(window.pads_begin, 0);
  for (size_t d = 0; d < 3; ++d) v.full[d] = (v.x[d] - 1) * v.stride[d] + (v.kernel[d] - 1) * v.dilation[d] + 1;
  return v;
}

/// Adds channel "i" of group "g" to the image of channel "o", in memory `full`.
void emit_spread(NodeContext& c, const TransposeOf& v, const std::string& full) {
  Code& code = c.code();
  const std::string_view t = c_type(c.out_type());
  const int64_t row = v.full[2], plane = v.full[1] * row;
  code.line("const {} *const x = {} + ((n * {} + g) * {} + i) * {};", t, c.in(0), v.groups, v.ins, v.pixels());
  code.line("const {} *const w = {} + ((g * {} + i) * {} + o) * {};", t, c.in(1), v.ins, v.outs, v.taps());
  open_loops(code, {v.kernel[0], v.kernel[1], v.kernel[2], v.x[0], v.x[1]}, "l");
  code.line("{} *const to = {} + (l3 * {} + l0 * {}) * {} + (l4 * {} + l1 * {}) * {} + l2 * {};", t, full, v.stride[0], v.dilation[0], plane,
            v.stride[1], v.dilation[1], row, v.dilation[2]);
  code.line("const {} *const from = x + (l3 * {} + l4) * {}, by = w[(l0 * {} + l1) * {} + l2];", t, v.x[1], v.x[2], v.kernel[1], v.kernel[2]);
  code.line("for (ptrdiff_t j = 0; j < {}; ++j) to[j * {}] += by * from[j];", v.x[2], v.stride[2]);
  code.close(5);
}

/// The part of the image that is Y; behind the image there are zeros.
void emit_part(NodeContext& c, const TransposeOf& v, const std::string& full) {
  Code& code = c.code();
  const std::string channel = fmt::format("g * {} + o", v.outs);
  code.line("const {} bias = {};", c_type(c.out_type()), c.has_input(2) ? c.element(2, channel) : "0");
  open_loops(code, {v.y[0], v.y[1], v.y[2]}, "l");
  std::string inside, at;
  for (size_t d = 0; d < 3; ++d) {
    const std::string place = fmt::format("(l{} + {})", d, v.before[d]);
    if (v.y[d] + v.before[d] > v.full[d]) inside += fmt::format("{}{} < {}", inside.empty() ? "" : " && ", place, v.full[d]);
    at = d == 0 ? place : fmt::format("({} * {} + {})", at, v.full[d], place);
  }
  const std::string value = fmt::format("{}[{}]", full, at);
  code.line("{}[((n * {} + {}) * {} + l0 * {} + l1) * {} + l2] = bias + {};", c.out(), v.groups * v.outs, channel, v.y[0] * v.y[1],
            v.y[1], v.y[2], inside.empty() ? value : fmt::format("({} ? {} : 0)", inside, value));
  code.close(3);
}

}  // namespace

Status emit_conv_transpose(NodeContext& c) {
  SV_ASSIGN(const TransposeOf v, transpose_of(c));
  Code& code = c.code();
  const std::string full = c.temporary(c.out_type(), v.image());
  code.loop("n", v.batch);
  code.loop("g", v.groups);
  code.loop("o", v.outs);
  code.line("memset({0}, 0, sizeof(*{0}) * {1});", full, v.image());
  code.loop("i", v.ins);
  emit_spread(c, v, full);
  code.close();
  emit_part(c, v, full);
  code.close(3);
  c.count_multiply_adds(v.batch * v.groups * v.outs * v.ins * v.taps() * v.pixels());
  return {};
}

}  // namespace svengine::tool::emit
