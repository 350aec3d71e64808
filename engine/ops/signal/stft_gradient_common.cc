// The gradient of STFT. Each frame's is that of its transform, n times the inverse transform of the spectrum's; times the window it is
// added up where the frame lay (Col2Im), and times the frame it is the window's. What a half spectrum leaves out counts as zeros.
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/signal/fourier_common.h"

namespace svengine::ops {
namespace {

enum StftOperand : size_t { kSignal, kStep, kWindow };

/// Known sizes: of the signal, its parts (1: real), a frame, their number, and the steps between them.
struct StftSizes {
  int64_t length, parts, frame, frames, step;
};

Result<StftSizes> stft_sizes(GradientContext& c) {
  const Shape &x = c.input(kSignal)->type.shape, &y = c.output()->type.shape;
  const Value *step = c.input(kStep), *window = c.input(kWindow), *given = c.input(3);
  const bool known = x.has_rank() && y.has_rank() && x[1].is_static() && x[2].is_static() && y[1].is_static() && step->is_constant();
  if (!known || (window && !window->type.shape.is_static()) || (!window && given && !given->is_constant()))
    return error("the gradient needs known sizes of signal, window and steps; the signal is {}", to_string(x));
  const int64_t frame = window  ? window->type.shape[0].value()
                        : given ? given->constant().as_int64s().at(0)
                                : x[1].value();
  return StftSizes{x[1].value(), x[2].value(), frame, y[1].value(), step->constant().as_int64s().at(0)};
}

Value* stft_reshape(GradientContext& c, Value* v, std::vector<int64_t> dims) {
  const auto rank = static_cast<int64_t>(dims.size());
  return c.op("Reshape", {v, c.builder().constant(Tensor::of<int64_t>({rank}, std::span<const int64_t>(dims)))});
}

Value* stft_transpose(GradientContext& c, Value* v, std::vector<int64_t> perm) {
  return c.op("Transpose", {v}, make_attributes({{"perm", std::move(perm)}}));
}

/// The signal's frames, [batch, frames, frame, parts].
Value* stft_frames(GradientContext& c, const StftSizes& s) {
  std::vector<int64_t> places;
  for (int64_t f = 0; f < s.frames; ++f)
    for (int64_t i = 0; i < s.frame; ++i) places.push_back(f * s.step + i);
  Value* table = c.builder().constant(Tensor::of<int64_t>({s.frames, s.frame}, std::span<const int64_t>(places)));
  return c.op("Gather", {c.input(kSignal), table}, make_attributes({{"axis", int64_t{1}}}));
}

}  // namespace

Status stft_gradient(GradientContext& c) {
  SV_ASSIGN(const StftSizes s, stft_sizes(c));
  Value* n = c.builder().constant(Tensor::scalar<int64_t>(s.frame));
  Value* back = c.op("DFT", {c.dy(), n, c.builder().constant(Tensor::scalar<int64_t>(2))}, make_attributes({{"inverse", int64_t{1}}}));
  if (!back) return {};
  if (s.parts == 1) back = c.op("Slice", {back, c.builder().integers({0}), c.builder().integers({1}), c.builder().integers({3})});
  Value* g = c.op("Mul", {back, c.scalar(static_cast<double>(s.frame), back)});
  if (c.wants(kWindow)) {
    Value* over = c.builder().integers({0, 1, 3});
    c.set(kWindow, c.op("ReduceSum", {c.op("Mul", {g, stft_frames(c, s)}), over}, make_attributes({{"keepdims", int64_t{0}}})));
  }
  if (!c.wants(kSignal)) return {};
  if (Value* window = c.input(kWindow)) g = c.op("Mul", {g, stft_reshape(c, window, {s.frame, 1})});
  Value* columns = stft_reshape(c, stft_transpose(c, g, {0, 3, 2, 1}), {0, s.parts * s.frame, s.frames});
  Value* added = c.op("Col2Im", {columns, c.builder().integers({s.length}), c.builder().integers({s.frame})},
                      make_attributes({{"strides", std::vector<int64_t>{s.step}}}));
  c.set(kSignal, stft_transpose(c, added, {0, 2, 1}));
  return {};
}

}  // namespace svengine::ops
