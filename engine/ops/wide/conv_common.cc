// Convolution and its transpose in float64: products of the packed GEMM kernels, whose right operand is read from the image where it is
// packed. A task is a range of places of one group of an image:
//
//     C [rows of the group, places]  =  A [rows, depth]  x  B [depth, places],   depth = channels of the group x taps
//
// A, the weights, is packed at load where they are known. B is gathered for the task alone, into panels as gemm.h has them, so that it stays in
// the level-2 cache until it is multiplied.
#include <fmt/format.h>

#include "engine/kernels/gemm.h"
#include "engine/ops/wide/items.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops::wide {
namespace {

using kernels::Extent;
using kernels::GemmArgsOf;
using kernels::GemmKernelsOf;

int64_t volume_of(const Extent& e) { return e.depth * e.height * e.width; }

/// Place number i of a row-major box.
Extent place_in(const Extent& box, int64_t i) {
  return {i / (box.width * box.height), i / box.width % box.height, i % box.width};
}

/// Results [n][group][row][place] as products of depth channels * taps: an image's group at a time.
struct Sums {
  int64_t batch, groups, rows, depth;  // rows: result channels of a group
  Extent places;
};

/// Element (row, k) of a group's weights, counted from the group's first.
using WeightPlace = int64_t (*)(int64_t row, int64_t k, int64_t rows, int64_t depth, int64_t taps);

/// The weights of groups [begin, end) as operand A, packed_a_bytes(rows, depth) after one another.
void pack_weights(const GemmKernelsOf<double>& gemm, const Sums& s, int64_t taps, WeightPlace place, const double* from, std::byte* to, int64_t begin,
                  int64_t end) {
  const int64_t bytes = gemm.packed_a_bytes(s.rows, s.depth), panels = ceil_div(s.rows, gemm.panel_rows);
  for (int64_t g = begin; g < end; ++g) {
    auto* packed = reinterpret_cast<double*>(to + g * bytes);
    const double* group = from + g * s.rows * s.depth;
    for (int64_t panel = 0, row = 0; panel < panels; ++panel) {
      const int64_t count = s.rows / panels + (panel < s.rows % panels);
      for (int64_t k = 0; k < s.depth; ++k)
        for (int64_t i = 0; i < count; ++i) *packed++ = group[place(row + i, k, s.rows, s.depth, taps)];
      row += count;
    }
    std::fill(packed, reinterpret_cast<double*>(to + (g + 1) * bytes), 0.0);
  }
}

Buffer packed_weights(LowerContext& c, const Sums& s, int64_t taps, WeightPlace place, const char* layout) {
  const GemmKernelsOf<double>* gemm = c.kernels().gemm_f64;
  const int64_t bytes = s.groups * gemm->packed_a_bytes(s.rows, s.depth);
  if (c.constant(1)) {
    Packing packing{.layout = fmt::format("{} {} {} {} {}", layout, s.groups, s.rows, s.depth, taps), .bytes = bytes, .tasks = s.groups};
    packing.fill = [=](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
      pack_weights(*gemm, s, taps, place, reinterpret_cast<const double*>(from), to, begin, end);
    };
    return c.packed(1, std::move(packing));
  }
  const Buffer packed = c.temporary(bytes);
  c.emit("conv_pack_f64", s.groups, [=, weights = c.in(1)](const Run& run, int64_t begin, int64_t end) -> const char* {
    pack_weights(*gemm, s, taps, place, run.get<const double>(weights), run.get<std::byte>(packed), begin, end);
    return nullptr;
  });
  return packed;
}

/// Places of a task: so many that B stays in the level-2 cache beside A's panels, and that a small result has tasks for all threads.
int64_t places_of_task(const GemmKernelsOf<double>& gemm, const Sums& s) {
  constexpr int64_t kNumbers = 24576, kMost = 1024, kTasks = 48;
  const int64_t places = volume_of(s.places), all = s.batch * s.groups * places;
  const int64_t wanted = std::min({kNumbers / std::max<int64_t>(s.depth, 1), kMost, ceil_div(all, kTasks)});
  return std::min(round_up(std::max<int64_t>(wanted, 1), int64_t{gemm.panel_columns}), std::max<int64_t>(places, 1));
}

/// B of `count` places from `first` on, in panels. fill(k, place, count, to) writes those of depth k one after the other.
template <class Fill>
void pack_places(int64_t columns, int64_t depth, int64_t first, int64_t count, const Fill& fill, double* to) {
  for (int64_t at = 0; at < count; at += columns) {
    const int64_t here = std::min(columns, count - at);
    for (int64_t k = 0; k < depth; ++k, to += columns) {
      fill(k, first + at, here, to);
      std::fill(to + here, to + columns, 0.0);
    }
  }
}

/// What a convolution ends in.
struct Ending {
  Buffer bias, residual = {};
  kernels::ActivationArgs activation = {};
};

/// fill_b(run, image, group) gives what pack_places calls.
template <class FillB>
void emit_sums(LowerContext& c, const char* name, const Sums& s, Buffer weights, const Ending& ending, const FillB& fill_b) {
  const GemmKernelsOf<double>* gemm = c.kernels().gemm_f64;
  const int64_t places = volume_of(s.places), each = places_of_task(*gemm, s), across = ceil_div(places, each);
  GemmArgsOf<double> args;
  args.m = s.rows, args.k = s.depth;
  args.ldc = args.ld_residual = places;
  args.bias_kind = ending.bias ? kernels::GemmBias::kRow : kernels::GemmBias::kNone;
  args.activation = ending.activation;
  const int64_t packed = gemm->packed_b_bytes(s.depth, each), group_weights = gemm->packed_a_bytes(s.rows, s.depth);
  int64_t scratch = 0;
  for (const int64_t count : {each, places % each}) {
    args.n = count;
    if (count > 0 && s.rows > 0) scratch = std::max(scratch, gemm->gemm_scratch_bytes(args));
  }
  c.emit(
      name, s.rows > 0 ? s.batch * s.groups * across : 0,
      [=, out = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
        auto* memory = run.scratch<std::byte>();
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = task % across * each, image = task / across / s.groups, group = task / across % s.groups;
          GemmArgsOf<double> one = args;
          one.n = std::min(each, places - first);
          auto* b = reinterpret_cast<double*>(memory);
          pack_places(gemm->panel_columns, s.depth, first, one.n, fill_b(run, image, group), b);
          const int64_t at = (image * s.groups + group) * s.rows * places + first;
          one.a = reinterpret_cast<const double*>(run.get<const std::byte>(weights) + group * group_weights);
          one.b = b;
          one.c = run.get<double>(out) + at;
          if (ending.bias) one.bias = run.get<const double>(ending.bias) + group * s.rows;
          if (ending.residual) one.residual = run.get<const double>(ending.residual) + at;
          gemm->gemm(one, 0, gemm->gemm_tasks(one), memory + packed);
        }
        return nullptr;
      },
      packed + scratch);
}

