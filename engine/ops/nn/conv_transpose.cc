// ConvTranspose: the gradient of a convolution by its data, as an operator of its own. X is that convolution's dY, W its weights
// [channels of X, channels of Y / group, kernel...], and Y its image:
//
//     Y[s i - pad + d k] += X[i] W[k]        size of Y = s (size of X - 1) + reach of the kernel + output_padding - pads
#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/nn/conv_grad_common.h"
#include "engine/ops/nn/transposed_window.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

constexpr int64_t kMostTransposed = int64_t{1} << 29;  // of X's sizes, as of all attributes of a window: window_common.cc

/// A list of one value for each spatial dimension, 0 or more, when it is given.
Result<Dims> sizes_or_nothing(const Attributes& conv_transpose_attributes, const char* name, size_t rank) {
  const Dims values = conv_transpose_attributes.get_ints(name, {});
  if (values.empty()) return values;
  if (values.size() != rank)
    return error("attribute '{}' has {} values, needs {} for the input's spatial dimensions", name, values.size(), rank);
  for (int64_t v : values)
    if (v < 0 || v > kMostTransposed) return error("attribute '{}' holds {}, needs values from 0 to {}", name, v, kMostTransposed);
  return values;
}

}  // namespace

Result<Window> transposed_window(const Attributes& given, const Dims& x, const Dims& kernel) {
  const size_t rank = x.size();
  Attributes plain = given;
  plain.erase("auto_pad");
  SV_ASSIGN(Window w, window_of(plain, Dims(rank, kMostTransposed), kernel));  // checks the lists; every kernel fits this image
  const std::string auto_pad = given.get_string("auto_pad", "NOTSET");
  const bool same = auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER";
  if (!same && auto_pad != "NOTSET" && auto_pad != "VALID")
    return error("auto_pad '{}' is not NOTSET, VALID, SAME_UPPER or SAME_LOWER", auto_pad);
  if (auto_pad == "VALID") w.pads_begin = w.pads_end = Dims(rank, 0);
  SV_ASSIGN(Dims more, sizes_or_nothing(given, "output_padding", rank));
  SV_ASSIGN(const Dims wanted, sizes_or_nothing(given, "output_shape", rank));
  more.resize(rank, 0);
  w.out = x;
  for (size_t i = 0; i < rank; ++i) {
    if (x[i] < 1 || x[i] > kMostTransposed) return error("spatial dimension {} of X is {}, must be 1 to {}", i, x[i], kMostTransposed);
    const int64_t whole = w.strides[i] * (x[i] - 1) + (w.kernel[i] - 1) * w.dilations[i] + 1 + more[i];
    if (same || !wanted.empty()) {
      // What is too much goes as padding; what is missing stays zero at the end.
      w.in[i] = wanted.empty() ? x[i] * w.strides[i] : wanted[i];
      const int64_t total = std::max<int64_t>(0, whole - w.in[i]);
      w.pads_begin[i] = auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.pads_end[i] = total - w.pads_begin[i];
    } else {
      w.in[i] = whole - w.pads_begin[i] - w.pads_end[i];
    }
    if (w.in[i] < 1 || w.in[i] > int64_t{1} << 48)
      return error("spatial dimension {} of the output would be {}: X has {}, the pads are {} and {}", i, w.in[i], x[i],
                   w.pads_begin[i], w.pads_end[i]);
  }
  return w;
}

Status check_transpose_channels(const InferContext& c, size_t bias) {
  const Shape &x = c.shape(0), &w = c.shape(1);
  const int64_t group = c.attributes().get_int("group", 1);
  if (group < 1) return error("group is {}, must be 1 or more", group);
  if (x.has_rank() && w.has_rank() && x.rank() != w.rank()) return error("X has rank {}, W rank {}", x.rank(), w.rank());
  if (!w.has_rank()) return {};
  if (x.has_rank() && known_different(x[1], w[0])) return error("X has {} channels, W is for {}", x[1].value(), w[0].value());
  if (w[0].is_static() && w[0].value() % group != 0) return error("group {} does not divide the {} input channels", group, w[0].value());
  if (c.has_input(bias) && known_different(multiply(w[1], Dim(group)), c.shape(bias).has_rank() ? c.shape(bias)[0] : Dim()))
    return error("B has {} elements for {} output channels", c.shape(bias)[0].value(), w[1].value() * group);
  return {};
}

