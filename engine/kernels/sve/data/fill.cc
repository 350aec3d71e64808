// Kernels that write patterns: constants, one-hot vectors, triangles.
#include "engine/kernels/sve/data/element.h"
#include "engine/kernels/sve/data/kernels.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int64_t kFillChunk = 16384;

// Where inner is 1, an item is one vector of `depth`; otherwise one row of `inner`.
TaskPartition one_hot_partition(const OneHotArgs& args) {
  return args.inner == 1 ? TaskPartition(args.outer, args.depth) : TaskPartition(args.outer * args.depth, args.inner);
}

template <class T, class Index>
void one_hot_items(const OneHotArgs& args, int64_t begin, int64_t end) {
  const Index* indices = static_cast<const Index*>(args.indices);
  T* y = static_cast<T*>(args.y);
  const T on = T(args.on), off = T(args.off);
  if (args.inner == 1) {
    for (int64_t o = begin; o < end; ++o) {
      fill_elements(y + o * args.depth, off, args.depth);
      const int64_t index = indices[o] < 0 ? indices[o] + args.depth : int64_t(indices[o]);
      if (index >= 0 && index < args.depth) y[o * args.depth + index] = on;
    }
    return;
  }
  for (int64_t row = begin; row < end; ++row) {
    const int64_t d = row % args.depth;
    const Index *from = indices + row / args.depth * args.inner, below = Index(d - args.depth), above = Index(d);
    for (int64_t i = 0; i < args.inner; ++i) y[row * args.inner + i] = from[i] == above || from[i] == below ? on : off;
  }
}

template <class T>
void trilu_rows(const TriluArgs& args, int64_t begin, int64_t end) {
  const T* x = static_cast<const T*>(args.x);
  T* y = static_cast<T*>(args.y);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t diagonal = row % args.rows + args.k + (args.upper ? 0 : 1);
    const int64_t split = larger(0, smaller(args.columns, diagonal)), at = row * args.columns;
    const int64_t keep_begin = args.upper ? split : 0, keep_end = args.upper ? args.columns : split;
    if (x != y) copy_elements(y + at + keep_begin, x + at + keep_begin, keep_end - keep_begin);
    if (args.upper)
      fill_elements(y + at, T(0), split);
    else
      fill_elements(y + at + split, T(0), args.columns - split);
  }
}

}  // namespace

int64_t fill_tasks(const FillArgs& args) noexcept { return ceil_div(args.count, kFillChunk); }

void fill_run(const FillArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t first = begin * kFillChunk, last = smaller(args.count, end * kFillChunk);
  dispatch_bytes(args.element_bytes,
                 [&]<class T>() { fill_elements(static_cast<T*>(args.dst) + first, T(args.value), last - first); });
}

int64_t one_hot_tasks(const OneHotArgs& args) noexcept { return args.depth > 0 ? one_hot_partition(args).tasks() : 0; }

void one_hot_run(const OneHotArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = one_hot_partition(args);
  dispatch_bytes(args.element_bytes, [&]<class T>() {
    dispatch_index(args.index_bytes,
                   [&]<class Index>() { one_hot_items<T, Index>(args, partition.begin(begin), partition.begin(end)); });
  });
}

int64_t trilu_tasks(const TriluArgs& args) noexcept { return TaskPartition(args.batch * args.rows, args.columns).tasks(); }

void trilu_run(const TriluArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition(args.batch * args.rows, args.columns);
  dispatch_bytes(args.element_bytes, [&]<class T>() { trilu_rows<T>(args, partition.begin(begin), partition.begin(end)); });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
