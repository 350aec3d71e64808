// Rows added up where they came from; see gather_grad.h.
#include "engine/kernels/gather_grad.h"

#include "engine/kernels/sve/gradient/kernels.h"
#include "engine/kernels/sve/reduction_loops.h"
#include "engine/kernels/sve/tasks.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

/// Floats a task owns: looking through the indices costs it little beside zeroing them.
constexpr int64_t kOwned = int64_t{1} << 18;

int64_t rows_each(const GatherGradArgs& args) { return larger(1, kOwned / larger(1, args.inner)); }

void zero(float* y, int64_t n) {
  for_each_vector<8>(n, [y](int64_t i, vb p) SVENGINE_INLINE_LAMBDA { svst1(p, y + i, vdup(0.0f)); });
}

void add(const float* x, float* y, int64_t n) {
  for_each_vector<4>(n,
                     [x, y](int64_t i, vb p) SVENGINE_INLINE_LAMBDA { svst1(p, y + i, vadd(svld1(p, y + i), svld1(p, x + i))); });
}

/// Rows [first, last) of the matrix dx.
template <class Index>
void add_rows(const GatherGradArgs& args, const float* dy, float* dx, int64_t first, int64_t last) {
  const Index* indices = static_cast<const Index*>(args.indices);
  zero(dx + first * args.inner, (last - first) * args.inner);
  for (int64_t k = 0; k < args.count; ++k) {
    const int64_t index = indices[k] < 0 ? indices[k] + args.extent : indices[k];
    if (index < first || index >= last) continue;
    if (args.inner == 1)
      dx[index] += dy[k];
    else
      add(dy + k * args.inner, dx + index * args.inner, args.inner);
  }
}

}  // namespace

int64_t gather_grad_tasks(const GatherGradArgs& args) noexcept {
  return args.inner > 0 ? args.outer * ceil_div(args.extent, rows_each(args)) : 0;
}

void gather_grad_run(const GatherGradArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t rows = rows_each(args), parts = ceil_div(args.extent, rows);
  for (int64_t task = begin; task < end; ++task) {
    const int64_t outer = task / parts, first = task % parts * rows, last = smaller(args.extent, first + rows);
    const float* dy = args.dy + outer * args.count * args.inner;
    float* dx = args.dx + outer * args.extent * args.inner;
    if (args.index_bytes == 8)
      add_rows<int64_t>(args, dy, dx, first, last);
    else
      add_rows<int32_t>(args, dy, dx, first, last);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