/// Calls body(to, from place, count) for the parts of `count` places from number `place` on that lie in a row of the box each.
template <class Body>
void for_each_row(const Extent& box, int64_t place, int64_t count, double* to, const Body& body) {
  Extent at = place_in(box, place);
  while (count > 0) {
    const int64_t here = std::min(count, box.width - at.width);
    body(at, here, to);
    to += here, count -= here;
    at.width = 0;
    if (++at.height == box.height) at.height = 0, ++at.depth;
  }
}

bool lies_in(int64_t i, int64_t size) { return i >= 0 && i < size; }

/// What a tap meets of a channel at `count` places from number `place` on, 0 outside.
void gather_conv(const kernels::ConvShape& s, const double* channel, const Extent& tap, int64_t place, int64_t count, double* to) {
  for_each_row(s.out, place, count, to, [&](const Extent& at, int64_t here, double* row) {
    const int64_t depth = at.depth * s.stride.depth - s.pad.depth + tap.depth * s.dilation.depth;
    const int64_t height = at.height * s.stride.height - s.pad.height + tap.height * s.dilation.height;
    const int64_t width = at.width * s.stride.width - s.pad.width + tap.width * s.dilation.width, step = s.stride.width;
    if (!lies_in(depth, s.in.depth) || !lies_in(height, s.in.height)) return (void)std::fill_n(row, here, 0.0);
    // Places [begin, end) of the row meet the image.
    const int64_t begin = width >= 0 ? 0 : std::min(here, ceil_div(-width, step));
    const int64_t end = width >= s.in.width ? begin : std::max(begin, std::min(here, ceil_div(s.in.width - width, step)));
    const double* from = channel + (depth * s.in.height + height) * s.in.width + width;
    std::fill(row, row + begin, 0.0);
    if (step == 1) std::copy(from + begin, from + end, row + begin);
    else
      for (int64_t j = begin; j < end; ++j) row[j] = from[j * step];
    std::fill(row + end, row + here, 0.0);
  });
}

