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
SVENGINE_INLINE vi flipped(vi x, int64_t flip) { return vxor_int(x, vdup_int(int32_t(flip))); }
SVENGINE_INLINE vl flipped(vl x, int64_t flip) { return sveor_x(svptrue_b64(), x, svdup_s64(flip)); }

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

// What takes entries in the order of their indices: a heap of the first k that is replaced from its root, or candidates. One function for all
// types, for it is the longer part of the code.
class Best {
 public:
  Best(Entry* memory, int64_t k, int64_t n) : heap_(memory), k_(k), candidates_(memory, k, n) {}

  /// Keys that are not above this one are not wanted.
  SVENGINE_INLINE int64_t floor() const { return is_heap() ? (count_ < k_ ? INT64_MIN : heap_[0].key) : candidates_.floor(); }

  [[gnu::noinline]] void take(const Entry* entries, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (!is_heap()) {
        candidates_.add(entries[i]);
      } else if (count_ == k_) {
        offer(heap_, k_, entries[i]);
      } else {
        heap_[count_++] = entries[i];
        for (int64_t at = k_ / 2 - 1; count_ == k_ && at >= 0; --at) sift_down(heap_, k_, at);
      }
    }
  }

  /// All that were kept, best first.
  [[gnu::noinline]] const Entry* sorted() {
    if (!is_heap()) return candidates_.sorted();
    for (int64_t left = k_; left > 1; --left) {  // the worst goes last
      const Entry worst = heap_[0];
      heap_[0] = heap_[left - 1];
      sift_down(heap_, left - 1, 0);
      heap_[left - 1] = worst;
    }
    return heap_;
  }

 private:
  SVENGINE_INLINE bool is_heap() const { return k_ < kCollected; }

  Entry* heap_;
  int64_t k_, count_ = 0;  // of the heap
  Candidates candidates_;
};

// Keys that ascend as elements are better, in lanes as wide as the elements: flip is 0 where the largest are wanted, else all bits. NaN is then
// the last of all.
template <class V>
SVENGINE_INLINE auto lane_keys(V x, int64_t flip) {
  return flipped(ascending_keys(x), flip);
}

// Offers elements whose keys are above the floor, and perhaps some others: whole vectors of a contiguous line that have none are passed
// over, those of others are picked without a branch, which their values would decide.
template <class T>
[[gnu::noinline]] void offer_line(const T* x, int64_t n, int64_t flip, Best& best) {
  using K = Key<T>;
  for (int64_t i = 0; i < n; i += kLanesOf<T>) {
    const vb p = lanes_below<K>(i, n);
    const int64_t floor = best.floor();
    const K least = sizeof(K) == 8 ? K(floor) : K(larger(floor, INT32_MIN));
    const Vec<K> key = lane_keys(Vec<T>(svld1(p, x + i)), flip);
    const bool all = floor == INT64_MIN;  // the first ones, whatever they are
    if (!all && !svptest_any(p, svcmpgt(p, key, repeated<K>(least)))) continue;
    K keys[kLanesOf<T>];
    svst1(every<K>(), keys, key);
    Entry picked[kLanesOf<T> + 1];
    const int64_t here = smaller(kLanesOf<T>, n - i);
    int64_t count = 0;
#pragma GCC unroll 1
    for (int64_t j = 0; j < here; ++j) {
      picked[count] = {keys[j], i + j};
      count += all || keys[j] > least;
    }
    best.take(picked, count);
  }
}

template <class T>
[[gnu::noinline]] void offer_column(const T* x, int64_t n, int64_t stride, int64_t flip, Best& best) {
  for (int64_t i = 0; i < n; ++i) {
    const Entry entry{ascending_key(x[i * stride]) ^ flip, i};
    const int64_t floor = best.floor();
    if (entry.key > floor || floor == INT64_MIN) best.take(&entry, 1);
  }
}

template <class T>
void top_k_lines(const TopKArgs& args, int64_t begin, int64_t end, Entry* memory) {
  const int64_t flip = args.largest ? 0 : -1;
  for (int64_t line = begin; line < end; ++line) {
    const int64_t o = line / args.inner, i = line % args.inner;
    const T* x = static_cast<const T*>(args.x) + o * args.n * args.inner + i;
    T* values = static_cast<T*>(args.values) + o * args.k * args.inner + i;
    int64_t* indices = args.indices + o * args.k * args.inner + i;
    Best best(memory, args.k, args.n);
    if (args.inner == 1)
      offer_line(x, args.n, flip, best);
    else
      offer_column(x, args.n, args.inner, flip, best);
    const Entry* const sorted = best.sorted();
#pragma GCC unroll 1
    for (int64_t j = 0; j < args.k; ++j) {
      indices[j * args.inner] = sorted[j].index;
      values[j * args.inner] = x[sorted[j].index * args.inner];
    }
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
