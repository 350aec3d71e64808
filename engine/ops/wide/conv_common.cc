// Convolution and its transpose in float64: products whose right operand is read from the image where it is packed.
#include "engine/ops/wide/items.h"
#include "engine/ops/wide/product_tile.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops::wide {
namespace {

using kernels::Extent;

int64_t volume_of(const Extent& e) { return e.depth * e.height * e.width; }

/// Place number i of a row-major box.
Extent place_in(const Extent& box, int64_t i) {
  return {i / (box.width * box.height), i / box.width % box.height, i % box.width};
}

void step(const Extent& box, Extent& at) {
  if (++at.width < box.width) return;
  at.width = 0;
  if (++at.height < box.height) return;
  at.height = 0;
  ++at.depth;
}

int64_t index_in(const Extent& box, const Extent& at) { return (at.depth * box.height + at.height) * box.width + at.width; }

bool is_inside(const Extent& box, const Extent& at) {
  return at.depth >= 0 && at.depth < box.depth && at.height >= 0 && at.height < box.height && at.width >= 0 &&
         at.width < box.width;
}

/// Results [n][group][row][place] as products of depth channels * taps: an image's group at a time.
struct Sums {
  int64_t batch, groups, rows, depth;  // rows: result channels of a group
  Extent places;
};

/// fill_a(run, group, row) and fill_b(run, image, group, place) give what product_tile packs.
template <class FillA, class FillB>
void emit_sums(LowerContext& c, const char* name, const Sums& s, Buffer bias, const FillA& fill_a, const FillB& fill_b) {
  const int64_t places = volume_of(s.places), down = ceil_div(s.rows, kTile), across = ceil_div(places, kTile);
  emit_items(
      c, name, s.batch * s.groups * down * across, 1,
      [=, out = c.out()](const Run& run, int64_t begin, int64_t end) {
        TileMemory<double>& memory = *run.scratch<TileMemory<double>>();
        for (int64_t task = begin; task < end; ++task) {
          const int64_t column = task % across * kTile, row = task / across % down * kTile, part = task / (across * down);
          const int64_t image = part / s.groups, group = part % s.groups;
          const int64_t rows = std::min(kTile, s.rows - row), columns = std::min(kTile, places - column);
          product_tile(memory, rows, columns, s.depth, fill_a(run, group, row), fill_b(run, image, group, column));
          const double* more = run.get<const double>(bias);
          for (int64_t i = 0; i < rows; ++i) {
            const int64_t channel = group * s.rows + row + i;
            double* to = run.get<double>(out) + (image * s.groups * s.rows + channel) * places + column;
            for (int64_t j = 0; j < columns; ++j) to[j] = memory.sums[i * kTile + j] + (more ? more[channel] : 0);
          }
        }
      },
      sizeof(TileMemory<double>));
}

}  // namespace

void emit_conv(LowerContext& c, const kernels::ConvShape& s) {
  const int64_t taps = volume_of(s.kernel), channels = s.in_channels / s.groups, rows = s.out_channels / s.groups;
  const int64_t depth = channels * taps, size = volume_of(s.in);
  emit_sums(
      c, "conv_f64", {s.batch, s.groups, rows, depth, s.out}, c.in(2),
      [=, weights = c.in(1)](const Run& run, int64_t group, int64_t row) {
        return [=, from = run.get<const double>(weights) + (group * rows + row) * depth](int64_t k, int64_t extent, double* to) {
          for (int64_t i = 0; i < extent; ++i) to[i] = from[i * depth + k];
        };
      },
      [=, in = c.in(0)](const Run& run, int64_t image, int64_t group, int64_t place) {
        const double* from = run.get<const double>(in) + (image * s.groups + group) * channels * size;
        return [=](int64_t k, int64_t extent, double* to) {
          const Extent tap = place_in(s.kernel, k % taps);
          Extent at = place_in(s.out, place);
          for (int64_t j = 0; j < extent; ++j, step(s.out, at)) {
            const Extent x{at.depth * s.stride.depth - s.pad.depth + tap.depth * s.dilation.depth,
                           at.height * s.stride.height - s.pad.height + tap.height * s.dilation.height,
                           at.width * s.stride.width - s.pad.width + tap.width * s.dilation.width};
            to[j] = is_inside(s.in, x) ? from[k / taps * size + index_in(s.in, x)] : 0;
          }
        };
      });
}

void emit_conv_transpose(LowerContext& c, const Window& w, int64_t groups, Buffer bias) {
  const auto extent = [](const Dims& values, int64_t fill) {
    const auto [depth, height, width] = to_three(values, fill);
    return Extent{depth, height, width};
  };
  const Extent y = extent(w.in, 1), x = extent(w.out, 1), kernel = extent(w.kernel, 1), stride = extent(w.strides, 1);
  const Extent dilation = extent(w.dilations, 1), pad = extent(w.pads_begin, 0);
  const int64_t batch = c.out_dims()[0], channels = c.in_dims(0)[1] / groups, rows = c.out_dims()[1] / groups;
  const int64_t taps = volume_of(kernel), size = volume_of(x);
  emit_sums(
      c, "conv_transpose_f64", {batch, groups, rows, channels * taps, y}, bias,
      [=, weights = c.in(1)](const Run& run, int64_t group, int64_t row) {
        return [=, from = run.get<const double>(weights) + (group * channels * rows + row) * taps](int64_t k, int64_t count,
                                                                                                   double* to) {
          for (int64_t i = 0; i < count; ++i) to[i] = from[(k / taps * rows + i) * taps + k % taps];
        };
      },
      [=, in = c.in(0)](const Run& run, int64_t image, int64_t group, int64_t place) {
        const double* from = run.get<const double>(in) + (image * groups + group) * channels * size;
        return [=](int64_t k, int64_t count, double* to) {
          const Extent tap = place_in(kernel, k % taps);
          Extent at = place_in(y, place);
          for (int64_t j = 0; j < count; ++j, step(y, at)) {
            // Y[s i - pad + d k] has X[i]: where s divides, and i is one of X's places.
            const Extent far{at.depth + pad.depth - tap.depth * dilation.depth,
                             at.height + pad.height - tap.height * dilation.height,
                             at.width + pad.width - tap.width * dilation.width};
            const bool meets = far.depth % stride.depth == 0 && far.height % stride.height == 0 && far.width % stride.width == 0;
            const Extent i{far.depth / stride.depth, far.height / stride.height, far.width / stride.width};
            to[j] = meets && is_inside(x, i) ? from[k / taps * size + index_in(x, i)] : 0;
          }
        };
      });
}

}  // namespace svengine::ops::wide
