// Top-k of a line: a heap of the k best so far with the worst of them at its root. Most elements of a long line are
// worse than the root, which a vector comparison sees at once; the heap is then sorted. Elements compare as integer
// keys, equal keys by index, so the order is total. Where k is large, candidates are collected instead (candidates.h).
//
//            worst                 heap[0]
//           /     \                heap[1], heap[2]     each entry is worse than its children
//        ...       ...
#include "engine/kernels/sve/reduce/candidates.h"
#include "engine/kernels/sve/element.h"
#include "engine/kernels/sve/reduce/order_key.h"
#include "engine/kernels/sve/reduce/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

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

template <class T>
struct KeyOf {
  using Type = T;
};
template <>
struct KeyOf<float> {
  using Type = int32_t;
};
template <>
struct KeyOf<double> {
  using Type = int64_t;
};
template <class T>
using Key = typename KeyOf<T>::Type;

SVENGINE_INLINE vi ascending_keys(vf x) { return order_key<true>(x); }
SVENGINE_INLINE vl ascending_keys(vd x) { return order_key<true>(x); }
SVENGINE_INLINE vi ascending_keys(vi x) { return x; }
SVENGINE_INLINE vl ascending_keys(vl x) { return x; }
SVENGINE_INLINE vi flipped(vi x) { return vxor_int(x, vdup_int(-1)); }
SVENGINE_INLINE vl flipped(vl x) { return sveor_x(svptrue_b64(), x, svdup_s64(-1)); }

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

// The keys of entry_of() in lanes as wide as the elements.
template <bool kLargest, class V>
SVENGINE_INLINE auto lane_keys(V x) {
  const auto ascending = ascending_keys(x);
  return kLargest ? ascending : flipped(ascending);  // NaN: last of all when the smallest are wanted
}

// Calls offer(entry) for the elements from `first` on whose keys are above what floor() says: whole vectors of a contiguous line that have none
// are passed over. Those of others are picked without a branch, which their values would decide.
template <bool kLargest, class T, class Floor, class Offer>
SVENGINE_INLINE void for_candidates(const TopKArgs& args, const T* x, int64_t first, const Floor& floor, const Offer& offer) {
  if (args.inner != 1) {
    for (int64_t i = first; i < args.n; ++i) offer(entry_of<kLargest>(x, args.inner, i));
    return;
  }
  using K = Key<T>;
  for (int64_t i = first; i < args.n; i += kLanesOf<T>) {
    const vb p = lanes_below<K>(i, args.n);
    const K least = sizeof(K) == 8 ? K(floor()) : K(larger(floor(), INT32_MIN));
    const Vec<K> key = lane_keys<kLargest>(Vec<T>(svld1(p, x + i)));
    if (!svptest_any(p, svcmpgt(p, key, repeated<K>(least)))) continue;
    K keys[kLanesOf<T>];
    svst1(every<K>(), keys, key);
    const int64_t here = smaller(kLanesOf<T>, args.n - i);
    int32_t picked[kLanesOf<T> + 1];
    int64_t count = 0;
    for (int64_t j = 0; j < here; ++j) {
      picked[count] = int32_t(j);
      count += keys[j] > least;
    }
    for (int64_t c = 0; c < count; ++c) offer(Entry{keys[picked[c]], i + picked[c]});
  }
}

template <bool kLargest, class T>
void fill_heap(const TopKArgs& args, Entry* heap, const T* x) {
  const int64_t k = args.k;
  for (int64_t i = 0; i < k; ++i) heap[i] = entry_of<kLargest>(x, args.inner, i);
  for (int64_t i = k / 2 - 1; i >= 0; --i) sift_down(heap, k, i);
  for_candidates<kLargest>(
      args, x, k, [&]() SVENGINE_INLINE_LAMBDA { return heap[0].key; },
      [&](Entry entry) SVENGINE_INLINE_LAMBDA { offer(heap, k, entry); });
}

template <bool kLargest, class T>
void collect(const TopKArgs& args, Candidates& candidates, const T* x) {
  const auto add = [&](Entry entry) SVENGINE_INLINE_LAMBDA { candidates.add(entry); };
  for (int64_t i = 0; i < args.k; ++i) add(entry_of<kLargest>(x, args.inner, i));
  for_candidates<kLargest>(args, x, args.k, [&]() SVENGINE_INLINE_LAMBDA { return candidates.floor(); }, add);
}

// The entries of heap[0..k), best first.
void sort_heap(Entry* heap, int64_t k) {
  for (int64_t left = k; left > 1; --left) {  // the worst goes last
    const Entry worst = heap[0];
    heap[0] = heap[left - 1];
    sift_down(heap, left - 1, 0);
    heap[left - 1] = worst;
  }
}

template <bool kLargest, class T>
void top_k_line(const TopKArgs& args, Entry* entries, const T* x, T* values, int64_t* indices) {
  const Entry* best = entries;
  if (args.k < kCollected) {
    fill_heap<kLargest>(args, entries, x);
    sort_heap(entries, args.k);
  } else {
    Candidates candidates(entries, args.k, args.n);
    collect<kLargest>(args, candidates, x);
    best = candidates.sorted();
  }
  for (int64_t i = 0; i < args.k; ++i) {
    indices[i * args.inner] = best[i].index;
    values[i * args.inner] = x[best[i].index * args.inner];
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

int64_t top_k_scratch(const TopKArgs& args) noexcept {
  return (args.k < kCollected ? args.k : Candidates::entries(args.k, args.n)) * int64_t(sizeof(Entry));
}

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
