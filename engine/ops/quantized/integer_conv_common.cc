#include "engine/ops/quantized/integer_conv_common.h"

#include <algorithm>
#include <cstring>

#include "engine/ops/infer_util.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

using kernels::ConvShape;
using kernels::QuantizedDepthwiseArgs;
using kernels::QuantizedGemmArgs;
using kernels::QuantizedPackArgs;
using kernels::QuantizedWindow;

/// [N, spatial..., C] as [N, C, spatial...].
template <class Dimensions>
Dimensions channels_first(const Dimensions& dims) {
  Dimensions out = dims;
  std::rotate(out.begin() + 1, out.end() - 1, out.end());
  return out;
}
template <class Dimensions>
Dimensions channels_last(const Dimensions& dims) {
  Dimensions out = dims;
  std::rotate(out.begin() + 1, out.begin() + 2, out.end());
  return out;
}

int64_t taps_of(const ConvShape& s) { return s.kernel.depth * s.kernel.height * s.kernel.width; }
int64_t pixels_of(const kernels::ConvExtent& e) { return e.depth * e.height * e.width; }
int64_t channels_in(const ConvShape& s) { return s.in_channels / s.groups; }
int64_t channels_out(const ConvShape& s) { return s.out_channels / s.groups; }
bool is_depthwise(const ConvShape& s) { return s.groups > 1 && channels_in(s) == 1 && channels_out(s) == 1; }

QuantizedWindow kernel_window(const ConvShape& s) {
  QuantizedWindow w;
  w.pixel_bytes = s.in_channels, w.channels = channels_in(s);
  const auto set = [](int64_t(&to)[3], const kernels::ConvExtent& e) { to[0] = e.depth, to[1] = e.height, to[2] = e.width; };
  set(w.in, s.in), set(w.out, s.out), set(w.kernel, s.kernel), set(w.strides, s.stride), set(w.dilations, s.dilation), set(w.pads, s.pad);
  return w;
}

/// [M][channels][taps] to [M][taps][channels], so that depth runs as it does over a window.
void transpose_weights(const ConvShape& s, const std::byte* from, std::byte* to) {
  const int64_t taps = taps_of(s), channels = channels_in(s);
  for (int64_t m = 0; m < s.out_channels; ++m)
    for (int64_t t = 0; t < taps; ++t)
      for (int64_t i = 0; i < channels; ++i) to[(m * taps + t) * channels + i] = from[(m * channels + i) * taps + t];
}

struct Weights {
  Buffer buffer;
  int64_t bytes = 0;  // of one group
};

struct WeightZeros {
  bool is_signed;
  int64_t count;
  int32_t at(const std::byte* zeros, int64_t i) const {
    if (!zeros) return 0;
    const std::byte z = zeros[count > 1 ? i : 0];
    return is_signed ? static_cast<int8_t>(z) : static_cast<int32_t>(z);
  }
};

/// [taps + 1][channels] of the depthwise kernel.
void widen_depthwise(const ConvShape& s, const WeightZeros& zero, const std::byte* w, const std::byte* zeros, int32_t* to) {
  const int64_t taps = taps_of(s);
  std::fill(to + taps * s.out_channels, to + (taps + 1) * s.out_channels, 0);
  for (int64_t m = 0; m < s.out_channels; ++m)
    for (int64_t t = 0; t < taps; ++t) {
      const std::byte x = w[m * taps + t];
      const int32_t value = (zero.is_signed ? static_cast<int8_t>(x) : static_cast<int32_t>(x)) - zero.at(zeros, m);
      to[t * s.out_channels + m] = value;
      to[taps * s.out_channels + m] += value;
    }
}

using Fill = std::function<void(const std::byte* weights, const std::byte* zeros, std::byte* packed, std::byte* scratch)>;

/// Packed once where weights and zero points are constant, by a step otherwise.
Buffer emit_weights(LowerContext& c, const IntegerConv& conv, std::string layout, int64_t bytes, int64_t scratch_bytes, Fill fill) {
  const Tensor* zero = conv.w_zero.input == kNoInput ? nullptr : c.constant(static_cast<size_t>(conv.w_zero.input));
  if (c.constant(conv.w) && (zero || conv.w_zero.input == kNoInput)) {
    Packing packing{.layout = fmt::format("{} {}", layout, name_zeros(zero)), .bytes = bytes};
    packing.fill = [=, kept = zero ? *zero : Tensor()](const std::byte* from, std::byte* to, int64_t, int64_t) {
      std::vector<std::byte> scratch(static_cast<size_t>(scratch_bytes));
      fill(from, kept.defined() ? kept.raw() : nullptr, to, scratch.data());
    };
    return c.packed(conv.w, std::move(packing));
  }
  const Buffer packed = c.temporary(bytes), scratch = scratch_bytes ? c.temporary(scratch_bytes) : Buffer{};
  c.emit("pack_quantized", 1, [=, w = c.in(conv.w), zeros = conv.w_zero.buffer](const Run& run, int64_t, int64_t) -> const char* {
    fill(run.get<const std::byte>(w), run.get<const std::byte>(zeros), run.get<std::byte>(packed), run.get<std::byte>(scratch));
    return nullptr;
  });
  return packed;
}

