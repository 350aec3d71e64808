#include "engine/ops/nn/conv_common.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "engine/graph/blocked_rank.h"
#include "engine/kernels/norm.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/nn/conv_pixel_common.h"
#include "engine/ops/wide/wide.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

using kernels::ConvArgs;
using kernels::ConvExtent;
using kernels::ConvKernels;
using kernels::ConvKind;
using kernels::ConvPacking;
using kernels::ConvShape;


ConvExtent conv_extent(const Dims& values, int64_t fill) {
  const auto three = to_three(values, fill);
  return {three[0], three[1], three[2]};
}

Status check_conv_channels(const InferContext& c, int64_t group) {
  const Shape &x = c.shape(0), &w = c.shape(1);
  if (group < 1) return error("group is {}, needs at least 1", group);
  if (w[0].is_static() && w[0].value() % group != 0) return error("group {} does not divide the {} output channels", group, w[0].value());
  if (x[1].is_static() && x[1].value() % group != 0) return error("group {} does not divide the {} input channels", group, x[1].value());
  if (x[1].is_static() && w[1].is_static() && w[1].value() * group != x[1].value())
    return error("weights {} in {} group{} need {} input channels, X {} has {}", to_string(w), group, group == 1 ? "" : "s",
                 w[1].value() * group, to_string(x), x[1].value());
  return {};
}

/// The kind for the layouts that the node's values have.
ConvKind kind_for(const LowerContext& c, const ConvShape& shape) {
  if (!c.out_type().block) return ConvKind::kPlain;
  if (!c.in_type(0).block) return ConvKind::kFirstLayer;
  const ConvKind best = c.kernels().conv->choose(shape, c.options().exact_convolution);
  return best == ConvKind::kFirstLayer ? ConvKind::kDirect : best;
}

/// Of all fields: what is missing here would not compile.
std::string form_of(const ConvPacking& packing) {
  const auto& [kind, groups, in_channels, out_channels, taps, planes, block_groups] = packing;
  return fmt::format("conv{} g{} i{} o{} k{} z{} b{}", static_cast<int>(kind), groups, in_channels, out_channels, taps, planes, block_groups);
}

/// Constant input 2, padded to whole blocks; absent where there is none.
Buffer pack_bias(LowerContext& c, const ConvShape& shape) {
  if (!c.has_input(2)) return {};
  const auto used = static_cast<size_t>(shape.out_channels) * 4;
  Packing bias{.layout = fmt::format("bias {}", shape.out_channels), .bytes = round_up(shape.out_channels, c.kernels().lanes) * 4};
  bias.fill = [used, all = static_cast<size_t>(bias.bytes)](const std::byte* from, std::byte* to, int64_t, int64_t) {
    std::memcpy(to, from, used);
    std::memset(to + used, 0, all - used);
  };
  return c.packed(2, std::move(bias));
}

ConvWeights pack_constants(LowerContext& c, const ConvShape& shape, ConvKind kind) {
  const ConvKernels* conv = c.kernels().conv;
  ConvWeights packed;
  const ConvPacking packing = conv->packing(shape, kind);
  Packing weights{.layout = form_of(packing), .bytes = conv->packed_bytes(packing), .tasks = conv->pack_tasks(packing)};
  weights.fill = [=](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
    conv->pack(packing, reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to), begin, end);
  };
  if (const Tensor* scale = c.constant(kConvWeightScale)) weights.row_scale.assign(scale->data<double>().begin(), scale->data<double>().end());
  packed.weights = c.packed(1, std::move(weights));
  packed.bias = pack_bias(c, shape);
  return packed;
}

/// Weights that are computed at run time are packed at run time.
ConvWeights pack_at_run_time(LowerContext& c, const ConvShape& shape, ConvKind kind) {
  ConvWeights packed;
  packed.weights = emit_conv_pack(c, shape, kind, c.in(1));
  if (c.has_input(2)) {
    const int64_t padded = round_up(shape.out_channels, c.kernels().lanes);
    packed.bias = c.temporary(padded * 4);
    c.emit("conv_pack_bias", 1, [=, from = c.in(2), to = packed.bias, n = shape.out_channels](const Run& run, int64_t, int64_t) -> const char* {
      std::memset(run.get<float>(to), 0, static_cast<size_t>(padded) * 4);
      std::memcpy(run.get<float>(to), run.get<float>(from), static_cast<size_t>(n) * 4);
      return nullptr;
    });
  }
  return packed;
}

/// A 1 x 1 kernel along height sees planes as it sees rows: images without depth have faster kinds.
ConvShape without_depth(ConvShape s) {
  const bool one = s.kernel.depth == 1 && s.kernel.height == 1, all = s.in.depth == s.out.depth && s.in.height == s.out.height;
  const bool steps = s.stride.depth == 1 && s.stride.height == 1, pads = s.pad.depth == 0 && s.pad.height == 0;
  if (!one || !all || !steps || !pads) return s;
  for (ConvExtent* e : {&s.in, &s.out}) e->height *= e->depth, e->depth = 1;
  return s;
}

