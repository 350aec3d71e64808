// Arg max and arg min. Elements compare as integer keys in vectors, each lane keeping its best key and where it stood; the
// lanes are compared at the end. Short lines, and all those of doubles, go as many at a time as a vector has lanes, which are
// then compared for all of them at once. Lines of 64-bit integers go element by element.
#include "engine/kernels/sve/line_folds.h"
#include "engine/kernels/sve/reduce/order_key.h"
#include "engine/kernels/sve/reduce/shape.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int kChains = 4;

// A chunk of columns, or one line where inner is 1.
TaskPartition arg_cut(const ArgReduceArgs& args) {
  const int64_t column_chunks = args.inner == 1 ? 1 : ceil_div(args.inner, kLanes);
  return TaskPartition(args.outer * column_chunks, args.n * smaller(args.inner, kLanes));
}

template <bool kLargest>
SVENGINE_INLINE vi key_of(vf x) {
  return order_key<kLargest>(x);
}
template <bool kLargest>
SVENGINE_INLINE vi key_of(vi x) {
  return kLargest ? x : vxor_int(x, vdup_int(-1));
}

template <bool kLargest>
SVENGINE_INLINE vl key_of(vd x) {
  return order_key<kLargest>(x);
}
template <bool kLargest>
SVENGINE_INLINE vl key_of(vl x) {
  return kLargest ? x : vl(sveor_x(svptrue_b64(), x, svdup_s64(-1)));
}
template <bool kLast, class V>
SVENGINE_INLINE vb better(vb p, V key, V best) {
  return kLast ? vb(svcmpge(p, key, best)) : vb(svcmpgt(p, key, best));
}

// Keys start from the lowest integer at position 0: if nothing is better, everything equals it, and 0 is the first.
template <bool kLargest, bool kLast, class T>
  requires(sizeof(T) == 4)
int64_t best_of_line(const T* x, int64_t n) {
  const vb all = svptrue_b32();
  vi best[kChains], where[kChains];
  for (int u = 0; u < kChains; ++u) {
    best[u] = vdup_int(INT32_MIN);
    where[u] = vdup_int(0);
  }
  for (int64_t i = 0; i < n; i += kChains * kLanes) {
    SVENGINE_UNROLL
    for (int u = 0; u < kChains; ++u) {
      const int64_t at = i + u * kLanes;
      const vb p = svwhilelt_b32(at, n);
      const vi key = key_of<kLargest>(svld1(p, x + at));
      const vb take = better<kLast>(p, key, best[u]);
      best[u] = svsel(take, key, best[u]);
      where[u] = svsel(take, svindex_s32(int32_t(at), 1), where[u]);
    }
  }
  int32_t top = INT32_MIN, position = kLast ? 0 : INT32_MAX;
  for (int u = 0; u < kChains; ++u) {
    const int32_t key = svmaxv(all, best[u]);
    if (key < top) continue;
    const vb here = svcmpeq(all, best[u], vdup_int(key));
    const int32_t found = kLast ? svmaxv(here, where[u]) : svminv(here, where[u]);
    if (key > top || (kLast ? found > position : found < position)) position = found;
    top = key;
  }
  return position;
}

template <class T>
constexpr bool kTogether = true;
template <>
inline constexpr bool kTogether<int64_t> = false;  // compared as fast one by one

constexpr int64_t kShort = 4 * kLanes;  // elements of a line of a 32-bit type that is short
constexpr int kFewLines = 2;            // so many of them go one by one, in less than two folds

template <int kBytes>
struct KeyOf {
  using Type = int32_t;
  SVENGINE_INLINE static vi places(int64_t first) { return svindex_s32(int32_t(first), 1); }
  SVENGINE_INLINE static vi multiples(int64_t step) { return svindex_s32(0, int32_t(step)); }
};
template <>
struct KeyOf<8> {
  using Type = int64_t;
  SVENGINE_INLINE static vl places(int64_t first) { return svindex_s64(first, 1); }
  SVENGINE_INLINE static vl multiples(int64_t step) { return svindex_s64(0, step); }
};

