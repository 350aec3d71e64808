#include "engine/ops/nn/conv_grad_common.h"

#include <algorithm>

#include "engine/kernels/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/like.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/nn/pool_common.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

/// Bytes of columns made at a time, if an image's are not larger: 16 MiB keep 48 cores busy and stay in A64FX's four L2 caches.
constexpr int64_t kColumnBytes = int64_t{16} << 20;

Buffer at(Buffer b, int64_t floats) {
  b.offset += floats * 4;
  return b;
}

/// A batch is cut into so many chunks at most: each has steps of its own in the plan.
constexpr int64_t kMostChunks = 1024;

/// Images whose columns are made together.
int64_t chunk_of(const ConvGrad& g) {
  const int64_t image = g.groups * g.rows() * g.outputs() * 4;
  const int64_t least = std::max<int64_t>((g.window.batch + kMostChunks - 1) / kMostChunks, 1);
  return std::max(least, std::min(kColumnBytes / std::max<int64_t>(image, 1), g.window.batch));
}

kernels::PoolShape part(const ConvGrad& g, int64_t images) {
  kernels::PoolShape shape = g.window;
  shape.batch = images;
  return shape;
}

}  // namespace

bool ConvGrad::direct() const {
  const auto plain = [](int64_t in, int64_t out, int64_t kernel, int64_t stride) {
    return in == out && kernel == 1 && stride == 1;
  };
  const kernels::PoolShape& w = window;
  return plain(w.in.depth, w.out.depth, w.kernel.depth, w.stride.depth) &&
         plain(w.in.height, w.out.height, w.kernel.height, w.stride.height) &&
         plain(w.in.width, w.out.width, w.kernel.width, w.stride.width) && w.pad.depth == 0 && w.pad.height == 0 &&
         w.pad.width == 0;
}

Result<ConvGrad> conv_grad_of(const Attributes& attributes, const Dims& x, const Dims& w) {
  ConvGrad g;
  SV_ASSIGN(g.window, pool_shape(attributes, x, Dims(w.begin() + 2, w.end())));
  g.groups = attributes.get_int("group", 1);
  g.out_channels = w[0];
  return g;
}

std::vector<AttributeDef> conv_grad_attributes() {
  std::vector<AttributeDef> all = conv_attributes();
  all.push_back(shape_attribute());
  return all;
}

Status infer_conv_grad(InferContext& c) {
  SV_TRY(infer_gradient_like(c, 2));
  return require_dtype(c, 1, {c.dtype(0)});
}

Status check_conv_grad(const InferContext& c, const Shape& x, const Shape& w) {
  if (!x.is_static() || !w.is_static()) return {};
  if (x.rank() < 3 || x.rank() > 5 || w.rank() != x.rank()) return error("X {} and W {} are not those of a convolution", to_string(x), to_string(w));
  const int64_t group = c.attributes().get_int("group", 1);
  if (group < 1 || w[0].value() % group != 0 || x[1].value() % group != 0 || w[1].value() != x[1].value() / group)
    return error("X {} and W {} do not fit each other in {} groups", to_string(x), to_string(w), group);
  SV_ASSIGN(const std::vector<Dim> spatial, window_output(c.attributes(), x, std::span(w.dims()).subspan(2)));
  std::vector<Dim> wanted{x[0], w[0]};
  wanted.insert(wanted.end(), spatial.begin(), spatial.end());
  return require_shape(c, 0, Shape(std::move(wanted)));
}

void emit_conv_grad_input(LowerContext& c, const ConvGrad& g, Buffer dy, Buffer w, Buffer dx) {
  const int64_t rows = g.rows(), outputs = g.outputs(), outs = g.group_outs(), image = g.groups * rows * outputs;
  if (g.window.batch * g.window.channels * g.inputs() == 0) return;
  if (outputs == 0) return emit_fill(c, dx, g.window.batch * g.window.channels * g.inputs(), 4, 0);
  const int64_t chunk = chunk_of(g);
  const Buffer columns = g.direct() ? Buffer{} : c.temporary(chunk * image * 4);
  for (int64_t first = 0; first < g.window.batch; first += chunk) {
    const int64_t images = std::min(chunk, g.window.batch - first);
    Product p;
    p.batch = {images, g.groups};
    p.m = rows, p.n = outputs, p.k = outs;
    p.a = {w, rows, true, {0, outs * rows}, -1};
    p.b = {at(dy, first * g.out_channels * outputs), outputs, false, {g.out_channels * outputs, outs * outputs}, -1};
    p.c = g.direct() ? at(dx, first * image) : columns;
    p.ldc = outputs;
    p.c_strides = {image, rows * outputs};
    emit_product(c, std::move(p));
    if (g.direct()) continue;
    kernels::FoldArgs args;
    args.shape = part(g, images);
    emit_kernel(c, "conv_grad_fold", c.kernels().gradient->fold, args,
                [columns, to = at(dx, first * g.window.channels * g.inputs())](kernels::FoldArgs& a, const Run& run) {
                  a.columns = run.get<const float>(columns);
                  a.dx = run.get<float>(to);
                });
  }
}

void emit_conv_grad_weights(LowerContext& c, const ConvGrad& g, Buffer dy, Buffer x, Buffer dw) {
  const int64_t rows = g.rows(), outputs = g.outputs(), outs = g.group_outs(), image = g.groups * rows * outputs;
  if (g.out_channels * rows == 0) return;
  if (g.window.batch * outputs == 0) return emit_fill(c, dw, g.out_channels * rows, 4, 0);
  const int64_t chunk = chunk_of(g);
  const Buffer columns = g.direct() ? Buffer{} : c.temporary(chunk * image * 4);
  for (int64_t first = 0; first < g.window.batch; first += chunk) {
    const int64_t images = std::min(chunk, g.window.batch - first);
    const Buffer source = at(x, first * g.window.channels * g.inputs());
    if (!g.direct()) {
      kernels::UnfoldArgs args;
      args.shape = part(g, images);
      emit_kernel(c, "conv_grad_unfold", c.kernels().gradient->unfold, args,
                  [source, columns](kernels::UnfoldArgs& a, const Run& run) {
                    a.x = run.get<const float>(source);
                    a.columns = run.get<float>(columns);
                  });
    }
    for (int64_t i = 0; i < images; ++i) {
      Product p;
      p.batch = {g.groups};
      p.m = outs, p.n = rows, p.k = outputs;
      p.a = {at(dy, (first + i) * g.out_channels * outputs), outputs, false, {outs * outputs}, -1};
      p.b = {at(g.direct() ? source : columns, i * image), outputs, true, {rows * outputs}, -1};
      p.c = dw;
      p.ldc = rows;
      p.c_strides = {outs * rows};
      if (first + i > 0) p.residual = dw;
      emit_product(c, std::move(p));
    }
  }
}

}  // namespace svengine::ops
