// MaxPool and AveragePool, and the global ones: a row of the output at a time, over the columns that each tap of the window reaches.
#include "engine/ops/nn/window_common.h"
#include "tools/emit/table.h"

namespace svengine::tool::emit {
namespace {

struct PoolOf {
  bool max = false, counts_padding = false;
  int64_t planes = 0;
  std::array<int64_t, 3> in, out, kernel, stride, dilation, before, after;
};

Result<PoolOf> pool_of(const NodeContext& c) {
  const Dims x = c.in_dims(0), spatial(x.begin() + 2, x.end());
  const std::string_view name = c.node().op().name;
  const bool is_global = c.attributes().get_ints("kernel_shape").empty();
  SV_ASSIGN(const ops::Window w, ops::window_of(c.attributes(), spatial, is_global ? spatial : Dims()));
  PoolOf p;
  p.max = name == "MaxPool";
  p.counts_padding = c.attributes().get_int("count_include_pad") != 0;
  p.planes = x[0] * x[1];
  p.in = ops::to_three(w.in, 1), p.out = ops::to_three(w.out, 1), p.kernel = ops::to_three(w.kernel, 1), p.stride = ops::to_three(w.strides, 1);
  p.dilation = ops::to_three(w.dilations, 1), p.before = ops::to_three(w.pads_begin, 0), p.after = ops::to_three(w.pads_end, 0);
  return p;
}

/// By how many elements a sum is divided, for every output along one dimension.
std::vector<int32_t> counts_of(const PoolOf& p, size_t d) {
  std::vector<int32_t> counts;
  const int64_t begin = p.counts_padding ? -p.before[d] : 0, end = p.in[d] + (p.counts_padding ? p.after[d] : 0);
  for (int64_t o = 0; o < p.out[d]; ++o) {
    int32_t count = 0;
    for (int64_t k = 0; k < p.kernel[d]; ++k) {
      const int64_t at = o * p.stride[d] - p.before[d] + k * p.dilation[d];
      count += at >= begin && at < end;
    }
    counts.push_back(count);
  }
  return counts;
}

/// The loop over a tap's positions of the window, and the input's place along the dimension; skips what lies outside.
void open_taps(Code& code, const PoolOf& p, size_t d, const char* out, const char* tap, const char* at) {
  code.loop(tap, p.kernel[d]);
  code.line("const ptrdiff_t {} = {} * {} - {} + {} * {};", at, out, p.stride[d], p.before[d], tap, p.dilation[d]);
  if (p.before[d] > 0 || (p.out[d] - 1) * p.stride[d] + (p.kernel[d] - 1) * p.dilation[d] >= p.in[d])
    code.line("if ({0} < 0 || {0} >= {1}) continue;", at, p.in[d]);
}

void emit_row(NodeContext& c, const PoolOf& p) {
  Code& code = c.code();
  const DType type = c.out_type();
  const std::string_view t = c_type(type);
  code.line("{} *const y = {} + ((n * {} + d) * {} + h) * {};", t, c.out(), p.out[0], p.out[1], p.out[2]);
  code.line("for (ptrdiff_t j = 0; j < {}; ++j) y[j] = {};", p.out[2], p.max ? "-INFINITY" : "0");
  open_taps(code, p, 0, "d", "kd", "id");
  open_taps(code, p, 1, "h", "kh", "ih");
  code.loop("kw", p.kernel[2]);
  code.line("const ptrdiff_t at = kw * {} - {}, stride = {};", p.dilation[2], p.before[2], p.stride[2]);
  code.line("const ptrdiff_t from = {}(at, stride), to = {}(at, stride, {}, {});", c.helper("first", type), c.helper("last", type), p.in[2],
            p.out[2]);
  code.line("const {} *const x = {} + ((n * {} + id) * {} + ih) * {} + at;", t, c.in(0), p.in[0], p.in[1], p.in[2]);
  if (p.max)
    code.line("for (ptrdiff_t j = from; j < to; ++j) y[j] = x[j * {0}] > y[j] || x[j * {0}] != x[j * {0}] ? x[j * {0}] : y[j];", p.stride[2]);
  else code.line("for (ptrdiff_t j = from; j < to; ++j) y[j] += x[j * {}];", p.stride[2]);
  code.close(3);
}

}  // namespace

Status emit_pool(NodeContext& c) {
  SV_ASSIGN(const PoolOf p, pool_of(c));
  Code& code = c.code();
  code.loop("n", p.planes);
  code.loop("d", p.out[0]);
  code.loop("h", p.out[1]);
  emit_row(c, p);
  if (!p.max) {
    std::string counts[3];
    for (size_t d = 0; d < 3; ++d) counts[d] = c.array(std::span<const int32_t>(counts_of(p, d)));
    code.line("for (ptrdiff_t j = 0; j < {}; ++j) y[j] /= ({})({}[d] * {}[h] * {}[j]);", p.out[2], c_type(c.out_type()), counts[0], counts[1],
              counts[2]);
  }
  code.close(3);
  return {};
}

}  // namespace svengine::tool::emit