namespace {

Status infer_conv_transpose(InferContext& c) {
  SV_TRY(require_rank(c, 2, 1));
  SV_TRY(check_spatial_rank(c.shape(0), "X"));
  SV_TRY(check_spatial_rank(c.shape(1), "W"));
  SV_TRY(check_transpose_channels(c, 2));
  const Shape &x = c.shape(0), &w = c.shape(1);
  if (!x.has_rank() || !w.has_rank()) {
    const Shape& known = x.has_rank() ? x : w;  // as for Conv
    const std::vector<Dim> spatial(known.has_rank() ? known.dims().size() - 2 : 0);
    if (known.has_rank()) SV_TRY(transposed_window(c.attributes(), Dims(spatial.size(), kMostTransposed), known_taps(c.attributes(), spatial)));
    c.set(0, c.dtype(0), x.has_rank() ? unknown_dims(x.rank()) : Shape());
    return {};
  }
  std::vector<Dim> out{x[0], multiply(w[1], Dim(c.attributes().get_int("group", 1)))};
  Dims sizes, kernel;
  for (size_t i = 2; i < x.dims().size(); ++i) {
    sizes.push_back(x[i].is_static() ? x[i].value() : kMostTransposed);
    kernel.push_back(w[i].is_static() ? w[i].value() : 1);
  }
  const bool known = Shape(std::vector<Dim>(w.dims().begin() + 2, w.dims().end())).is_static();
  Dims image(sizes.size());
  if (known) {
    SV_ASSIGN(const Window window, transposed_window(c.attributes(), sizes, kernel));
    image = window.in;
  }
  for (size_t i = 2; i < x.dims().size(); ++i) out.push_back(known && x[i].is_static() ? Dim(image[i - 2]) : Dim());
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

kernels::Extent transpose_extent(const Dims& values, int64_t fill) {
  const auto [depth, height, width] = to_three(values, fill);
  return {depth, height, width};
}

Status lower_conv_transpose(LowerContext& c) {
  const Dims x = c.in_dims(0), weights = c.in_dims(1), y = c.out_dims();
  if (element_count(y) == 0) return {};
  SV_ASSIGN(const Window w, transposed_window(c.attributes(), Dims(x.begin() + 2, x.end()), Dims(weights.begin() + 2, weights.end())));
  SV_TRY(check_padded(w));
  if (wide::is_wide(c)) {
    wide::emit_conv_transpose(c, w, c.attributes().get_int("group", 1), c.in(2));
    return {};
  }
  ConvGrad g;
  g.window.batch = y[0], g.window.channels = y[1];
  g.window.in = transpose_extent(w.in, 1), g.window.out = transpose_extent(w.out, 1), g.window.kernel = transpose_extent(w.kernel, 1);
  g.window.stride = transpose_extent(w.strides, 1), g.window.dilation = transpose_extent(w.dilations, 1);
  g.window.pad = transpose_extent(w.pads_begin, 0), g.window.pad_end = transpose_extent(w.pads_end, 0);
  g.groups = c.attributes().get_int("group", 1);
  g.out_channels = x[1];
  emit_conv_grad_input(c, g, c.in(0), c.in(1), c.out());
  if (!c.has_input(2)) return {};
  Dims bias(y.size() - 1, 1);
  bias[0] = y[1];
  return emit_binary(c, kernels::BinaryOp::kAdd, result_of(c), {c.in(2), DType::f32, bias}, result_of(c));
}

/// The convolution that this is the gradient of, as attributes.
Result<Attributes> convolution_of(const GradientContext& c) {
  const Shape &x = c.input(0)->type.shape, &w = c.input(1)->type.shape;
  if (!x.has_rank() || !w.is_static()) return error("its gradient needs an input of known rank and a weight of known shape");
  const auto rank = static_cast<int64_t>(x.rank() - 2);
  const std::string auto_pad = c.attributes().get_string("auto_pad", "NOTSET");
  const bool resolved = c.attributes().get_ints("output_shape", {}).empty() && !auto_pad.starts_with("SAME");
  Dims sizes, kernel;
  for (size_t i = 2; i < x.dims().size(); ++i) {
    if (!x[i].is_static() && !resolved) return error("its gradient needs known sizes where padding is decided by them");
    sizes.push_back(x[i].is_static() ? x[i].value() : kMostTransposed);
    kernel.push_back(w[i].value());
  }
  SV_ASSIGN(const Window window, transposed_window(c.attributes(), sizes, kernel));
  Dims pads = window.pads_begin;
  pads.insert(pads.end(), window.pads_end.begin(), window.pads_end.end());
  for (size_t i = 0; i < static_cast<size_t>(rank); ++i)
    if (const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
        (window.in[i] + pads[i] + window.pads_end[i] - reach) / window.strides[i] + 1 != sizes[i])
      return error("its gradient is for outputs that end within a stride of what X reaches");
  return make_attributes({{"kernel_shape", window.kernel},
                          {"strides", window.strides},
                          {"dilations", window.dilations},
                          {"pads", pads},
                          {"group", c.attributes().get_int("group", 1)}});
}

Status conv_transpose_gradient(GradientContext& c) {
  Value *x = c.input(0), *w = c.input(1), *dy = c.dy();
  SV_ASSIGN(const Attributes conv, convolution_of(c));
  if (c.wants(0)) c.set(0, c.op("Conv", {dy, w}, conv));
  if (c.wants(1)) c.set(1, c.internal("ConvGradWeights", {x, dy, w}, conv));
  if (!c.wants(2)) return {};
  std::vector<int64_t> axes{0};
  for (int64_t i = 2; i < x->type.shape.rank(); ++i) axes.push_back(i);
  Value* all = c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, std::span<const int64_t>(axes)));
  c.set(2, c.op("ReduceSum", {dy, all}, make_attributes({{"keepdims", int64_t{0}}})));
  return {};
}