/// Of no input channel: every sum is its bias and residual. Kernels need at least one.
void emit_empty_sums(LowerContext& c, const ConvShape& s, Buffer residual, const kernels::ActivationArgs& activation) {
  kernels::ChannelAffineArgs args;
  args.batch = s.batch, args.channels = s.out_channels, args.spatial = s.out.depth * s.out.height * s.out.width;
  args.blocked = c.out_type().block > 0;
  args.activation = activation;
  const int64_t stored = static_cast<int64_t>(stored_bytes(c.out_type())) / 4;
  const Buffer zeros = c.temporary(std::max(stored, s.out_channels) * 4);
  emit_fill(c, zeros, std::max(stored, s.out_channels), 4, 0);
  emit_kernel(c, "conv_empty", c.kernels().norm->channel_affine, args,
              [=, bias = c.in(2), out = c.out()](kernels::ChannelAffineArgs& a, const Run& run) {
                a.x = a.scale = run.get<const float>(zeros);
                a.shift = run.get<const float>(bias ? bias : zeros);
                a.residual = run.get<const float>(residual);
                a.y = run.get<float>(out);
              });
}

}  // namespace

std::vector<AttributeDef> conv_attributes() {
  return window_attributes({{"group", AttributeKind::kInt, false, 1}}, true, false);
}

Result<kernels::ConvShape> conv_shape(const Attributes& attributes, const Dims& x, const Dims& w) {
  SV_ASSIGN(Window window, window_of(attributes, Dims(x.begin() + 2, x.end()), Dims(w.begin() + 2, w.end())));
  SV_TRY(check_padded(window));
  ConvShape s;
  s.batch = x[0];
  s.in_channels = x[1];
  s.out_channels = w[0];
  s.groups = attributes.get_int("group", 1);
  s.in = conv_extent(window.in, 1);
  s.out = conv_extent(window.out, 1);
  s.kernel = conv_extent(window.kernel, 1);
  s.stride = conv_extent(window.strides, 1);
  s.dilation = conv_extent(window.dilations, 1);
  s.pad = conv_extent(window.pads_begin, 0);
  return s;
}

