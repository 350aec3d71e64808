// NonZero in two passes: count per task, then every task writes from the sum of the counts before it.
#include "engine/kernels/sve/data/element.h"
#include "engine/kernels/sve/data/kernels.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int64_t kChunk = 16384;  // elements of a task

int64_t elements(const NonZeroArgs& args) {
  int64_t product = 1;
  for (int d = 0; d < args.rank; ++d) product *= args.extent[d];
  return product;
}

// A float is zero when all of its bits but the sign are.
template <class T>
T significant_bits(const NonZeroArgs& args) {
  return args.floating ? T(T(~T(0)) >> 1) : T(~T(0));
}

template <class T>
int64_t count_chunk(const T* x, int64_t n, T mask) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += (x[i] & mask) != 0;
  return count;
}

template <class T>
void fill_chunk(const NonZeroArgs& args, Odometer<1>& position, int64_t first, int64_t last, int64_t at) {
  const T* x = static_cast<const T*>(args.x);
  const T mask = significant_bits<T>(args);
  position.seek(first);
  for (int64_t i = first; i < last; ++i, position.next()) {
    if ((x[i] & mask) == 0) continue;
    for (int d = 0; d < args.rank; ++d) args.y[d * args.total + at] = position.index(d);
    ++at;
  }
}

}  // namespace

int64_t nonzero_count_tasks(const NonZeroArgs& args) noexcept { return ceil_div(elements(args), kChunk); }
int64_t nonzero_fill_tasks(const NonZeroArgs& args) noexcept { return nonzero_count_tasks(args); }

void nonzero_count_run(const NonZeroArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t total = elements(args);
  dispatch_bytes(args.element_bytes, [&]<class T>() {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task * kChunk;
      args.counts[task] = count_chunk(static_cast<const T*>(args.x) + first, smaller(kChunk, total - first),
                                        significant_bits<T>(args));
    }
  });
}

void nonzero_fill_run(const NonZeroArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t total = elements(args);
  Odometer<1> position;
  for (int d = 0; d < args.rank; ++d) position.add(args.extent[d], {0});
  int64_t at = 0;
  for (int64_t task = 0; task < begin; ++task) at += args.counts[task];
  for (int64_t task = begin; task < end; ++task) {
    dispatch_bytes(args.element_bytes, [&]<class T>() {
      fill_chunk<T>(args, position, task * kChunk, smaller(total, (task + 1) * kChunk), at);
    });
    at += args.counts[task];
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
