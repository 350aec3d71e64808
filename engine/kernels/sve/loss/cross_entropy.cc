// Cross entropy; cross_entropy.h has the formulas. With inner = 1 a position's classes are a line, and vectors go along it; else
// a vector is kLanes neighbouring positions, and classes are walked in steps of `inner`. What concerns the label alone is one
// element a position and done one by one.
#include "engine/kernels/cross_entropy.h"

#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/math/math.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

/// Up to kLanes positions next to each other: one where inner = 1.
struct Group {
  int64_t position, first;  // of the first: among positions, and its element of class 0
  int64_t count;
};

int64_t groups_each(const CrossEntropyArgs& args) { return ceil_div(args.inner, kLanes); }

Group group_of(const CrossEntropyArgs& args, int64_t index) {
  const int64_t batch = index / groups_each(args), inner = index % groups_each(args) * kLanes;
  return {batch * args.inner + inner, batch * args.classes * args.inner + inner, smaller(kLanes, args.inner - inner)};
}

TaskPartition partition_of(const CrossEntropyArgs& args, bool all_classes) {
  return TaskPartition(args.batch * groups_each(args), (args.inner == 1 ? 1 : kLanes) * (all_classes ? args.classes : 1));
}

int64_t label_at(const CrossEntropyArgs& args, int64_t position) {
  return args.label_bytes == 8 ? static_cast<const int64_t*>(args.labels)[position]
                               : static_cast<const int32_t*>(args.labels)[position];
}

bool ignored(const CrossEntropyArgs& args, int64_t label) { return args.has_ignore && label == args.ignore; }

float weight_of(const CrossEntropyArgs& args, int64_t label) { return args.class_weights ? args.class_weights[label] : 1.0f; }

/// sums[i] = sum over c of w_c log_p_c of the group's positions.
void weighted_sums(const CrossEntropyArgs& args, const Group& g, float (&sums)[kLanes]) {
  const float *x = args.log_p + g.first, *w = args.class_weights;
  if (args.inner == 1) {
    sums[0] = line_sum<4>(args.classes, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf {
      const vf v = svld1(p, x + i);
      return w ? vmul(v, svld1(p, w + i)) : v;
    });
    return;
  }
  const vb lanes = svwhilelt_b32(int64_t{0}, g.count);
  vf high = vdup(0.0f), low = vdup(0.0f);
  for (int64_t c = 0; c < args.classes; ++c) two_sum(high, low, vmul(svld1(lanes, x + c * args.inner), vdup(w ? w[c] : 1.0f)));
  svst1(svptrue_b32(), sums, compensated(high, low));
}

void forward_group(const CrossEntropyArgs& args, const Group& g) {
  float sums[kLanes] = {};
  const bool smooth = args.smoothing != 0 && args.loss;
  if (smooth) weighted_sums(args, g, sums);
  const float share = args.smoothing / float(args.classes);
  for (int64_t i = 0; i < g.count; ++i) {
    const int64_t label = label_at(args, g.position + i);
    const bool skip = ignored(args, label);
    const float w = skip ? 0.0f : weight_of(args, label);
    if (args.weight) args.weight[g.position + i] = w;
    if (!args.loss) continue;
    const float at_label = skip ? 0.0f : args.log_p[g.first + label * args.inner + i];
    args.loss[g.position + i] = skip ? 0.0f : -((1 - args.smoothing) * w * at_label + share * sums[i]);
  }
}

/// What a group's gradients are made of, position by position: k and k times the sum of targets; zeros where ignored.
struct Factors {
  float k[kLanes] = {}, total[kLanes] = {};
};

Factors factors_of(const CrossEntropyGradArgs& args, const Group& g, float all_weights) {
  Factors f;
  const CrossEntropyArgs& a = args.forward;
  for (int64_t i = 0; i < g.count; ++i) {
    const int64_t label = label_at(a, g.position + i);
    if (ignored(a, label)) continue;
    f.k[i] = args.k_each ? args.k[g.position + i] : args.k[0];
    const float target = (1 - a.smoothing) * weight_of(a, label) + a.smoothing / float(a.classes) * all_weights;
    f.total[i] = args.of_scores ? f.k[i] * target : 0.0f;
  }
  return f;
}

/// exp(log_p) total - k w s / classes, before the label's own share. With respect to log_p, which may be any numbers then, there
/// is no first term.
template <bool kOfScores>
SVENGINE_INLINE vf common_part(vf log_p, vf total, vf smooth) {
  return kOfScores ? vfma(vexp(log_p), total, vneg(smooth)) : vneg(smooth);
}

template <bool kOfScores>
void backward_group(const CrossEntropyGradArgs& args, const Group& g, float all_weights) {
  const CrossEntropyArgs& a = args.forward;
  const Factors f = factors_of(args, g, all_weights);
  const float share = a.smoothing / float(a.classes), *w = a.class_weights, *x = a.log_p + g.first;
  float* dx = args.dx + g.first;
  if (a.inner == 1) {
    const vf total = vdup(f.total[0]), k = vdup(f.k[0] * share);
    for_each_vector<4>(a.classes, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
      svst1(p, dx + i, common_part<kOfScores>(svld1(p, x + i), total, w ? vmul(k, svld1(p, w + i)) : k));
    });
  } else {
    const vb lanes = svwhilelt_b32(int64_t{0}, g.count);
    const vf total = svld1(svptrue_b32(), f.total), k = vmul(svld1(svptrue_b32(), f.k), vdup(share));
    for (int64_t c = 0; c < a.classes; ++c)
      svst1(lanes, dx + c * a.inner,
            common_part<kOfScores>(svld1(lanes, x + c * a.inner), total, vmul(k, vdup(w ? w[c] : 1.0f))));
  }
  for (int64_t i = 0; i < g.count; ++i) {
    const int64_t label = label_at(a, g.position + i);
    if (!ignored(a, label)) dx[label * a.inner + i] -= f.k[i] * (1 - a.smoothing) * weight_of(a, label);
  }
}

}  // namespace

int64_t cross_entropy_tasks(const CrossEntropyArgs& args) noexcept { return partition_of(args, args.smoothing != 0).tasks(); }

void cross_entropy_run(const CrossEntropyArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = partition_of(args, args.smoothing != 0);
  for (int64_t i = partition.begin(begin); i < partition.begin(end); ++i) forward_group(args, group_of(args, i));
}

int64_t cross_entropy_grad_tasks(const CrossEntropyGradArgs& args) noexcept { return partition_of(args.forward, true).tasks(); }

void cross_entropy_grad_run(const CrossEntropyGradArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const CrossEntropyArgs& a = args.forward;
  const float* w = a.class_weights;
  float all = float(a.classes);
  if (w) all = line_sum<4>(a.classes, [w](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf { return svld1(p, w + i); });
  const TaskPartition partition = partition_of(a, true);
  for (int64_t i = partition.begin(begin); i < partition.begin(end); ++i) {
    if (args.of_scores)
      backward_group<true>(args, group_of(a, i), all);
    else
      backward_group<false>(args, group_of(a, i), all);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