std::vector<AttributeDef> conv_transpose_attributes() {
  return window_attributes({{"group", AttributeKind::kInt, false, 1},
                            {"output_padding", AttributeKind::kInts},
                            {"output_shape", AttributeKind::kInts}},
                           true, false);
}

/// Every element of X goes through all its weights.
Cost conv_transpose_cost(const Node& node) { return conv_grad_cost(node, node.input(0)->type, node.input(1)->type); }

}  // namespace

OpDef define_conv_transpose() {
  return {
      .name = "ConvTranspose",
      .inputs = "X, W, B?",
      .attributes = conv_transpose_attributes(),
      .infer = infer_conv_transpose,
      .lower = lower_conv_transpose,
      .types = {{"T", kRealTypes, {0, 1, 2}}},
      .cost = conv_transpose_cost,
      .gradient = conv_transpose_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 5, 4, 3], float32[5, 7, 3, 3], float32[7]) {pads = [1, 1, 1, 1], strides = [2, 2], output_padding = [1, 0]}"
                 "(float32[1, 18, 5, 4], float32[18, 20, 1, 1])"
                 "(float32[1, 8, 4, 5], float32[8, 3, 3, 2], float32[6]) {group = 2, dilations = [2, 1], strides = [1, 3]}"
                 "(float32[2, 3, 7], float32[3, 4, 4]) {strides = [2], pads = [1, 2]}"
                 "(float64[2, 4, 4, 5], float64[4, 3, 3, 2], float64[6]) {group = 2, strides = [2, 3], pads = [1, 0, 0, 1]}"
                 "(float16[1, 3, 5], float16[3, 2, 3])",
  };
}

}  // namespace svengine::ops
