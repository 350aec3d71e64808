// DeformConv: a convolution whose taps are moved by offsets, a pair for each tap and output position, and weighted by a mask.
//
//   columns[i * taps + k][p] = mask[k][p] X[i] interpolated at (position of tap k for p) + (offset[k][0][p], offset[k][1][p])
//   Y = W columns + B                                            a product for each group and image
#include <algorithm>
#include <iterator>

#include "engine/graph/gradient.h"
#include "engine/ops/elementwise/binary_common.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/vision/deform_common.h"

namespace svengine::ops {

Result<DeformShape> deform_shape(const Attributes& attributes, const Dims& x, const Dims& w) {
  DeformShape s;
  SV_ASSIGN(s.conv, conv_shape(attributes, x, w));
  s.offset_groups = attributes.get_int("offset_group", 1);
  s.taps = s.conv.kernel.height * s.conv.kernel.width;
  s.positions = s.conv.out.height * s.conv.out.width;
  s.plane = s.conv.in.height * s.conv.in.width;
  return s;
}

namespace {

constexpr int64_t kDeformChunk = 128;                  // positions of a task
constexpr int64_t kDeformColumns = int64_t{64} << 20;  // bytes of columns at once, if more than an image's

enum DeformInput : size_t { kX, kW, kOffset, kB, kMask };

Status check_deform_channels(const InferContext& c, const Shape& x, const Shape& w) {
  const int64_t group = c.attributes().get_int("group", 1), offsets = c.attributes().get_int("offset_group", 1);
  if (group < 1 || offsets < 1) return error("group is {} and offset_group {}, both need 1 or more", group, offsets);
  if (w[0].is_static() && w[0].value() % group != 0)
    return error("group {} does not divide the {} output channels", group, w[0].value());
  if (x[1].is_static() && x[1].value() % offsets != 0)
    return error("offset_group {} does not divide the {} input channels", offsets, x[1].value());
  if (x[1].is_static() && (x[1].value() % group != 0 || known_different(w[1], x[1].value() / group)))
    return error("weights {} in {} groups do not fit X {}", to_string(w), group, to_string(x));
  return {};
}

/// Of offset and mask, which have the output's size: `each` channels for every tap and offset group.
Status check_deform_maps(const InferContext& c, size_t input, int64_t each, const Shape& w, const Shape& out) {
  if (!c.has_input(input)) return {};
  SV_TRY(require_rank(c, input, 4));
  const Shape& maps = c.shape(input);
  if (!maps.has_rank()) return {};
  const Dim channels = multiply(multiply(w[2], w[3]), Dim(each * c.attributes().get_int("offset_group", 1)));
  const Shape wanted{out[0], channels, out[2], out[3]};
  for (size_t i = 0; i < 4; ++i)
    if (known_different(maps[i], wanted[i])) return error("{} is {}, needs {}", c.described(input), to_string(maps), to_string(wanted));
  return {};
}

Status infer_deform_conv(InferContext& c) {
  SV_TRY(require_dtype(c, kX, kRealTypes));
  SV_TRY(require_same_dtypes(c));
  SV_TRY(require_rank(c, kX, 4));
  SV_TRY(require_rank(c, kW, 4));
  SV_TRY(require_rank(c, kB, 1));
  const Shape &x = c.shape(kX), &w = c.shape(kW);
  if (!x.has_rank() || !w.has_rank()) {
    c.set(0, c.dtype(0), unknown_dims(4));
    return {};
  }
  SV_TRY(check_deform_channels(c, x, w));
  if (c.has_input(kB) && c.shape(kB).has_rank() && known_different(c.shape(kB)[0], w[0]))
    return error("B has {} elements for {} output channels", c.shape(kB)[0].value(), w[0].value());
  SV_ASSIGN(std::vector<Dim> spatial, window_output(c.attributes(), x, std::span(w.dims()).subspan(2)));
  const bool known = (w[2].is_static() && w[3].is_static()) || c.attributes().has("kernel_shape");
  const Shape out{x[0], w[0], known ? spatial[0] : Dim(), known ? spatial[1] : Dim()};
  SV_TRY(check_deform_maps(c, kOffset, 2, w, out));
  SV_TRY(check_deform_maps(c, kMask, 1, w, out));
  if (x[2].is_static() && x[3].is_static() && x[2].value() > 0 && x[3].value() >= kMostSampled / x[2].value())
    return unimplemented("planes of X {} have more elements than the {} that can be addressed", to_string(x), kMostSampled);
  c.set(0, c.dtype(0), out);
  return {};
}

/// Tables of one tap at positions [first, first + count); maps are those of this tap, of an image and offset group.
template <class T>
void deform_taps(const DeformShape& s, int64_t tap, int64_t first, const T* offsets, const T* mask,
                 const SampleTables<T>& tables) {
  for (int64_t j = 0; j < tables.count; ++j) {
    const int64_t p = first + j;
    const Place<T> at = deformed_place(s, tap, p, offsets);
    bilinear_taps(tables, 0, j, at.y, at.x, s.conv.in.height, s.conv.in.width, mask ? mask[p] : T(1));
  }
}

/// Columns of `images` images from the first one on; tasks are chunks of positions of a tap, offset group and image.
template <class T>
void emit_deform_columns(LowerContext& c, const DeformShape& s, int64_t first_image, int64_t images, Buffer columns) {
  const int64_t chunks = (s.positions + kDeformChunk - 1) / kDeformChunk, maps = s.offset_groups * s.taps;
  const int64_t channels = s.conv.in_channels / s.offset_groups;
  c.emit(
      "deform_columns", images * maps * chunks,
      [=, data = c.kernels().data, x = c.in(kX), offset = c.in(kOffset), mask = c.has_input(kMask) ? c.in(kMask) : Buffer{}](
          const Run& run, int64_t begin, int64_t end) -> const char* {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = task % chunks * kDeformChunk, map = task / chunks % maps, image = task / chunks / maps;
          const int64_t tap = map % s.taps, channel = image * s.conv.in_channels + map / s.taps * channels;
          const SampleTables<T> tables = tables_in<T>(run, 4, std::min(kDeformChunk, s.positions - first));
          const int64_t at = ((first_image + image) * maps + map) * s.positions;
          deform_taps(s, tap, first, run.get<const T>(offset) + at * 2, mask ? run.get<const T>(mask) + at : nullptr, tables);
          gather_samples(*data, tables, run.get<const T>(x) + (first_image * s.conv.in_channels + channel) * s.plane, s.plane,
                         run.get<T>(columns) + (channel * s.taps + tap) * s.positions + first, s.taps * s.positions, channels,
                         false);
        }
        return nullptr;
      },
      sample_scratch_bytes<T>(4 * kDeformChunk));
}

/// Y of these images from their columns.
void emit_deform_product(LowerContext& c, const DeformShape& s, int64_t first_image, int64_t images, Buffer columns) {
  const int64_t groups = s.conv.groups, outs = s.conv.out_channels / groups, depth = s.conv.in_channels / groups * s.taps;
  Product p;
  p.batch = {images, groups};
  p.m = outs, p.n = s.positions, p.k = depth;
  p.a = {c.in(kW), depth, false, {0, outs * depth}, c.constant(kW) ? static_cast<int>(kW) : -1};
  p.b = {columns, s.positions, false, {groups * depth * s.positions, depth * s.positions}, -1};
  p.c = c.out();
  p.c.offset += first_image * s.conv.out_channels * s.positions * 4;
  p.ldc = s.positions;
  p.c_strides = {groups * outs * s.positions, outs * s.positions};
  if (groups == 1 && c.has_input(kB)) p.bias = {c.in(kB), kernels::GemmBias::kRow};
  emit_product(c, std::move(p));
}

Status lower_deform_single(LowerContext& c, const DeformShape& s) {
  const int64_t image = s.conv.in_channels * s.taps * s.positions * 4;
  const int64_t chunk = std::clamp<int64_t>(kDeformColumns / std::max<int64_t>(image, 1), 1, s.conv.batch);
  const Buffer columns = c.temporary(chunk * image);
  constexpr int64_t kMostChunks = 4096;  // several steps each, all in the plan
  if (s.conv.batch / chunk > kMostChunks)
    return unimplemented("a batch of {} is computed {} images at a time, in more than {} pieces; cut it into several runs", s.conv.batch,
                         chunk, kMostChunks);
  for (int64_t first = 0; first < s.conv.batch; first += chunk) {
    const int64_t images = std::min(chunk, s.conv.batch - first);
    emit_deform_columns<float>(c, s, first, images, columns);
    emit_deform_product(c, s, first, images, columns);
  }
  if (!c.has_input(kB) || s.conv.groups == 1) return {};
  return emit_binary(c, kernels::BinaryOp::kAdd, result_of(c), {c.in(kB), DType::f32, {s.conv.out_channels, 1, 1}}, result_of(c));
}

/// In double the products are plain loops: a task is an output channel of an image.
Status lower_deform_double(LowerContext& c, const DeformShape& s) {
  const int64_t groups = s.conv.groups, outs = s.conv.out_channels / groups, depth = s.conv.in_channels / groups * s.taps;
  const Buffer columns = c.temporary(s.conv.batch * s.conv.in_channels * s.taps * s.positions * 8);
  emit_deform_columns<double>(c, s, 0, s.conv.batch, columns);
  c.emit("deform_conv_f64", s.conv.batch * s.conv.out_channels,
         [=, w = c.in(kW), b = c.has_input(kB) ? c.in(kB) : Buffer{}, y = c.out()](const Run& run, int64_t begin,
                                                                                   int64_t end) -> const char* {
           for (int64_t task = begin; task < end; ++task) {
             const int64_t channel = task % s.conv.out_channels,
                           image_group = task / s.conv.out_channels * groups + channel / outs;
             double* to = run.get<double>(y) + task * s.positions;
             std::fill_n(to, s.positions, b ? run.get<const double>(b)[channel] : 0.0);
             for (int64_t k = 0; k < depth; ++k) {
               const double weight = run.get<const double>(w)[channel * depth + k];
               const double* from = run.get<const double>(columns) + (image_group * depth + k) * s.positions;
               for (int64_t p = 0; p < s.positions; ++p) to[p] += weight * from[p];
             }
           }
           return nullptr;
         });
  return {};
}

Status lower_deform_conv(LowerContext& c) {
  if (element_count(c.out_dims()) == 0) return {};
  SV_ASSIGN(const DeformShape s, deform_shape(c.attributes(), c.in_dims(kX), c.in_dims(kW)));
  switch (c.in_type(0).dtype) {
    case DType::f32:
      return lower_deform_single(c, s);
    case DType::f64:
      return lower_deform_double(c, s);
    default:
      return error("X is {}, its kernels take float32 and float64", to_string(DTypeSet{c.in_type(0).dtype}));
  }
}

/// svengine.DeformConvGrad has those of X, W, offset and mask; B's is the sum of dy.
Status deform_conv_gradient(GradientContext& c) {
  if (c.wants(kB)) c.set(kB, c.op("ReduceSum", {c.dy(), c.builder().integers({0, 2, 3})}, make_attributes({{"keepdims", int64_t{0}}})));
  constexpr size_t kInputs[] = {kX, kW, kOffset, kMask};
  if (std::none_of(std::begin(kInputs), std::end(kInputs), [&](size_t i) { return c.wants(i); })) return {};
  std::vector<Value*> inputs{c.dy()};
  for (const size_t i : kInputs)
    if (c.input(i)) inputs.push_back(c.input(i));
  const Node* grad = c.builder().node(kInternalDomain, "DeformConvGrad", inputs, inputs.size() - 1, c.attributes());
  for (size_t i = 0; grad && i + 1 < inputs.size(); ++i)
    if (c.wants(kInputs[i])) c.set(kInputs[i], grad->output(i));
  return {};
}

Cost deform_conv_cost(const Node& node) { return conv_grad_cost(node, node.output()->type, node.input(kW)->type); }

}  // namespace

OpDef define_deform_conv() {
  return {
      .name = "DeformConv",
      .since = 19,
      .inputs = "X, W, offset, B?, mask?",
      .attributes = deform_conv_attributes(),
      .infer = infer_deform_conv,
      .lower = lower_deform_conv,
      .cost = deform_conv_cost,
      .gradient = deform_conv_gradient,
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 4, 6, 5], float32[3, 4, 3, 3], float32[2, 18, 6, 5], float32[3], float32[2, 9, 6, 5] 0 to 1) "
                 "{pads = [1, 1, 1, 1]}"
                 "(float32[1, 4, 7, 7], float32[6, 2, 3, 2], float32[1, 24, 3, 4], float32[6]) {group = 2, offset_group = 2, "
                 "strides = [2, 2], dilations = [1, 1], pads = [0, 1, 0, 1]}"
                 "(float32[1, 1, 1, 1], float32[1, 1, 1, 1], float32[1, 2, 1, 1])"
                 "(float64[1, 2, 4, 4], float64[2, 2, 2, 2], float64[1, 8, 3, 3], float64[2], float64[1, 4, 3, 3] 0 to 1)",
  };
}

}  // namespace svengine::ops