/// A convolution's image: Y[s i - pad + d k] has X[i], where s divides and i is one of X's places.
struct Image {
  Extent y, x, kernel, stride, dilation, pad;
};

void gather_image(const Image& m, const double* channel, const Extent& tap, int64_t place, int64_t count, double* to) {
  for_each_row(m.y, place, count, to, [&](const Extent& at, int64_t here, double* row) {
    std::fill_n(row, here, 0.0);
    const int64_t depth = at.depth + m.pad.depth - tap.depth * m.dilation.depth;
    const int64_t height = at.height + m.pad.height - tap.height * m.dilation.height;
    const int64_t width = at.width + m.pad.width - tap.width * m.dilation.width;
    if (depth % m.stride.depth != 0 || height % m.stride.height != 0) return;
    if (!lies_in(depth / m.stride.depth, m.x.depth) || !lies_in(height / m.stride.height, m.x.height) || depth < 0 || height < 0) return;
    const double* from = channel + (depth / m.stride.depth * m.x.height + height / m.stride.height) * m.x.width;
    int64_t i = width <= 0 ? 0 : ceil_div(width, m.stride.width);  // the first place of X at or behind this one
    for (int64_t j = i * m.stride.width - width; j < here && i < m.x.width; ++i, j += m.stride.width) row[j] = from[i];
  });
}

int64_t conv_weight(int64_t row, int64_t k, int64_t, int64_t depth, int64_t) { return row * depth + k; }
/// Weights are [channels of the group][rows][taps] there.
int64_t image_weight(int64_t row, int64_t k, int64_t rows, int64_t, int64_t taps) { return (k / taps * rows + row) * taps + k % taps; }

}  // namespace

void emit_conv(LowerContext& c, const kernels::ConvShape& s, Buffer residual, const kernels::ActivationArgs& activation) {
  const int64_t taps = volume_of(s.kernel), channels = s.in_channels / s.groups, size = volume_of(s.in);
  const Sums sums{s.batch, s.groups, s.out_channels / s.groups, channels * taps, s.out};
  const Buffer weights = packed_weights(c, sums, taps, conv_weight, "conv_f64");
  emit_sums(c, "conv_f64", sums, weights, {c.in(2), residual, activation}, [=, in = c.in(0)](const Run& run, int64_t image, int64_t group) {
    const double* from = run.get<const double>(in) + (image * s.groups + group) * channels * size;
    return [=](int64_t k, int64_t place, int64_t count, double* to) {
      gather_conv(s, from + k / taps * size, place_in(s.kernel, k % taps), place, count, to);
    };
  });
}

void emit_conv_transpose(LowerContext& c, const Window& w, int64_t groups, Buffer bias) {
  const auto extent = [](const Dims& values, int64_t fill) {
    const auto [depth, height, width] = to_three(values, fill);
    return Extent{depth, height, width};
  };
  const Image m{extent(w.in, 1), extent(w.out, 1), extent(w.kernel, 1), extent(w.strides, 1), extent(w.dilations, 1), extent(w.pads_begin, 0)};
  const int64_t channels = c.in_dims(0)[1] / groups, taps = volume_of(m.kernel), size = volume_of(m.x);
  const Sums sums{c.out_dims()[0], groups, c.out_dims()[1] / groups, channels * taps, m.y};
  const Buffer weights = packed_weights(c, sums, taps, image_weight, "conv_transpose_f64");
  emit_sums(c, "conv_transpose_f64", sums, weights, {bias}, [=, in = c.in(0)](const Run& run, int64_t image, int64_t group) {
    const double* from = run.get<const double>(in) + (image * groups + group) * channels * size;
    return [=](int64_t k, int64_t place, int64_t count, double* to) {
      gather_image(m, from + k / taps * size, place_in(m.kernel, k % taps), place, count, to);
    };
  });
}

}  // namespace svengine::ops::wide
