#include "engine/ops/nn/conv_pixel_common.h"

#include <cstring>

#include "engine/kernels/gemm.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/conv_common.h"

namespace svengine::ops {
namespace {

using kernels::GemmArgs;
using kernels::GemmKernels;
using kernels::GemmPackArgs;

bool is_one(const kernels::ConvExtent& extent) { return extent.depth == 1 && extent.height == 1 && extent.width == 1; }

/// Floats from one image of a single pixel to the next.
int64_t row_floats(const Type& type, int64_t channels) { return type.block ? round_up(channels, type.block) : channels; }

/// The weights as the product's second operand, [in_channels, columns]; zero beyond the last output channel.
Buffer pack_pixel_weights(LowerContext& c, const kernels::ConvShape& shape, int64_t columns) {
  const GemmKernels* gemm = c.kernels().gemm;
  GemmPackArgs args;
  args.ld = args.depth = shape.in_channels;
  args.extent = shape.out_channels;
  const int64_t used = round_up(shape.out_channels, gemm->panel_columns) * shape.in_channels * 4;
  Packing weights{.layout = fmt::format("pixel conv {} {} {}", shape.in_channels, shape.out_channels, columns),
                  .bytes = gemm->packed_b_bytes(shape.in_channels, columns),
                  .tasks = gemm->pack_b_tasks(args)};
  weights.fill = [=, bytes = weights.bytes, tasks = weights.tasks](const std::byte* from, std::byte* to, int64_t begin,
                                                                   int64_t end) {
    GemmPackArgs one = args;
    one.source = reinterpret_cast<const float*>(from);
    one.packed = reinterpret_cast<float*>(to);
    gemm->pack_b(one, begin, end);
    if (end == tasks) std::memset(to + used, 0, static_cast<size_t>(bytes - used));
  };
  if (const Tensor* scale = c.constant(kConvWeightScale))
    weights.row_scale.assign(scale->data<double>().begin(), scale->data<double>().end());
  return c.packed(1, std::move(weights));
}

/// The images as the first operand; a single row is its own packed layout.
Buffer pack_pixels(LowerContext& c, const kernels::ConvShape& shape) {
  if (shape.batch == 1) return c.in(0);
  const GemmKernels* gemm = c.kernels().gemm;
  GemmPackArgs args;
  args.ld = row_floats(c.in_type(0), shape.in_channels);
  args.extent = shape.batch;
  args.depth = shape.in_channels;
  const Buffer packed = c.temporary(gemm->packed_a_bytes(shape.batch, shape.in_channels));
  c.emit("pack_a", gemm->pack_a_tasks(args), [=, from = c.in(0)](const Run& run, int64_t begin, int64_t end) -> const char* {
    GemmPackArgs one = args;
    one.source = run.get<const float>(from);
    one.packed = run.get<float>(packed);
    gemm->pack_a(one, begin, end);
    return nullptr;
  });
  return packed;
}

}  // namespace

bool is_pixel_conv(const kernels::ConvShape& shape) {
  return shape.groups == 1 && shape.batch > 0 && is_one(shape.in) && is_one(shape.out) && is_one(shape.kernel) &&
         shape.pad.depth == 0 && shape.pad.height == 0 && shape.pad.width == 0;
}

void emit_pixel_conv(LowerContext& c, const kernels::ConvShape& shape, Buffer bias, Buffer residual,
                     const kernels::ActivationArgs& activation) {
  const GemmKernels* gemm = c.kernels().gemm;
  GemmArgs args;
  args.m = shape.batch;
  args.n = args.ldc = args.ld_residual = row_floats(c.out_type(), shape.out_channels);
  const Buffer pixels = pack_pixels(c, shape), weights = pack_pixel_weights(c, shape, args.n);
  args.k = shape.in_channels;
  args.bias_kind = bias ? kernels::GemmBias::kColumn : kernels::GemmBias::kNone;
  args.activation = activation;
  c.emit(
      "conv_pixel", gemm->gemm_tasks(args),
      [=, out = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
        GemmArgs one = args;
        one.a = run.get<const float>(pixels);
        one.b = run.get<const float>(weights);
        one.c = run.get<float>(out);
        one.bias = run.get<const float>(bias);
        one.residual = run.get<const float>(residual);
        gemm->gemm(one, begin, end, run.scratch<void>());
        return nullptr;
      },
      gemm->gemm_scratch_bytes(args));
}

}  // namespace svengine::ops
