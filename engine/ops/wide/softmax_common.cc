// Softmax, its logarithm and hardmax, and losses, in float64.
#include <cmath>

#include "engine/kernels/softmax.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/loss/loss_common.h"
#include "engine/ops/wide/items.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops::wide {
namespace {

/// Where the first maximum of n values `apart` is; the first NaN counts as one.
int64_t first_maximum(const double* x, int64_t n, int64_t apart) {
  int64_t best = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(x[i * apart])) return i;
    if (x[i * apart] > x[best * apart]) best = i;
  }
  return best;
}

void emit_hardmax(LowerContext& c, int64_t outer, int64_t n, int64_t inner, Buffer out) {
  emit_items(c, "hardmax", outer * inner, items_of_work(n), [=, in = c.in(0)](const Run& run, int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t at = line / inner * n * inner + line % inner;
      const int64_t best = first_maximum(run.get<const double>(in) + at, n, inner);
      for (int64_t i = 0; i < n; ++i) run.get<double>(out)[at + i * inner] = i == best ? 1 : 0;
    }
  });
}

/// One label's loss and weight, as kernels/cross_entropy.h has them.
struct LabelLoss {
  double loss = 0, weight = 0;
};

LabelLoss label_loss(const kernels::CrossEntropyArgs& args, const double* log_p, int64_t label, const double* weights) {
  if (args.has_ignore && label == args.ignore) return {};
  const double weight = weights ? weights[label] : 1, smoothing = args.smoothing;
  LabelLoss result{-(1 - smoothing) * weight * log_p[label * args.inner], weight};
  if (smoothing == 0) return result;
  double all = 0;
  for (int64_t k = 0; k < args.classes; ++k) all += (weights ? weights[k] : 1) * log_p[k * args.inner];
  result.loss -= smoothing / static_cast<double>(args.classes) * all;
  return result;
}

}  // namespace

void emit_softmax(LowerContext& c, SoftmaxKind kind, int64_t outer, int64_t n, int64_t inner, Buffer out) {
  if (outer == 0 || n == 0 || inner == 0) return;
  if (kind == SoftmaxKind::hardmax) return emit_hardmax(c, outer, n, inner, out);
  const bool log = kind == SoftmaxKind::log_softmax;
  const kernels::SoftmaxKernels& softmax = *c.kernels().softmax;
  emit_kernel(c, log ? "log_softmax" : "softmax", log ? softmax.log_softmax_f64 : softmax.softmax_f64,
              kernels::SoftmaxArgsF64{nullptr, nullptr, outer, n, inner, n * inner, n * inner},
              [in = c.in(0), out](kernels::SoftmaxArgsF64& args, const Run& run) {
                args.x = run.get<const double>(in);
                args.y = run.get<double>(out);
              });
}

void emit_loss(LowerContext& c, Buffer log_p) {
  const kernels::CrossEntropyArgs args = cross_entropy_args(c, 0);
  const int64_t count = args.batch * args.inner;
  const std::string reduction = c.attributes().get_string("reduction", "mean");
  const Buffer labels = c.in(1), weights = c.has_input(2) ? c.in(2) : Buffer{};
  const bool each = reduction == "none", mean = reduction == "mean";
  const Buffer losses = each ? c.out() : c.temporary(count * 8), used = c.temporary(count * 8);
  emit_items(c, "cross_entropy", count, items_of_work(args.smoothing != 0 ? args.classes : 1),
             [=](const Run& run, int64_t begin, int64_t end) {
               for (int64_t i = begin; i < end; ++i) {
                 const int64_t label =
                     args.label_bytes == 8 ? run.get<const int64_t>(labels)[i] : run.get<const int32_t>(labels)[i];
                 const double* from = run.get<const double>(log_p) + i / args.inner * args.classes * args.inner + i % args.inner;
                 const LabelLoss one = label_loss(args, from, label, run.get<const double>(weights));
                 run.get<double>(losses)[i] = one.loss;
                 run.get<double>(used)[i] = one.weight;
               }
             });
  if (each) return;
  emit_items(c, "loss_total", 1, 1, [=, out = c.out()](const Run& run, int64_t, int64_t) {
    double loss = 0, weight = 0;
    for (int64_t i = 0; i < count; ++i) loss += run.get<const double>(losses)[i], weight += run.get<const double>(used)[i];
    *run.get<double>(out) = mean ? loss / weight : loss;
  });
}

}  // namespace svengine::ops::wide
