// Softmax and log-softmax along contiguous lines, also of masked attention scores.
//
// Three passes over a line: maximum, exponentials and their sum, scaling. Everything about lines and their tails is in
// rows.h. The scores of attention are computed anew in each pass (one multiply-add) rather than stored.
#include "engine/kernels/softmax.h"

#include "engine/kernels/sve/math.h"
#include "engine/kernels/sve/rows.h"
#include "engine/kernels/sve/softmax_middle.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

// y = softmax(score(i, predicate)), where `score` may read y's own elements: those of i before they are written.
template <class Score>
SVENGINE_INLINE void softmax_line(int64_t n, float* y, const Score& score) {
  const vf maximum = vdup(line_max<8>(n, score));
  const float sum = line_sum<4>(n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf e = vexp(vsub(score(i, p), maximum));
    svst1(p, y + i, e);
    return e;
  });
  const vf factor = vdup(1.0f / sum);
  for_each_vector<8>(n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    const vf e = svld1(p, y + i);
    svst1(p, y + i, vmul(e, factor));
  });
}

SVENGINE_INLINE float scalar_log(float x) {
  const vf l = vlog(vdup(x));
  return svlastb(svptrue_b32(), l);
}

SVENGINE_INLINE void log_softmax_line(const float* x, float* y, int64_t n) {
  const auto load = [x](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf { return svld1(p, x + i); };
  const vf maximum = vdup(line_max<8>(n, load));
  const float sum = line_sum<4>(
      n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf { return vexp(vsub(load(i, p), maximum)); });
  const vf log_sum = vdup(scalar_log(sum));
  for_each_vector<8>(n, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
    svst1(p, y + i, vsub(vsub(load(i, p), maximum), log_sum));
  });
}

template <bool kLog>
int64_t tasks(const SoftmaxArgs& args) noexcept {
  return args.inner == 1 ? TaskCut(args.outer, args.n).tasks() : softmax_middle_tasks(args);
}

template <bool kLog>
void run(const SoftmaxArgs& args, int64_t begin, int64_t end, void*) noexcept {
  if (args.inner != 1) return softmax_middle<kLog>(args, begin, end);
  const TaskCut cut(args.outer, args.n);
  for (int64_t row = cut.begin(begin); row < cut.begin(end); ++row) {
    const float* x = args.x + row * args.x_outer_stride;
    float* y = args.y + row * args.y_outer_stride;
    if constexpr (kLog) {
      log_softmax_line(x, y, args.n);
    } else {
      softmax_line(args.n, y, [x](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf { return svld1(p, x + i); });
    }
  }
}

struct AttentionLine {
  const float* x;
  const float* mask;
  float* y;
};

AttentionLine attention_line(const AttentionSoftmaxArgs& args, int64_t line) {
  const int64_t row = line % args.rows, batch = line / args.rows;
  const int64_t index[3] = {batch / args.batch1, batch % args.batch1, row};
  AttentionLine at{args.x, args.mask, args.y};
  for (int d = 0; d < 3; ++d) {
    at.x += index[d] * args.x_stride[d];
    at.y += index[d] * args.y_stride[d];
    if (at.mask) at.mask += index[d] * args.mask_stride[d];
  }
  return at;
}

int64_t attention_tasks(const AttentionSoftmaxArgs& args) noexcept {
  return TaskCut(args.batch0 * args.batch1 * args.rows, args.n).tasks();
}

void attention_run(const AttentionSoftmaxArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskCut cut(args.batch0 * args.batch1 * args.rows, args.n);
  const vf scale = vdup(args.scale);
  for (int64_t line = cut.begin(begin); line < cut.begin(end); ++line) {
    const AttentionLine at = attention_line(args, line);
    if (at.mask) {
      softmax_line(args.n, at.y, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf {
        const vf x = svld1(p, at.x + i);
        const vf mask = svld1(p, at.mask + i);
        return vfma(x, scale, mask);
      });
    } else {
      softmax_line(args.n, at.y, [&](int64_t i, vb p) SVENGINE_INLINE_LAMBDA -> vf {
        const vf x = svld1(p, at.x + i);
        return vmul(x, scale);
      });
    }
  }
}

}  // namespace

extern const SoftmaxKernels softmax_kernels;
const SoftmaxKernels softmax_kernels{{tasks<false>, no_scratch, run<false>},
                                     {tasks<true>, no_scratch, run<true>},
                                     {softmax_middle_tasks, no_scratch, hardmax},
                                     {attention_tasks, no_scratch, attention_run}};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
