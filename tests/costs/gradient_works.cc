#include "tests/costs/gradient_works.h"

#include "engine/kernels/conv.h"
#include "engine/kernels/data.h"
#include "engine/kernels/data_prepare.h"
#include "engine/kernels/gradient.h"
#include "engine/ops/nn/conv_grad_input_common.h"
#include "tests/costs/work_memory.h"

namespace svengine::tests {
namespace {

using namespace svengine::kernels;

/// One image, padded by K / 2.
ConvShape shape_of(int64_t in, int64_t out, int64_t size, int64_t kernel, int64_t stride) {
  const int64_t pad = kernel / 2, out_size = (size + 2 * pad - kernel) / stride + 1;
  ConvShape s;
  s.in_channels = in, s.out_channels = out;
  s.in = {1, size, size}, s.out = {1, out_size, out_size}, s.kernel = {1, kernel, kernel};
  s.stride = {1, stride, stride}, s.pad = {0, pad, pad};
  return s;
}

int64_t pixels(const Extent& e) { return e.height * e.width; }

Call conv_weights(const ConvShape& s) {
  const ConvWeightGradKernels& kernels = best().gradient->conv_weights;
  Memory memory;
  ConvWeightGradArgs args;
  args.shape = s;
  args.plain_input = s.in_channels <= 4;
  args.input = memory.random((args.plain_input ? s.in_channels : blocked(s.in_channels)) * pixels(s.in));
  args.dy = memory.random(blocked(s.out_channels) * pixels(s.out));
  args.sums = memory.random(kernels.sums_bytes(args) / 4);
  args.dw = memory.random(s.out_channels * s.in_channels * pixels(s.kernel));
  return [sums = call_of(kernels.sums, args, memory), finish = call_of(kernels.finish, args, memory)] { sums(), finish(); };
}

Call packed_convolution(const ConvShape& s, const float* input, float* output, Memory& memory) {
  const ConvKernels& conv = *best().conv;
  ConvArgs args;
  args.shape = s;
  args.kind = conv.choose(s, false);
  if (args.kind == ConvKind::kFirstLayer) args.kind = ConvKind::kDirect;  // dy is blocked
  const ConvPacking packing = conv.packing(s, args.kind);
  float* packed = memory.random(conv.packed_bytes(packing) / 4);
  conv.pack(packing, memory.random(s.out_channels * s.in_channels * pixels(s.kernel)), packed, 0, conv.pack_tasks(packing));
  args.weights = packed, args.input = input, args.output = output;
  args.workspace = memory.scratch(conv.workspace_bytes(args));
  float* scratch = memory.scratch(conv.scratch_bytes(args));
  const int64_t prepare_tasks = conv.prepare_tasks(args), tasks = conv.tasks(args);
  return [=, &conv] {
    conv.prepare(args, 0, prepare_tasks);
    conv.run(args, 0, tasks, scratch);
  };
}

/// A phase's pixels to their places.
Call scatter_phase(const ops::CopyView& view, const float* from, float* to, Memory memory) {
  CopyArgs args;
  args.src = from + view.in_offset, args.dst = to + view.out_offset;
  args.rank = static_cast<int32_t>(view.dims.size());
  for (size_t i = 0; i < view.dims.size(); ++i)
    args.extent[i] = view.dims[i], args.src_stride[i] = view.in_strides[i], args.dst_stride[i] = view.out_strides[i];
  return call_of(best().data->copy, collapse_copy(args), std::move(memory));
}

/// The steps of svengine.ConvGradInput, its weights packed.
Call conv_data(const ConvShape& s) {
  Memory memory;
  ops::ConvGrad g;
  g.window = {s.batch, s.in_channels, s.in, s.out, s.kernel, s.stride, s.dilation, s.pad, s.pad};
  g.out_channels = s.out_channels;
  const float* dy = memory.random(blocked(s.out_channels) * pixels(s.out));
  float* dx = memory.random(blocked(s.in_channels) * pixels(s.in));
  std::vector<Call> calls;
  if (ops::has_holes(g)) {
    FillArgs args;
    args.dst = dx, args.count = blocked(s.in_channels) * pixels(s.in);
    calls.push_back(call_of(best().data->fill, args, memory));
  }
  for (const ops::ConvGradPhase& phase : ops::conv_grad_phases(g)) {
    const ConvShape shape = ops::phase_shape(g, phase);
    float* out = ops::is_whole(g) ? dx : memory.random(blocked(s.in_channels) * pixels(shape.out));
    calls.push_back(packed_convolution(shape, dy, out, memory));
    if (!ops::is_whole(g)) calls.push_back(scatter_phase(ops::phase_scatter(g, phase, best().lanes), out, dx, memory));
  }
  return [calls = std::move(calls), memory] {
    for (const Call& call : calls) call();
  };
}

}  // namespace

Call make_gradient_work(const std::string& name) {
  long long in = 0, out = 0, size = 0, k = 0, k2 = 0, stride = 0;  // what scanf can read
  if (scan(name, "conv_weights/%lld-%lld@%lld/%lldx%lld/s%lld", in, out, size, k, k2, stride))
    return conv_weights(shape_of(in, out, size, k, stride));
  if (scan(name, "conv_data/%lld-%lld@%lld/%lldx%lld/s%lld", in, out, size, k, k2, stride))
    return conv_data(shape_of(in, out, size, k, stride));
  return {};
}

}  // namespace svengine::tests