template <class T>
using Key = typename KeyOf<sizeof(T)>::Type;

template <class K>
struct BestOfLanes {
  LineVectors<K> key, where;
};

// Every line's lanes, each with its best key and where that stood. As in best_of_line(), keys start from the lowest at position 0.
template <bool kLargest, bool kLast, class T>
[[gnu::noinline]] void best_of_lanes(const T* x, int64_t n, int lines, BestOfLanes<Key<T>>& lanes) {
  using K = Key<T>;
  const K lowest = sizeof(K) == 8 ? K(INT64_MIN) : K(INT32_MIN);
  for (int r = 0; r < lines; ++r) {
    Vec<K> best = repeated<K>(lowest), where = repeated<K>(0);
    for (int64_t i = 0; i < n; i += kLanesOf<K>) {
      const vb p = lanes_below<K>(i, n);
      const Vec<K> key = key_of<kLargest>(Vec<T>(svld1(p, x + r * n + i)));
      const vb take = better<kLast>(p, key, best);
      best = svsel(take, key, best);
      where = svsel(take, KeyOf<sizeof(T)>::places(i), where);
    }
    svst1(every<K>(), lanes.key.line(r), best);
    svst1(every<K>(), lanes.where.line(r), where);
  }
}

// y[r] = where the best of line r stands, the first or last of several.
template <bool kLast, class K>
[[gnu::noinline]] void best_of_each(BestOfLanes<K>& lanes, int64_t* y, int lines) {
  using V = Vec<K>;
  const vb all = every<K>();
  const auto larger_of = [all](V a, V b) SVENGINE_INLINE_LAMBDA -> V { return svmax_x(all, a, b); };
  const auto smaller_of = [all](V a, V b) SVENGINE_INLINE_LAMBDA -> V { return svmin_x(all, a, b); };
  K top[kLanesOf<K>], place[kLanesOf<K>];
  svst1(all, top, fold<FoldOrder::kHalves>(lanes.key, larger_of));
  for (int r = 0; r < lines; ++r) {  // a lane counts where it has the line's best
    const vb here = svcmpeq(all, V(svld1(all, lanes.key.line(r))), repeated<K>(top[r]));
    const V where = svld1(all, lanes.where.line(r)), nowhere = repeated<K>(kLast ? K(-1) : K(INT32_MAX));
    svst1(all, lanes.where.line(r), svsel(here, where, nowhere));
  }
  if constexpr (kLast)
    svst1(all, place, fold<FoldOrder::kHalves>(lanes.where, larger_of));
  else
    svst1(all, place, fold<FoldOrder::kHalves>(lanes.where, smaller_of));
  for (int r = 0; r < lines; ++r) y[r] = place[r];
}

// What best_of_line() gives of each.
template <bool kLargest, bool kLast, class T>
void best_of_lines(const T* x, int64_t* y, int64_t n, int64_t count) {
  BestOfLanes<Key<T>> lanes;
  for (int64_t first = 0; first < count; first += kLanesOf<T>) {
    const int lines = int(smaller(kLanesOf<T>, count - first));
    best_of_lanes<kLargest, kLast>(x + first * n, n, lines, lanes);
    best_of_each<kLast>(lanes, y + first, lines);
  }
}

constexpr int64_t kGathered = 4;  // lines of so few elements are columns, whose neighbours are a line apart

