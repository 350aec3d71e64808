// Top-k of a line: a heap of the k best so far with the worst of them at its root. Most elements of a long line are
// worse than the root, which a vector comparison sees at once; the heap is then sorted. Elements compare as integer
// keys, equal keys by index, so the order is total.
//
//            worst                 heap[0]
//           /     \                heap[1], heap[2]     each entry is worse than its children
//        ...       ...
#include "engine/kernels/sve/reduce/order_key.h"
#include "engine/kernels/sve/reduce/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

struct Entry {
  int64_t key;
  int64_t index;
};

inline bool worse(const Entry& a, const Entry& b) { return a.key != b.key ? a.key < b.key : a.index > b.index; }

// Ascending in x, NaN above all, -0 equal to +0.
inline int64_t ascending_key(float x) {
  if (x != x) return INT32_MAX;
  const int32_t bits = __builtin_bit_cast(int32_t, x + 0.0f);
  return bits ^ ((bits >> 31) & INT32_MAX);
}
inline int64_t ascending_key(double x) {
  if (x != x) return INT64_MAX;
  const int64_t bits = __builtin_bit_cast(int64_t, x + 0.0);
  return bits ^ ((bits >> 63) & INT64_MAX);
}
inline int64_t ascending_key(int32_t x) { return x; }
inline int64_t ascending_key(int64_t x) { return x; }

void sift_down(Entry* heap, int64_t size, int64_t at) {
  const Entry entry = heap[at];
  for (int64_t child; (child = 2 * at + 1) < size; at = child) {
    if (child + 1 < size && worse(heap[child + 1], heap[child])) ++child;
    if (!worse(heap[child], entry)) break;
    heap[at] = heap[child];
  }
  heap[at] = entry;
}

inline void offer(Entry* heap, int64_t size, Entry entry) {
  if (!worse(heap[0], entry)) return;
  heap[0] = entry;
  sift_down(heap, size, 0);
}

template <bool kLargest, class T>
inline Entry entry_of(const T* x, int64_t stride, int64_t i) {
  const int64_t key = ascending_key(x[i * stride]);
  return {kLargest ? key : ~key, i};
}

// Elements from `first` on, of a contiguous line of floats: whole vectors that cannot enter the heap are passed over.
template <bool kLargest>
void offer_floats(Entry* heap, int64_t k, const float* x, int64_t first, int64_t n) {
  for (int64_t i = first; i < n; i += kLanes) {
    const vb p = svwhilelt_b32(i, n);
    const vf v = svld1(p, x + i);
    const vi ascending = order_key<true>(v);
    const vi key =
        kLargest ? ascending : vxor_int(ascending, vdup_int(-1));  // NaN: last of all when the smallest are wanted
    if (!svptest_any(p, svcmpgt(p, key, vdup_int(int32_t(heap[0].key))))) continue;
    for (int64_t j = i; j < smaller(n, i + kLanes); ++j) offer(heap, k, entry_of<kLargest>(x, 1, j));
  }
}

template <bool kLargest, class T>
void top_k_line(const TopKArgs& args, Entry* heap, const T* x, T* values, int64_t* indices) {
  const int64_t k = args.k;
  for (int64_t i = 0; i < k; ++i) heap[i] = entry_of<kLargest>(x, args.inner, i);
  for (int64_t i = k / 2 - 1; i >= 0; --i) sift_down(heap, k, i);
  bool done = false;
  if constexpr (sizeof(T) == 4 && T(0.5) != 0) {
    if (args.inner == 1) {
      offer_floats<kLargest>(heap, k, x, k, args.n);
      done = true;
    }
  }
  if (!done)
    for (int64_t i = k; i < args.n; ++i) offer(heap, k, entry_of<kLargest>(x, args.inner, i));
  for (int64_t left = k; left > 0; --left) {  // the worst goes last
    const int64_t to = (left - 1) * args.inner;
    indices[to] = heap[0].index;
    values[to] = x[heap[0].index * args.inner];
    heap[0] = heap[left - 1];
    if (left > 1) sift_down(heap, left - 1, 0);
  }
}

template <class T>
void top_k_lines(const TopKArgs& args, int64_t begin, int64_t end, Entry* heap) {
  for (int64_t line = begin; line < end; ++line) {
    const int64_t o = line / args.inner, i = line % args.inner;
    const T* x = static_cast<const T*>(args.x) + o * args.n * args.inner + i;
    T* values = static_cast<T*>(args.values) + o * args.k * args.inner + i;
    int64_t* indices = args.indices + o * args.k * args.inner + i;
    if (args.largest)
      top_k_line<true>(args, heap, x, values, indices);
    else
      top_k_line<false>(args, heap, x, values, indices);
  }
}

TaskPartition top_k_cut(const TopKArgs& args) { return TaskPartition(args.outer * args.inner, args.n); }

}  // namespace

int64_t top_k_tasks(const TopKArgs& args) noexcept { return args.k > 0 ? top_k_cut(args).tasks() : 0; }

int64_t top_k_scratch(const TopKArgs& args) noexcept { return args.k * int64_t(sizeof(Entry)); }

void top_k_run(const TopKArgs& args, int64_t begin, int64_t end, void* scratch) noexcept {
  const TaskPartition partition = top_k_cut(args);
  const int64_t first = partition.begin(begin), last = partition.begin(end);
  Entry* heap = static_cast<Entry*>(scratch);
  switch (args.type) {
    case DType::f32:
      return top_k_lines<float>(args, first, last, heap);
    case DType::f64:
      return top_k_lines<double>(args, first, last, heap);
    case DType::i32:
      return top_k_lines<int32_t>(args, first, last, heap);
    case DType::i64:
      return top_k_lines<int64_t>(args, first, last, heap);
    default:
      return;  // contract: reduce.h
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
