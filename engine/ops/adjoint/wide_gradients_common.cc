#include <algorithm>
#include <cmath>

#include "engine/kernels/gradient.h"
#include "engine/kernels/reference/gradient.h"
#include "engine/ops/adjoint/wide_gradients.h"
#include "engine/ops/adjoint/window_loops.h"
#include "engine/ops/element_step.h"
#include "engine/ops/wide/items.h"
#include "engine/ops/wide/product_tile.h"

namespace svengine::ops::wide {
namespace {

int64_t volume_of(const kernels::Extent& e) { return e.depth * e.height * e.width; }

/// Calls visit(window number, z, y, x) for all windows of an image.
template <class Visit>
void for_windows(const kernels::PoolShape& s, const Visit& visit) {
  int64_t i = 0;
  for (int64_t z = 0; z < s.out.depth; ++z)
    for (int64_t y = 0; y < s.out.height; ++y)
      for (int64_t x = 0; x < s.out.width; ++x) visit(i++, z, y, x);
}

void max_pool_plane(const kernels::PoolShape& s, const double* dy, const double* x, double* dx) {
  for_windows(s, [&](int64_t i, int64_t z, int64_t h, int64_t w) {
    int64_t best = -1;
    for_window(s, z, h, w, [&](int64_t at) {
      if (best < 0 || x[at] > x[best] || (std::isnan(x[at]) && !std::isnan(x[best]))) best = at;
    });
    if (best >= 0) dx[best] += dy[i];
  });
}

void average_pool_plane(const kernels::PoolShape& s, bool count_padding, const double* dy, double* dx) {
  for_windows(s, [&](int64_t i, int64_t z, int64_t h, int64_t w) {
    int64_t count = 0;
    for_padded_window(s, z, h, w, [&](int64_t at) { count += at >= 0 || count_padding; });
    for_window(s, z, h, w, [&](int64_t at) { dx[at] += dy[i] / static_cast<double>(count); });
  });
}

}  // namespace

void emit_pool_grad(LowerContext& c, const kernels::PoolGradArgs& args) {
  const kernels::PoolShape s = args.shape;
  const int64_t in = volume_of(s.in), out = volume_of(s.out);
  emit_items(c, "pool_grad_f64", s.batch * s.channels, 1,
             [=, is_max = args.kind == kernels::PoolKind::kMax, count_padding = args.count_padding, dy = c.in(0), x = c.in(1),
              dx = c.out()](const Run& run, int64_t begin, int64_t end) {
               for (int64_t plane = begin; plane < end; ++plane) {
                 const double* from = run.get<const double>(dy) + plane * out;
                 double* to = run.get<double>(dx) + plane * in;
                 std::fill_n(to, in, 0.0);
                 if (is_max) max_pool_plane(s, from, run.get<const double>(x) + plane * in, to);
                 else average_pool_plane(s, count_padding, from, to);
               }
             });
}

void emit_gather_grad(LowerContext& c, int64_t outer, int64_t extent, int64_t inner) {
  const int64_t count = element_count(c.in_dims(1));
  emit_items(c, "gather_grad_f64", outer, 1,
             [=, wide = c.in_type(1).dtype == DType::i64, dy = c.in(0), indices = c.in(1), dx = c.out()](const Run& run, int64_t begin,
                                                                                                        int64_t end) {
               for (int64_t o = begin; o < end; ++o) {
                 double* to = run.get<double>(dx) + o * extent * inner;
                 std::fill_n(to, extent * inner, 0.0);
                 for (int64_t k = 0; k < count; ++k) {
                   const int64_t index = wide ? run.get<const int64_t>(indices)[k] : run.get<const int32_t>(indices)[k];
                   const double* from = run.get<const double>(dy) + (o * count + k) * inner;
                   double* slice = to + (index < 0 ? index + extent : index) * inner;
                   for (int64_t i = 0; i < inner; ++i) slice[i] += from[i];
                 }
               }
             });
}

void emit_activation_grad(LowerContext& c, kernels::GradientOf function, double alpha, double beta) {
  emit_elements(c, "activation_grad_f64", element_count(c.out_dims()),
                [=, dy = c.in(0), v = c.in(1), dx = c.out()](const Run& run, int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    run.get<double>(dx)[i] =
                        kernels::reference_gradient(function, run.get<const double>(dy)[i], run.get<const double>(v)[i], alpha, beta);
                });
}

void emit_conv_grad_weights(LowerContext& c, const ConvGrad& g) {
  const kernels::PoolShape s = g.window;
  const int64_t outs = g.group_outs(), rows = g.rows(), outputs = g.outputs(), inputs = g.inputs(), taps = g.taps();
  const int64_t down = ceil_div(outs, kTile), across = ceil_div(rows, kTile);
  // A result is a sum over all images' outputs: k counts them.
  const auto place = [=](int64_t tap, int64_t output) -> int64_t {
    const int64_t z = output / (s.out.width * s.out.height) * s.stride.depth - s.pad.depth +
                      tap / (s.kernel.width * s.kernel.height) * s.dilation.depth;
    const int64_t y = output / s.out.width % s.out.height * s.stride.height - s.pad.height +
                      tap / s.kernel.width % s.kernel.height * s.dilation.height;
    const int64_t x = output % s.out.width * s.stride.width - s.pad.width + tap % s.kernel.width * s.dilation.width;
    const bool inside = z >= 0 && z < s.in.depth && y >= 0 && y < s.in.height && x >= 0 && x < s.in.width;
    return inside ? (z * s.in.height + y) * s.in.width + x : -1;
  };
  emit_items(
      c, "conv_grad_weights_f64", g.groups * down * across, 1,
      [=, dy = c.in(0), x = c.in(1), dw = c.out()](const Run& run, int64_t begin, int64_t end) {
        TileMemory<double>& memory = *run.scratch<TileMemory<double>>();
        for (int64_t task = begin; task < end; ++task) {
          const int64_t column = task % across * kTile, row = task / across % down * kTile, group = task / (across * down);
          const int64_t m = std::min(kTile, outs - row), n = std::min(kTile, rows - column), first = group * outs + row;
          const auto fill_a = [&](int64_t k, int64_t extent, double* to) {
            const double* from = run.get<const double>(dy) + (k / outputs * g.out_channels + first) * outputs + k % outputs;
            for (int64_t i = 0; i < extent; ++i) to[i] = from[i * outputs];
          };
          const auto fill_b = [&](int64_t k, int64_t extent, double* to) {
            const double* image = run.get<const double>(x) + (k / outputs * s.channels + group * (s.channels / g.groups)) * inputs;
            for (int64_t j = 0; j < extent; ++j) {
              const int64_t at = place((column + j) % taps, k % outputs);
              to[j] = at < 0 ? 0 : image[(column + j) / taps * inputs + at];
            }
          };
          product_tile(memory, m, n, s.batch * outputs, fill_a, fill_b);
          for (int64_t i = 0; i < m; ++i) std::copy_n(memory.sums + i * kTile, n, run.get<double>(dw) + (first + i) * rows + column);
        }
      },
      sizeof(TileMemory<double>));
}

}  // namespace svengine::ops::wide