// y[c] of `columns` columns, `lane` elements apart, of n elements `step` apart.
template <bool kLast, class T>
[[gnu::noinline, gnu::noclone]] void best_of_columns(bool largest, const T* x, int64_t* y, int64_t n, int64_t step, int64_t lane, int64_t columns) {
  using K = Key<T>;
  const auto places = KeyOf<sizeof(T)>::multiples(lane);
  for (int64_t first = 0; first < columns; first += kLanesOf<T>) {
    const vb p = lanes_below<K>(first, columns);
    Vec<K> best = repeated<K>(sizeof(K) == 8 ? K(INT64_MIN) : K(INT32_MIN)), where = repeated<K>(0);
    for (int64_t j = 0; j < n; ++j) {
      const T* from = x + first * lane + j * step;
      const Vec<T> v = lane == 1 ? Vec<T>(svld1(p, from)) : Vec<T>(svld1_gather_index(p, from, places));
      const Vec<K> key = largest ? key_of<true>(v) : key_of<false>(v);
      const vb take = better<kLast>(p, key, best);
      best = svsel(take, key, best);
      where = svsel(take, repeated<K>(K(j)), where);
    }
    K found[kLanesOf<K>];
    svst1(every<K>(), found, where);
    const int64_t here = smaller(kLanesOf<T>, columns - first);
#pragma GCC unroll 1
    for (int64_t c = 0; c < here; ++c) y[first + c] = found[c];
  }
}

// Of a line of 64-bit integers, element by element.
template <bool kLargest, bool kLast>
int64_t best_of_line(const int64_t* x, int64_t n) {
  int64_t where = 0;
  for (int64_t j = 1; j < n; ++j) {
    const bool above = kLargest ? x[j] > x[where] : x[j] < x[where];
    if (above || (kLast && x[j] == x[where])) where = j;
  }
  return where;
}

template <bool kLargest, bool kLast, class T>
void arg_items(const ArgReduceArgs& args, int64_t begin, int64_t end) {
  const int64_t n = args.n, count = end - begin;
  if (args.inner == 1) {
    const T* x = static_cast<const T*>(args.x) + begin * n;
    int64_t* y = args.y + begin;
    if (n <= kGathered) return best_of_columns<kLast>(kLargest, x, y, n, 1, n, count);
    if constexpr (kTogether<T> && sizeof(T) == 8) {
      return best_of_lines<kLargest, kLast>(x, y, n, count);
    } else {
      if constexpr (kTogether<T>) {
        if (n <= kShort && count > kFewLines) return best_of_lines<kLargest, kLast>(x, y, n, count);
      }
      for (int64_t line = 0; line < count; ++line) y[line] = best_of_line<kLargest, kLast>(x + line * n, n);
      return;
    }
  }
  const int64_t column_chunks = ceil_div(args.inner, kLanes);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t o = item / column_chunks, c = item % column_chunks * kLanes, columns = smaller(kLanes, args.inner - c);
    const T* x = static_cast<const T*>(args.x) + o * n * args.inner + c;
    best_of_columns<kLast>(kLargest, x, args.y + o * args.inner + c, n, args.inner, 1, columns);
  }
}

template <bool kLargest, bool kLast>
void arg_types(const ArgReduceArgs& args, int64_t begin, int64_t end) {
  switch (args.type) {
    case DType::f32:
      return arg_items<kLargest, kLast, float>(args, begin, end);
    case DType::f64:
      return arg_items<kLargest, kLast, double>(args, begin, end);
    case DType::i32:
      return arg_items<kLargest, kLast, int32_t>(args, begin, end);
    case DType::i64:
      return arg_items<kLargest, kLast, int64_t>(args, begin, end);
    default:
      return;  // contract: reduce.h
  }
}

}  // namespace

int64_t arg_reduce_tasks(const ArgReduceArgs& args) noexcept { return arg_cut(args).tasks(); }

void arg_reduce_run(const ArgReduceArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition = arg_cut(args);
  const int64_t first = partition.begin(begin), last = partition.begin(end);
  if (args.largest) {
    if (args.select_last)
      arg_types<true, true>(args, first, last);
    else
      arg_types<true, false>(args, first, last);
  } else {
    if (args.select_last)
      arg_types<false, true>(args, first, last);
    else
      arg_types<false, false>(args, first, last);
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
