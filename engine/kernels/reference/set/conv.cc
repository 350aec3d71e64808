// Convolution: the sum of conv.h, one plane of the output at a time, in double.
//
// Weights stay in ONNX order whatever the kind: a kind only says which of input and output are blocked. kWinograd is never
// chosen, and where it is asked for, the products themselves are summed.
#include "engine/kernels/conv.h"

#include <algorithm>

#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

ConvKind choose(const ConvShape& s, bool) noexcept {
  const bool whole_blocks = s.in_channels / s.groups % kLanes == 0 && s.out_channels / s.groups % kLanes == 0;
  if (!is_flat(s) && s.groups > 1) return whole_blocks ? ConvKind::kDirect : ConvKind::kPlain;
  if (s.groups == 1) return s.in_channels <= 4 ? ConvKind::kFirstLayer : ConvKind::kDirect;
  if (s.groups == s.in_channels && s.groups == s.out_channels) return ConvKind::kDepthwise;
  return whole_blocks ? ConvKind::kDirect : ConvKind::kGrouped;
}

bool blocked_input(ConvKind kind) { return kind != ConvKind::kPlain && kind != ConvKind::kFirstLayer; }
bool blocked_output(ConvKind kind) { return kind != ConvKind::kPlain; }

/// Weights of one output channel.
int64_t terms(const ConvShape& s) { return s.in_channels / s.groups * volume(s.kernel); }

/// The same order for every kind.
ConvPacking packing(const ConvShape& s, ConvKind) noexcept {
  return {.kind = ConvKind::kPlain, .groups = s.groups, .in_channels = s.in_channels / s.groups, .out_channels = s.out_channels / s.groups,
          .taps = volume(s.kernel)};
}

/// Weights of all output channels.
int64_t weights_of(const ConvPacking& p) { return p.groups * p.out_channels * p.in_channels * p.taps; }

int64_t packed_bytes(const ConvPacking& p) noexcept { return round_up(weights_of(p) * 4, 256); }
/// A task is an output channel; the last one fills what is left.
int64_t pack_tasks(const ConvPacking& p) noexcept { return p.groups * p.out_channels; }
void pack(const ConvPacking& p, const float* weights, float* packed, int64_t begin, int64_t end) noexcept {
  const int64_t terms = p.in_channels * p.taps;
  std::copy(weights + begin * terms, weights + end * terms, packed + begin * terms);
  if (end == pack_tasks(p)) std::fill(packed + weights_of(p), packed + packed_bytes(p) / 4, 0.0f);
}

int64_t no_workspace(const ConvArgs&) noexcept { return 0; }
void prepare_nothing(const ConvArgs&, int64_t, int64_t) noexcept {}

/// A task is one plane of the output.
int64_t tasks(const ConvArgs& args) noexcept {
  const ConvShape& s = args.shape;
  return volume(s.out) == 0 ? 0 : s.batch * stored_channels(blocked_output(args.kind), s.out_channels);
}
int64_t one_task(const ConvArgs&) noexcept { return 1; }
int64_t scratch_bytes(const ConvArgs& args) noexcept {
  return tasks(args) == 0 ? 0 : round_up(volume(args.shape.out) * int64_t(sizeof(double)), 256);
}

/// The outputs [begin, end) whose input stride * output + offset lies in [0, in).
struct Inside {
  int64_t begin, end;
};
Inside inside(int64_t out, int64_t in, int64_t stride, int64_t offset) {
  const int64_t begin = offset < 0 ? ceil_div(-offset, stride) : 0, end = offset < in ? (in - 1 - offset) / stride + 1 : 0;
  return {begin, std::min(out, end)};
}

/// sums[o] += weight * in[o * stride - pad + tap * dilation]; `step` is between neighbouring inputs.
void add_tap(const ConvShape& s, const Extent& tap, double weight, const float* in, int64_t step, double* sums) {
  const Extent offset{tap.depth * s.dilation.depth - s.pad.depth, tap.height * s.dilation.height - s.pad.height,
                      tap.width * s.dilation.width - s.pad.width};
  const Inside depth = inside(s.out.depth, s.in.depth, s.stride.depth, offset.depth),
               height = inside(s.out.height, s.in.height, s.stride.height, offset.height),
               width = inside(s.out.width, s.in.width, s.stride.width, offset.width);
  for (int64_t z = depth.begin; z < depth.end; ++z)
    for (int64_t y = height.begin; y < height.end; ++y) {
      const int64_t row = (z * s.stride.depth + offset.depth) * s.in.height + y * s.stride.height + offset.height;
      const float* from = in + (row * s.in.width + offset.width) * step;
      double* to = sums + (z * s.out.height + y) * s.out.width;
      for (int64_t x = width.begin; x < width.end; ++x) to[x] += weight * double{from[x * s.stride.width * step]};
    }
}

void sum_plane(const ConvArgs& args, int64_t image, int64_t channel, double* sums) {
  const ConvShape& s = args.shape;
  const int64_t channels = s.in_channels / s.groups, group = channel / (s.out_channels / s.groups);
  const float* weight = args.weights + channel * terms(s);
  for (int64_t i = 0; i < channels; ++i) {
    const Plane in = plane_of(blocked_input(args.kind), image, group * channels + i, s.in_channels, volume(s.in));
    for (int64_t z = 0; z < s.kernel.depth; ++z)
      for (int64_t y = 0; y < s.kernel.height; ++y)
        for (int64_t x = 0; x < s.kernel.width; ++x) add_tap(s, {z, y, x}, *weight++, args.input + in.start, in.step, sums);
  }
}

void run(const ConvArgs& args, int64_t begin, int64_t end, void* scratch) noexcept {
  const ConvShape& s = args.shape;
  const bool blocked = blocked_output(args.kind);
  const int64_t stored = stored_channels(blocked, s.out_channels), size = volume(s.out);
  double* sums = static_cast<double*>(scratch);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t image = task / stored, channel = task % stored;
    const bool exists = channel < s.out_channels;  // and is not a padding lane
    std::fill(sums, sums + size, 0.0);
    if (exists) sum_plane(args, image, channel, sums);
    const double bias = args.bias && exists ? args.bias[channel] : 0;
    const Plane out = plane_of(blocked, image, channel, s.out_channels, size);
    for (int64_t i = 0; i < size; ++i) {
      const int64_t at = out.start + i * out.step;
      const double value = sums[i] + bias + (args.residual ? double{args.residual[at]} : 0);
      args.output[at] = static_cast<float>(reference_activation(value, args.activation));
    }
  }
}

}  // namespace

extern const ConvKernels conv_kernels;
constinit const ConvKernels conv_kernels{choose,       packing,         packed_bytes, pack_tasks, pack,          no_workspace,
                                         no_workspace, prepare_nothing, tasks,        one_task,   scratch_bytes, run};

}  // namespace svengine::kernels::reference