std::string name_weights(const char* kind, const ConvShape& s, bool is_signed) {
  return fmt::format("{} g{} i{} o{} t{} s{}", kind, s.groups, s.in_channels, s.out_channels, taps_of(s), is_signed);
}

Weights emit_gemm_weights(LowerContext& c, const IntegerConv& conv, const ConvShape& s) {
  const kernels::QuantizedKernels* kernels = c.kernels().quantized;
  QuantizedPackArgs args;
  args.column_major = true, args.k = args.ld = taps_of(s) * channels_in(s), args.n = channels_out(s);
  args.is_signed = c.in_type(conv.w).dtype == DType::i8, args.zero_step = conv.w_zero.count > 1;
  const int64_t bytes = kernels->packed_bytes(args.k, args.n), source_bytes = s.out_channels * args.k;
  const Buffer packed = emit_weights(c, conv, name_weights("quantized conv", s, args.is_signed), bytes * s.groups, source_bytes,
                                     [=](const std::byte* w, const std::byte* zeros, std::byte* to, std::byte* scratch) {
                                       transpose_weights(s, w, scratch);
                                       for (int64_t g = 0; g < s.groups; ++g) {
                                         QuantizedPackArgs one = args;
                                         one.source = scratch + g * args.n * args.k;
                                         one.zero = zeros ? zeros + g * args.n * args.zero_step : nullptr;
                                         one.packed = to + g * bytes;
                                         kernels->pack(one, 0, kernels->pack_tasks(one));
                                       }
                                     });
  return {packed, bytes};
}

struct Image {
  Buffer x, y;  // channels last
  DType x_type;
};

void emit_grouped(LowerContext& c, const IntegerConv& conv, const ConvShape& s, const Image& image) {
  const Weights weights = emit_gemm_weights(c, conv, s);
  const kernels::QuantizedKernels* kernels = c.kernels().quantized;
  QuantizedGemmArgs args;
  args.m = s.batch * pixels_of(s.out), args.n = channels_out(s), args.k = taps_of(s) * channels_in(s), args.ldc = s.out_channels;
  args.windows = true, args.window = kernel_window(s), args.a_signed = image.x_type == DType::i8;
  args.epilogue = kernel_epilogue(conv.epilogue);
  const int64_t each = kernels->gemm.tasks(args), bytes = static_cast<int64_t>(size_of(conv.epilogue.type));
  c.emit(
      fmt::format("conv_{}_{}x{}", name_of(image.x_type), s.kernel.height, s.kernel.width), each * s.groups,
      [=, run_kernel = kernels->gemm.run, e = conv.epilogue, x_zero = conv.x_zero.buffer](const Run& run, int64_t begin,
                                                                                          int64_t end) -> const char* {
        for (int64_t t = begin; t < end;) {
          const int64_t group = t / each, first = t % each, last = std::min(each, first + end - t), column = group * args.n;
          QuantizedGemmArgs one = args;
          one.a = run.get<const std::byte>(image.x) + group * args.window.channels;
          one.a_zero = run.get<const void>(x_zero);
          one.b = run.get<const std::byte>(weights.buffer) + group * weights.bytes;
          one.c = run.get<std::byte>(image.y) + column * bytes;
          bind_epilogue(run, e, args.m, 0, args.n * s.groups, 0, one.epilogue);
          if (one.epilogue.bias) one.epilogue.bias += column;
          if (one.epilogue.scale_step) one.epilogue.scale += column;
          run_kernel(one, first, last, run.scratch<void>());
          t += last - first;
        }
        return nullptr;
      },
      kernels->gemm.scratch_bytes(args));
}

void emit_depthwise(LowerContext& c, const IntegerConv& conv, const ConvShape& s, const Image& image) {
  const kernels::QuantizedKernels* kernels = c.kernels().quantized;
  const kernels::TaskKernel<QuantizedDepthwiseArgs>& kernel = kernels->depthwise;
  QuantizedDepthwiseArgs args;
  args.batch = s.batch, args.window = kernel_window(s), args.window.channels = s.in_channels, args.x_signed = image.x_type == DType::i8;
  args.epilogue = kernel_epilogue(conv.epilogue);
  const WeightZeros zero{c.in_type(conv.w).dtype == DType::i8, conv.w_zero.count};
  const int64_t words = ceil_div((taps_of(s) + 1) * s.out_channels * 4, 256) * 256, quads = kernels->depthwise_packed_bytes(args.window);
  const std::string layout = fmt::format("{} w{} s{} d{} q{}", name_weights("quantized depthwise", s, zero.is_signed), s.kernel.width,
                                         s.stride.width, s.dilation.width, quads);
  const Buffer weights =
      emit_weights(c, conv, layout, words + quads, 0, [=](const std::byte* w, const std::byte* zeros, std::byte* to, std::byte*) {
        int32_t* widened = reinterpret_cast<int32_t*>(to);
        widen_depthwise(s, zero, w, zeros, widened);
        std::fill(widened + (taps_of(s) + 1) * s.out_channels, widened + words / 4, 0);
        if (quads) kernels->pack_depthwise(args.window, widened, to + words);
      });
  c.emit(
      fmt::format("depthwise_{}_{}x{}", name_of(image.x_type), s.kernel.height, s.kernel.width), kernel.tasks(args),
      [=, run_kernel = kernel.run, e = conv.epilogue, x_zero = conv.x_zero.buffer](const Run& run, int64_t begin,
                                                                                   int64_t end) -> const char* {
        QuantizedDepthwiseArgs one = args;
        one.x = run.get<const void>(image.x);
        one.x_zero = run.get<const void>(x_zero);
        one.w = run.get<const int32_t>(weights);
        one.quads = quads ? reinterpret_cast<const int8_t*>(run.get<const std::byte>(weights) + words) : nullptr;
        one.y = run.get<void>(image.y);
        bind_epilogue(run, e, 0, 0, args.window.channels, 0, one.epilogue);
        run_kernel(one, begin, end, run.scratch<void>());
        return nullptr;
      },
      kernel.scratch_bytes(args));
}

