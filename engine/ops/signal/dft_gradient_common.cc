// The gradient of DFT is a DFT the other way: with y_k = sum over j of x_j w^(j k), the gradient of x_j is the sum over k of that
// of y_k times the conjugate of w^(j k), which is n times the inverse transform; of the inverse it is the transform over n. What
// a spectrum's half stands for twice counts twice.
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/signal/fourier_common.h"

namespace svengine::ops {
namespace {

/// `value` cut or padded with zeros to `length` along an axis.
Value* with_length(GradientContext& c, Value* value, size_t axis, int64_t now, int64_t length) {
  const auto at = static_cast<int64_t>(axis);
  if (!value || now == length) return value;
  if (now > length)
    return c.op("Slice", {value, c.builder().integers({0}), c.builder().integers({length}), c.builder().integers({at})});
  std::vector<int64_t> pads(2 * value->type.shape.dims().size());
  pads[value->type.shape.dims().size() + axis] = length - now;
  return c.op(
      "Pad",
      {value, c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(pads.size())}, std::span<const int64_t>(pads)))});
}

/// How often each of the first n / 2 + 1 elements of a spectrum counts, over n; broadcast along `axis` of `rank` dimensions.
Value* half_weights(GradientContext& c, int64_t n, size_t axis, size_t rank) {
  std::vector<float> weights(static_cast<size_t>(n / 2 + 1), 2.0f / static_cast<float>(n));
  weights[0] = 1.0f / static_cast<float>(n);
  if (n % 2 == 0) weights.back() = weights[0];
  Dims dims(rank, 1);
  dims[axis] = n / 2 + 1;
  Value* value = c.builder().constant(Tensor::of<float>(std::move(dims), std::span<const float>(weights)));
  const DType type = c.dy()->type.dtype;
  return type == DType::f32 ? value : c.op("Cast", {value}, make_attributes({{"to", static_cast<int64_t>(type)}}));
}

}  // namespace

Status dft_gradient(GradientContext& c) {
  if (!c.wants(0)) return {};
  const Shape &x = c.input(0)->type.shape, &y = c.output()->type.shape;
  const Value* given = c.input(2);
  if (!x.has_rank() || !y.has_rank() || (given && !given->is_constant()))
    return error("the gradient needs a known rank and axis");
  const size_t rank = x.dims().size();
  const int64_t asked = given ? given->constant().as_int64s().at(0) : -2;
  const size_t axis = static_cast<size_t>(asked < 0 ? asked + x.rank() : asked);
  if (!x[axis].is_static() || !x[rank - 1].is_static() || !y[axis].is_static())
    return error("the gradient needs known sizes along axis {} and of the last dimension, X is {}", axis, to_string(x));
  const bool inverse = c.attributes().get_int("inverse") != 0, onesided = c.attributes().get_int("onesided") != 0;
  const int64_t length = x[axis].value(), bins = y[axis].value();
  int64_t n = bins;  // of the transform: of a half spectrum it is that of the signal
  if (onesided && !inverse) n = c.input(1) && c.input(1)->is_constant() ? c.input(1)->constant().as_int64s().at(0) : length;
  if (onesided && !inverse && n / 2 + 1 != bins) return error("the gradient needs a known dft_length");
  Value* size = c.builder().constant(Tensor::scalar<int64_t>(n));
  Value* along = c.builder().constant(Tensor::scalar<int64_t>(static_cast<int64_t>(axis)));
  const bool half = inverse && onesided;
  Value* back =
      c.op("DFT", {c.dy(), size, along}, make_attributes({{"inverse", int64_t{!inverse}}, {"onesided", int64_t{half}}}));
  if (!back) return {};
  Value* scale =
      half ? half_weights(c, n, axis, rank) : c.scalar(inverse ? 1.0 / static_cast<double>(n) : static_cast<double>(n), back);
  Value* g = with_length(c, c.op("Mul", {back, scale}), axis, half ? n / 2 + 1 : n, length);
  c.set(0, with_length(c, g, rank - 1, 2, x[rank - 1].value()));
  return {};
}

}  // namespace svengine::ops
