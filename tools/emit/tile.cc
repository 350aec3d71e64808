#include "tools/emit/tile.h"


#include "engine/base/number_at.h"
#include "engine/base/round.h"

namespace svengine::tool::emit {
namespace {

template <class T>
Tensor packed(const Tensor& source, const PanelSource& s, const Panels& p) {
  std::vector<T> out(static_cast<size_t>(s.batch * p.batch_size), T{0});
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t n = 0; n < s.n; ++n)
      for (int64_t k = 0; k < s.steps; ++k) {
        const double value = number_at(source.type(), source.raw(), b * s.batch_stride + n * s.n_stride + k * s.step_stride);
        const int64_t at = b * p.batch_size + (n / p.columns * s.steps + k) * p.columns + n % p.columns;
        out[static_cast<size_t>(at)] = static_cast<T>(s.scale.empty() ? value : value * s.scale[static_cast<size_t>(b * s.n + n)]);
      }
  return Tensor::of<T>({static_cast<int64_t>(out.size())}, std::span<const T>(out));
}

void emit_packing(NodeContext& c, const std::string& from, const PanelSource& s, const Panels& p) {
  Code& code = c.code();
  if (p.count * p.columns != s.n) code.line("memset({0}, 0, sizeof(*{0}) * {1});", p.name, s.batch * p.batch_size);
  code.loop("b", s.batch);
  code.loop("n", s.n);
  code.loop("k", s.steps);
  code.line("{}[b * {} + (n / {} * {} + k) * {} + n % {}] = {}[b * {} + n * {} + k * {}];", p.name, p.batch_size, p.columns, s.steps,
            p.columns, p.columns, from, s.batch_stride, s.n_stride, s.step_stride);
  code.close(3);
}

// gcc -O3 unrolls loops of up to so many trips before it vectorises them, and what it then has are scalars: the network of models/ takes 5.5 ms
// instead of 0.9 (gcc 12, EPYC Zen 3). Longer loops stay loops until they are vectors.
constexpr int64_t kMostUnrolled = 16, kFewestColumns = kMostUnrolled + 4;

}  // namespace

Panels make_panels(NodeContext& c, size_t i, const PanelSource& source, int64_t rows) {
  // As many sums as sixteen registers of four floats hold: more are spilled where vectors are that short.
  constexpr int64_t kSums = 64;
  Panels p;
  p.rows = rows >= 2 ? 2 : 1;
  const int64_t most = kSums / p.rows, wanted = ceil_div(source.n, ceil_div(source.n, most));
  p.columns = wanted <= kFewestColumns ? kFewestColumns : round_up(wanted, int64_t{8});
  p.count = ceil_div(source.n, p.columns);
  p.batch_size = p.count * source.steps * p.columns;
  if (const Tensor* known = c.constant(i)) {
    p.name = c.array(known->type() == DType::f64 ? packed<double>(*known, source, p) : packed<float>(*known, source, p));
    return p;
  }
  p.name = c.temporary(c.in_type(i), source.batch * p.batch_size);
  emit_packing(c, c.in(i), source, p);
  return p;
}

void emit_tile(Code& code, const Tile& tile, int64_t rows) {
  const std::string_view t = c_type(tile.type);
  code.line("const {} *w = {};", t, tile.panel);
  for (int64_t r = 0; r < rows; ++r) {
    code.line("const {} *const a{} = {};", t, r, tile.row(r));
    code.line("{} s{}[{}] = {{0}};", t, r, tile.columns);
  }
  std::string at;
  for (size_t l = 0; l < tile.steps.size(); ++l) {
    code.loop(fmt::format("l{}", l), tile.steps[l].count);
    at += fmt::format("{}l{} * {}", l ? " + " : "", l, tile.steps[l].stride);
  }
  for (int64_t r = 0; r < rows; ++r) code.line("const {} v{} = a{}[{}];", t, r, r, at);
  code.loop("j", tile.columns);
  for (int64_t r = 0; r < rows; ++r) code.line("s{0}[j] += v{0} * w[j];", r);
  code.close();
  code.line("w += {};", tile.columns);
  code.close(static_cast<int>(tile.steps.size()));
  for (int64_t r = 0; r < rows; ++r) {
    code.open("for (ptrdiff_t j = 0; j < {}; ++j)", tile.valid ? fmt::format("{}", tile.valid) : "width");
    tile.store(r, fmt::format("s{}[j]", r));
    code.close();
  }
}

}  // namespace svengine::tool::emit
