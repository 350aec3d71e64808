// Backward passes of layer norm and batch norm by the formulas of norm_grad.h.
#include "engine/kernels/reference/set/gradient.h"
#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

/// A channel's number; 0 for padding lanes.
double of_channel(const float* table, int64_t channel, int64_t channels) { return channel < channels ? table[channel] : 0; }

/// What a Relu lets through of dy: nothing where its result is 0 or less; NaN lets it through.
double passed(double dy, double result) { return result <= 0 ? 0 : dy; }

/// The result of the norm, rounded as channel_affine does.
float normed(double x, double scale, double shift) { return static_cast<float>(x * scale + shift); }

void row_dx(const RowNormGradArgs& args, int64_t row) {
  const float *x = args.x + row * args.n, *dy = args.dy + row * args.n;
  const double mean = args.mean[row], inv_std = args.inv_std[row], n = static_cast<double>(args.n);
  const auto h = [&](int64_t i) { return (x[i] - mean) * inv_std; };
  const auto g = [&](int64_t i) { return double{dy[i]} * args.scale[i]; };
  double sum = 0, products = 0;
  for (int64_t i = 0; i < args.n; ++i) sum += g(i), products += g(i) * h(i);
  for (int64_t i = 0; i < args.n; ++i)
    args.dx[row * args.n + i] = static_cast<float>(inv_std * (g(i) - sum / n - h(i) * (products / n)));
}

}  // namespace

int64_t row_norm_grad_tasks(const RowNormGradArgs& args) noexcept { return ceil_div(args.rows, args.rows_each); }
int64_t row_norm_grad_scratch_bytes(const RowNormGradArgs& args) noexcept { return 2 * args.n * int64_t(sizeof(double)); }

void row_norm_grad_run(const RowNormGradArgs& args, int64_t begin, int64_t end, void* scratch) noexcept {
  double* sums = static_cast<double*>(scratch);  // of dy h, then of dy
  for (int64_t task = begin; task < end; ++task) {
    const int64_t first = task * args.rows_each, last = std::min(args.rows, first + args.rows_each);
    if (args.partial) {
      std::fill(sums, sums + 2 * args.n, 0.0);
      for (int64_t row = first; row < last; ++row)
        for (int64_t i = 0; i < args.n; ++i) {
          const double dy = args.dy[row * args.n + i];
          sums[i] += dy * ((args.x[row * args.n + i] - double{args.mean[row]}) * args.inv_std[row]);
          sums[args.n + i] += dy;
        }
      for (int64_t i = 0; i < 2 * args.n; ++i) args.partial[task * 2 * args.n + i] = static_cast<float>(sums[i]);
    }
    for (int64_t row = first; row < last && args.dx; ++row) row_dx(args, row);  // last: dx may be dy
  }
}

int64_t channel_sum_items(const ChannelGradSumsArgs& args) { return args.batch * stored_channels(args.blocked, args.channels); }

void channel_sum_range(const ChannelGradSumsArgs& args, int64_t begin, int64_t end, void*) {
  const int64_t stored = stored_channels(args.blocked, args.channels);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t image = item / stored, c = item % stored;
    const Plane plane = plane_of(args.blocked, image, c, args.channels, args.spatial);
    const double mean = of_channel(args.mean, c, args.channels), inv_std = of_channel(args.inv_std, c, args.channels);
    double products = 0, sum = 0;
    for (int64_t i = 0; i < args.spatial; ++i) {
      const int64_t at = plane.start + i * plane.step;
      double dy = args.dy[at];
      if (args.y) {
        dy = passed(args.dy_more ? dy + args.dy_more[at] : dy, args.y[at]);
        dy = args.masked[at] = static_cast<float>(dy);  // what the second kernel reads
      } else if (args.scale) {
        dy = passed(dy, normed(args.x[at], of_channel(args.scale, c, args.channels), of_channel(args.shift, c, args.channels)));
      }
      products += dy * (args.x[at] - mean) * inv_std;
      sum += dy;
    }
    args.sums[(image * 2) * stored + c] = static_cast<float>(products);
    args.sums[(image * 2 + 1) * stored + c] = static_cast<float>(sum);
  }
}

int64_t channel_grad_items(const ChannelGradArgs& args) { return args.batch * stored_channels(args.blocked, args.channels); }

void channel_grad_range(const ChannelGradArgs& args, int64_t begin, int64_t end, void*) {
  const int64_t stored = stored_channels(args.blocked, args.channels);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t c = item % stored;
    const Plane plane = plane_of(args.blocked, item / stored, c, args.channels, args.spatial);
    for (int64_t i = 0; i < args.spatial; ++i) {
      const int64_t at = plane.start + i * plane.step;
      double dx = 0;
      if (c < args.channels) {
        const double x = args.x[at], dy = args.scale ? passed(args.dy[at], normed(x, args.scale[c], args.shift[c])) : args.dy[at];
        dx = args.a[c] * dy + args.b[c] * x + args.k[c];
      }
      args.dx[at] = static_cast<float>(dx);
    }
  }
}

}  // namespace svengine::kernels::reference