Status infer_conv(InferContext& c) {
  const Shape &x = c.shape(0), &w = c.shape(1);
  SV_TRY(check_spatial_rank(w, "W"));
  if (c.has_input(2)) {
    SV_TRY(require_rank(c, 2, 1));
    if (w.has_rank() && c.shape(2).has_rank() && known_different(c.shape(2)[0], w[0]))
      return error("B has {} elements, needs one for each of the {} output channels", c.shape(2)[0].value(), w[0].value());
  }
  SV_TRY(check_spatial_rank(x, "X"));
  if (!x.has_rank() || !w.has_rank()) {
    const Shape& known = x.has_rank() ? x : w;  // the other one has its rank, and attributes that do not fit it are wrong for both
    if (known.has_rank()) SV_TRY(window_output(c.attributes(), unknown_dims(known.rank()), std::vector<Dim>(known.dims().size() - 2)));
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  if (w.rank() != x.rank()) return error("weights {} are of rank {}, X {} is of rank {}", to_string(w), w.rank(), to_string(x), x.rank());
  SV_TRY(check_conv_channels(c, c.attributes().get_int("group", 1)));
  SV_ASSIGN(std::vector<Dim> spatial, window_output(c.attributes(), x, std::span(w.dims()).subspan(2)));
  for (size_t i = 0; i < spatial.size(); ++i)
    if (!w[i + 2].is_static() && !c.attributes().has("kernel_shape")) spatial[i] = Dim();
  std::vector<Dim> out{x[0], w[0]};
  out.insert(out.end(), spatial.begin(), spatial.end());
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

Buffer emit_conv_pack(LowerContext& c, const ConvShape& shape, ConvKind kind, Buffer weights) {
  const ConvKernels* conv = c.kernels().conv;
  const kernels::ConvPacking packing = conv->packing(shape, kind);
  const Buffer packed = c.temporary(conv->packed_bytes(packing));
  c.emit("conv_pack", conv->pack_tasks(packing), [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    conv->pack(packing, run.get<const float>(weights), run.get<float>(packed), begin, end);
    return nullptr;
  });
  return packed;
}

void emit_conv(LowerContext& c, const ConvArgs& args, Buffer in, const ConvWeights& packed, Buffer residual, Buffer out) {
  const ConvKernels* conv = c.kernels().conv;
  static constexpr const char* kKinds[] = {"direct", "first", "depthwise", "grouped", "plain", "winograd"};
  const char* kind = kKinds[static_cast<int>(args.kind)];
  const Buffer workspace = conv->workspace_bytes(args) > 0 ? c.temporary(conv->workspace_bytes(args)) : Buffer{};
  c.emit(fmt::format("conv_{}_inputs", kind), conv->prepare_tasks(args), [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    ConvArgs one = args;
    one.input = run.get<const float>(in);
    one.workspace = run.get<void>(workspace);
    conv->prepare(one, begin, end);
    return nullptr;
  });
  c.emit(fmt::format("conv_{}_{}x{}", kind, args.shape.kernel.height, args.shape.kernel.width), conv->tasks(args),
         [=](const Run& run, int64_t begin, int64_t end) -> const char* {
           ConvArgs one = args;
           one.input = run.get<const float>(in);
           one.weights = run.get<const float>(packed.weights);
           one.bias = run.get<const float>(packed.bias);
           one.residual = run.get<const float>(residual);
           one.output = run.get<float>(out);
           one.workspace = run.get<void>(workspace);
           conv->run(one, begin, end, run.scratch<void>());
           return nullptr;
         },
         conv->scratch_bytes(args), conv->grain(args));
}

Status lower_conv(LowerContext& c, Buffer residual, const kernels::ActivationArgs& activation) {
  SV_ASSIGN(ConvShape shape, conv_shape(c.attributes(), c.in_dims(0), c.in_dims(1)));
  if (wide::is_wide(c)) {
    wide::emit_conv(c, shape, residual, activation);
    return {};
  }
  if (shape.in_channels == 0) {
    emit_empty_sums(c, shape, residual, activation);
    return {};
  }
  const bool constant = c.constant(1) && (!c.has_input(2) || c.constant(2));
  if (!constant && c.has_input(kConvWeightScale)) return needs_constant("a scale of weights that are computed at run time");
  if (constant && is_pixel_conv(shape)) {
    emit_pixel_conv(c, shape, pack_bias(c, shape), residual, activation);
    return {};
  }
  shape = without_depth(shape);
  ConvArgs args;
  args.shape = shape;
  args.kind = kind_for(c, shape);
  args.activation = activation;
  const ConvWeights packed = constant ? pack_constants(c, shape, args.kind) : pack_at_run_time(c, shape, args.kind);
  emit_conv(c, args, c.in(0), packed, residual, c.out());
  return {};
}

Cost conv_grad_cost(const Node& node, const Type& dy, const Type& w) {
  Cost cost;
  for (const Value* v : node.inputs())
    if (v) cost.bytes += stored_bytes(v->type);
  cost.bytes += stored_bytes(node.output()->type);
  Type out = dy;
  out.block = 0;
  double per_output = 2;
  for (size_t i = 1; w.shape.has_rank() && i < w.shape.dims().size(); ++i)
    per_output *= static_cast<double>(w.shape[i].is_static() ? w.shape[i].value() : 1);
  cost.flops = stored_bytes(out) / 4 * per_output;
  return cost;
}

Cost conv_cost(const Node& node) { return conv_grad_cost(node, node.output()->type, node.input(1)->type); }

namespace {

/// Groups whose channels are no whole blocks and that have enough of them are products in plain layout: 272 to 272 channels in 4 groups,
/// 28 x 28, take 0.31 ms by 1 x 1 and 2.0 ms on blocks, 64 in 8 groups 0.034 and 0.042; by 3 x 3, 136 in 4 groups 0.73 and 1.28, 96 in 8
/// 0.25 and 0.30, and 80 in 10 0.16 and 0.14 (a core of a Sapphire Rapids, busy with others; the kinds' kernels alone). Two reorders of the
/// image may come on top.
bool is_plain_product(const Node& node, int block) {
  const Shape &x = node.input(0)->type.shape, &w = node.input(1)->type.shape;
  const int64_t groups = node.attributes.get_int("group", 1);
  if (groups == 1 || !w.is_static() || !x[1].is_static()) return false;
  const int64_t ins = w[1].value(), outs = w[0].value() / groups;
  if (ins % block == 0 && outs % block == 0) return false;
  if (x.rank() == 5) return true;  // no kind for blocks of several groups sees depth
  if (ins == 1 && outs == 1) return false;
  const bool pointwise = std::all_of(w.dims().begin() + 2, w.dims().end(), [](const Dim& d) { return d.value() == 1; });
  return outs >= (pointwise ? 8 : 16);
}

/// Signals of one dimension have short rows, and stand between transposes or products, for which they are reordered.
bool pays_for_reorders(const Node& node) {
  const Shape &x = node.input(0)->type.shape, &w = node.input(1)->type.shape;
  if (x.rank() != 3 || node.input(0)->type.block) return true;
  if (!w.is_static() || !x[1].is_static()) return false;
  return x[1].value() > kFirstLayerChannels && (w[1].value() == 1 ? w[2].value() > 1 : w[1].value() * w[2].value() >= 256);
}

}  // namespace

bool can_block_conv(const Node& node, int block) {
  return is_blocked_rank(node.input(0)->type.shape.rank()) && node.output()->type.shape.is_static() && !is_plain_product(node, block) &&
         pays_for_reorders(node);
}

bool conv_reads_plain(const Node& node, size_t input) {
  const Shape& x = node.input(input)->type.shape;
  return input == 0 && node.attributes.get_int("group", 1) == 1 && x.rank() >= 4 && x[1].is_static() &&
         x[1].value() <= kFirstLayerChannels;
}

}  // namespace svengine::ops
