// Cross entropy and its gradient, by the formulas of cross_entropy.h, one position at a time.
#include <cmath>

#include "engine/kernels/reference/set/gradient.h"
#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"

namespace svengine::kernels::reference {
namespace {

/// One position: where its log-probabilities start, its label, whether it counts.
struct Position {
  int64_t first, label;
  bool ignored;
};

Position position_of(const CrossEntropyArgs& args, int64_t item) {
  const int64_t label = integer_at(args.labels, args.label_bytes, item);
  return {item / args.inner * args.classes * args.inner + item % args.inner, label, args.has_ignore && label == args.ignore};
}

double weight_of(const CrossEntropyArgs& args, int64_t c) { return args.class_weights ? args.class_weights[c] : 1; }

double target(const CrossEntropyArgs& args, int64_t label, int64_t c) {
  const double smoothing = args.smoothing;
  return weight_of(args, c) * ((c == label ? 1 - smoothing : 0) + smoothing / static_cast<double>(args.classes));
}

}  // namespace

int64_t cross_entropy_items(const CrossEntropyArgs& args) { return args.batch * args.inner; }

void cross_entropy_range(const CrossEntropyArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const Position p = position_of(args, item);
    double loss = 0;
    for (int64_t c = 0; c < args.classes && !p.ignored && args.loss; ++c) {
      // Without smoothing other classes are no part of the sum: their log-probabilities may be -infinity.
      if (args.smoothing == 0 && c != p.label) continue;
      loss -= target(args, p.label, c) * args.log_p[p.first + c * args.inner];
    }
    if (args.loss) args.loss[item] = static_cast<float>(loss);
    if (args.weight) args.weight[item] = p.ignored ? 0.0f : static_cast<float>(weight_of(args, p.label));
  }
}

int64_t cross_entropy_grad_items(const CrossEntropyGradArgs& args) { return cross_entropy_items(args.forward); }

void cross_entropy_grad_range(const CrossEntropyGradArgs& args, int64_t begin, int64_t end, void*) {
  const CrossEntropyArgs& a = args.forward;
  for (int64_t item = begin; item < end; ++item) {
    const Position p = position_of(a, item);
    const double k = args.k_each ? args.k[item] : args.k[0];
    double total = 0;
    for (int64_t c = 0; c < a.classes && args.of_scores && !p.ignored; ++c) total += target(a, p.label, c);
    for (int64_t c = 0; c < a.classes; ++c) {
      const int64_t at = p.first + c * a.inner;
      double dx = 0;
      if (!p.ignored) dx = k * ((args.of_scores ? std::exp(double{a.log_p[at]}) * total : 0) - target(a, p.label, c));
      args.dx[at] = static_cast<float>(dx);
    }
  }
}

}  // namespace svengine::kernels::reference