/// A copy between [N, C, spatial...] and [N, spatial..., C], of which `to_last` says the direction and `first` the dimensions in the
/// former.
void emit_turn(LowerContext& c, const Dims& first, bool to_last, DType type, Buffer in, Buffer out) {
  const std::vector<int64_t> planar = strides_of(first), pixels = channels_first(strides_of(channels_last(first)));
  CopyView view{.dims = first, .in_strides = to_last ? planar : pixels, .out_strides = to_last ? pixels : planar};
  emit_copies(c, "transpose", size_of(type), {{in, out, std::move(view)}});
}

}  // namespace

bool is_channels_last(const Attributes& attributes) { return attributes.get_int("channels_last") != 0; }

Result<Shape> integer_conv_shape(const InferContext& c, size_t x_input, size_t w_input) {
  Shape x = c.shape(x_input);
  const Shape& w = c.shape(w_input);
  if (!x.has_rank() || !w.has_rank()) return Shape();
  SV_TRY(check_spatial_rank(x, "x"));
  if (w.rank() != x.rank()) return error("weights {} are of rank {}, x {} is of rank {}", to_string(w), w.rank(), to_string(x), x.rank());
  const bool last = is_channels_last(c.attributes());
  if (last) x = Shape(channels_first(x.dims()));
  const int64_t group = c.attributes().get_int("group", 1);
  if (group < 1) return error("group is {}, needs at least 1", group);
  if (w[0].is_static() && w[0].value() % group != 0) return error("group {} does not divide the {} output channels", group, w[0].value());
  if (x[1].is_static() && w[1].is_static() && w[1].value() * group != x[1].value())
    return error("weights {} in {} groups need {} input channels, x has {}", to_string(w), group, w[1].value() * group, x[1].value());
  SV_ASSIGN(std::vector<Dim> spatial, window_output(c.attributes(), x, std::span(w.dims()).subspan(2)));
  std::vector<Dim> out{x[0], w[0]};
  out.insert(out.end(), spatial.begin(), spatial.end());
  return Shape(last ? channels_last(out) : out);
}

Status emit_integer_conv(LowerContext& c, const IntegerConv& conv) {
  const bool last = is_channels_last(c.attributes());
  const Dims x = last ? channels_first(c.in_dims(conv.x)) : c.in_dims(conv.x);
  const Dims y = last ? channels_first(c.out_dims()) : c.out_dims();
  SV_ASSIGN(const ConvShape s, conv_shape(c.attributes(), x, c.in_dims(conv.w)));
  if (element_count(y) == 0) return {};
  Image image{c.in(conv.x), c.out(), c.in_type(conv.x).dtype};
  if (!last) {
    image.x = c.temporary(std::max<int64_t>(element_count(x), 1));
    image.y = c.temporary(element_count(y) * static_cast<int64_t>(size_of(conv.epilogue.type)));
    if (element_count(x) > 0) emit_turn(c, x, true, image.x_type, c.in(conv.x), image.x);
  }
  if (is_depthwise(s))
    emit_depthwise(c, conv, s, image);
  else
    emit_grouped(c, conv, s, image);
  if (!last) emit_turn(c, y, false, conv.epilogue.type, image.y, c.out());
  return {};
}

Cost integer_conv_cost(const Node& node, size_t w) {
  Cost cost;
  for (const Value* v : node.inputs())
    if (v) cost.bytes += stored_bytes(v->type);
  cost.bytes += stored_bytes(node.output()->type);
  const Type& weights = node.input(w)->type;
  const Shape& shape = weights.shape;
  if (!shape.has_rank() || shape.rank() < 1 || !shape[0].is_static() || shape[0].value() == 0) return cost;
  const double elements = stored_bytes(node.output()->type) / static_cast<double>(size_of(node.output()->type.dtype));
  cost.flops = 2 * elements * stored_bytes(weights) / static_cast<double>(shape[0].value());
  return cost;
}

}  // namespace svengine::ops
