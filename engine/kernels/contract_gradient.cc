#include "engine/kernels/contract_gradient.h"

#include "engine/kernels/contract_memory.h"

namespace svengine::kernels {
namespace {

int64_t volume(const Extent& e) { return e.depth * e.height * e.width; }
bool positive(const Extent& e) { return e.depth > 0 && e.height > 0 && e.width > 0; }
bool not_negative(const Extent& e) { return e.depth >= 0 && e.height >= 0 && e.width >= 0; }

const char* window_violation(const PoolShape& s) {
  if (s.batch < 0 || s.channels < 0 || !not_negative(s.in) || !not_negative(s.out)) return "window gradient: a size is negative";
  if (!positive(s.kernel) || !positive(s.stride) || !positive(s.dilation))
    return "window gradient: a kernel, stride or dilation is not positive";
  return nullptr;
}

int64_t image_floats(const PoolShape& s) { return s.batch * s.channels * volume(s.in); }
int64_t column_floats(const PoolShape& s) { return s.batch * s.channels * volume(s.kernel) * volume(s.out); }

const char* conv_violation(const ConvWeightGradArgs& args) {
  const ConvShape& s = args.shape;
  if (s.groups < 1) return "conv weight gradient: groups is not positive";
  if (s.groups != 1 && (s.in_channels != s.out_channels || s.in_channels % s.groups != 0 || args.plain_input))
    return "conv weight gradient: groups without as many outputs as inputs, or on a plain input";
  if (!is_flat(s)) return "conv weight gradient: images with depth";
  if (s.batch < 1 || s.in_channels < 1 || s.out_channels < 1 || !positive(s.in) || !positive(s.out))
    return "conv weight gradient: a size is not positive";
  if (!positive(s.kernel) || !positive(s.stride) || !positive(s.dilation))
    return "conv weight gradient: a kernel, stride or dilation is not positive";
  if (args.plain_input && s.kernel.width > 1 && s.dilation.width != 1) return "conv weight gradient: plain input with dilated columns";
  return is_aligned(args.sums, 256) ? nullptr : "conv weight gradient: sums is not 256-byte aligned";
}

const char* label_violation(const CrossEntropyArgs& args) {
  if (args.label_bytes != 4 && args.label_bytes != 8) return "cross entropy: label_bytes is neither 4 nor 8";
  if (args.batch < 0 || args.classes < 0 || args.inner < 0) return "cross entropy: a size is negative";
  if (args.batch * args.inner > 0 && (!args.labels || (!args.log_p && args.classes > 0))) return "cross entropy: log_p or labels is null";
  for (int64_t i = 0; i < args.batch * args.inner; ++i) {
    const int64_t label =
        args.label_bytes == 4 ? static_cast<const int32_t*>(args.labels)[i] : static_cast<const int64_t*>(args.labels)[i];
    if (!(args.has_ignore && label == args.ignore) && (label < 0 || label >= args.classes))
      return "cross entropy: a label is not one of the classes";
  }
  return nullptr;
}

/// `result` may be the array it is the new value of, and overlaps no other.
template <class Args>
const char* results_violation(const Args& args) {
  const Memory old[] = {floats(args.x, args.n), floats(args.v, args.n), floats(args.h, args.n), floats(args.g, args.n)};
  const Memory results[] = {floats(args.x_new, args.n), floats(args.v_new, args.n), floats(args.h_new, args.n)};
  for (int r = 0; r < 3; ++r) {
    for (int o = 0; o < 4; ++o)
      if (o == r ? cross(results[r], old[o]) : overlap(results[r], old[o]))
        return "optimizer: a result overlaps what it is not the new value of";
    for (int other = 0; other < r; ++other)
      if (overlap(results[r], results[other])) return "optimizer: results overlap";
  }
  return nullptr;
}

}  // namespace

const char* violation(const ActivationGradArgs& args) noexcept {
  if (args.n < 1 || !args.dy || !args.v || !args.dx) return "activation gradient: n is not positive, or dy, v or dx is null";
  const Memory dx = floats(args.dx, args.n);
  return cross(dx, floats(args.dy, args.n)) || cross(dx, floats(args.v, args.n))
             ? "activation gradient: dx overlaps dy or v and is not it"
             : nullptr;
}

const char* violation(const GatherGradArgs& args) noexcept {
  if (args.index_bytes != 4 && args.index_bytes != 8) return "gather gradient: index_bytes is neither 4 nor 8";
  if (args.outer < 0 || args.extent < 0 || args.inner < 0 || args.count < 0) return "gather gradient: a size is negative";
  if (args.outer * args.extent * args.inner == 0) return nullptr;
  if (!args.dx || (args.count > 0 && (!args.dy || !args.indices))) return "gather gradient: dy, indices or dx is null";
  const Memory dx = floats(args.dx, args.outer * args.extent * args.inner);
  return overlap(dx, floats(args.dy, args.outer * args.count * args.inner)) ? "gather gradient: dx overlaps dy" : nullptr;
}

const char* violation(const UnfoldArgs& args) noexcept {
  if (const char* broken = window_violation(args.shape)) return broken;
  if (!args.columns || (!args.x && image_floats(args.shape) > 0)) return "unfold: x or columns is null";
  const Memory columns = floats(args.columns, column_floats(args.shape));
  return overlap(columns, floats(args.x, image_floats(args.shape))) ? "unfold: columns overlaps x" : nullptr;
}

const char* violation(const FoldArgs& args) noexcept {
  if (const char* broken = window_violation(args.shape)) return broken;
  if (!args.dx || (!args.columns && column_floats(args.shape) > 0)) return "fold: columns or dx is null";
  const Memory dx = floats(args.dx, image_floats(args.shape));
  return overlap(dx, floats(args.columns, column_floats(args.shape))) ? "fold: dx overlaps columns" : nullptr;
}

const char* violation(const ConvWeightGradArgs& args) noexcept {
  if (!args.input || !args.dy) return "conv weight gradient: input or dy is null";
  if (!args.dw && !args.sums) return "conv weight gradient: neither sums nor dw is there";
  return conv_violation(args);
}

const char* finish_violation(const ConvWeightGradArgs& args) noexcept {
  if (!args.dw) return "conv weight gradient: dw is null";
  if (args.bias && !args.db) return "conv weight gradient: db is null";
  return conv_violation(args);
}

const char* violation(const PoolGradArgs& args) noexcept {
  if (const char* broken = window_violation(args.shape)) return broken;
  if (args.kind != PoolKind::kMax && args.kind != PoolKind::kAverage) return "pool gradient: kind is neither max nor average";
  if (!args.dx || (!args.dy && volume(args.shape.out) > 0)) return "pool gradient: dy or dx is null";
  if (args.kind == PoolKind::kMax && !args.x) return "pool gradient: x of max is null";
  return args.dx == args.dy || args.dx == args.x ? "pool gradient: dx is dy or x" : nullptr;
}

const char* violation(const RowNormGradArgs& args) noexcept {
  if (args.rows < 1 || args.n < 1 || args.rows_each < 1) return "row norm gradient: a size is not positive";
  if (!args.x || !args.dy || !args.scale || !args.mean || !args.inv_std)
    return "row norm gradient: x, dy, scale, mean or inv_std is null";
  const Memory dx = floats(args.dx, args.rows * args.n);
  if (cross(dx, floats(args.dy, args.rows * args.n))) return "row norm gradient: dx overlaps dy and is not dy";
  return overlap(dx, floats(args.x, args.rows * args.n)) ? "row norm gradient: dx overlaps x" : nullptr;
}

const char* violation(const ChannelGradSumsArgs& args) noexcept {
  if (args.batch < 0 || args.channels < 1 || args.spatial < 0) return "channel gradient sums: a size is negative, or no channels";
  if (args.batch * args.spatial > 0 && (!args.x || !args.dy)) return "channel gradient sums: x or dy is null";
  if (!args.mean || !args.inv_std || !args.sums) return "channel gradient sums: mean, inv_std or sums is null";
  if (!args.scale != !args.shift) return "channel gradient sums: one of scale and shift without the other";
  if (args.scale && args.y) return "channel gradient sums: a Relu told by scale and by y";
  if ((args.dy_more || args.masked) && !args.y) return "channel gradient sums: dy_more or masked without y";
  return nullptr;
}

const char* violation(const ChannelGradArgs& args) noexcept {
  if (args.batch < 0 || args.channels < 1 || args.spatial < 0) return "channel gradient: a size is negative, or no channels";
  if (args.batch * args.spatial > 0 && (!args.x || !args.dy || !args.dx)) return "channel gradient: x, dy or dx is null";
  if (!args.a || !args.b || !args.k) return "channel gradient: a, b or k is null";
  return !args.scale != !args.shift ? "channel gradient: one of scale and shift without the other" : nullptr;
}

const char* violation(const SoftmaxGradArgs& args) noexcept {
  if (args.outer < 0 || args.n < 0 || args.inner < 0) return "softmax gradient: a size is negative";
  const int64_t count = args.outer * args.n * args.inner;
  if (count > 0 && (!args.y || !args.dy || !args.dx)) return "softmax gradient: y, dy or dx is null";
  const Memory dx = floats(args.dx, count);
  return cross(dx, floats(args.dy, count)) || cross(dx, floats(args.y, count)) ? "softmax gradient: dx overlaps dy or y and is not it"
                                                                               : nullptr;
}

const char* violation(const CrossEntropyArgs& args) noexcept {
  if (const char* broken = label_violation(args)) return broken;
  return args.loss && args.loss == args.weight ? "cross entropy: loss is weight" : nullptr;
}

const char* violation(const CrossEntropyGradArgs& args) noexcept {
  if (const char* broken = label_violation(args.forward)) return broken;
  const int64_t count = args.forward.batch * args.forward.classes * args.forward.inner;
  if (count > 0 && (!args.k || !args.dx)) return "cross entropy gradient: k or dx is null";
  return cross(floats(args.dx, count), floats(args.forward.log_p, count)) ? "cross entropy gradient: dx overlaps log_p and is not it"
                                                                          : nullptr;
}

const char* violation(const OptimizerArgs& args) noexcept {
  if (args.n < 1 || !args.x || !args.g || !args.x_new) return "optimizer: n is not positive, or x, g or x_new is null";
  const bool has_v = args.rule == OptimizerRule::kAdam || (args.rule == OptimizerRule::kSgd && args.v);
  if (has_v && (!args.v || !args.v_new)) return "optimizer: v or v_new is null";
  if (args.rule != OptimizerRule::kSgd && (!args.h || !args.h_new)) return "optimizer: h or h_new is null";
  return results_violation(args);
}

const char* norms_violation(const LayerwiseArgs& args) noexcept {
  if (args.n < 1 || !args.x || !args.g || !args.partials) return "layerwise optimizer: n is not positive, or x, g or partials is null";
  if (args.rule == LayerwiseRule::kLamb && (!args.v || !args.v_new || !args.h || !args.h_new))
    return "layerwise optimizer: v, v_new, h or h_new is null";
  return results_violation(args);
}

const char* violation(const LayerwiseArgs& args) noexcept {
  if (const char* broken = norms_violation(args)) return broken;
  return !args.x_new || !args.v || !args.v_new ? "layerwise optimizer: v, v_new or x_new is null" : nullptr;
}

}  // namespace svengine::kernels
