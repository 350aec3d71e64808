// Strided copy. The last dimension (n long) and, for transpositions, one more (m long) are walked here, the others by
// an odometer. Which of the patterns applies follows from the strides alone:
//
//   repeated     rows that stand in the destination one after the other, all from one row of the source: written once and doubled there
//   rows         destination contiguous along n; source contiguous (vectors), constant (broadcast) or strided (gathers)
//   transposed   destination contiguous along n, source along m: squares in registers, 64 x 64 elements at a time, so
//                that whole cache lines of both sides are used while they are in the L1
//   joined       the same with n of at most 8 and nothing between the rows of the destination (narrow.h)
//   split        the same with m of at most 8 and nothing between the rows of the source
//   scattered    anything else, element by element
#include "engine/kernels/sve/data/kernels.h"
#include "engine/kernels/sve/data/narrow.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

enum class CopyPattern { kContiguous, kRepeated, kConstant, kGathered, kTransposed, kJoined, kSplit, kScattered };

constexpr int64_t kSquare = 64;    // elements on a side of what one step of a transposition moves
constexpr int64_t kChunk = 16384;  // elements of a long row that one item copies
constexpr int64_t kFewRows = 4;    // with fewer destination rows than this, gathering them beats transposing

struct Shape {
  CopyPattern pattern = CopyPattern::kScattered;
  Odometer<2> others;  // offsets 0: source, 1: destination
  int64_t outer = 1;   // positions of `others`
  int64_t n = 1, m = 1;
  int64_t src_n = 0, dst_n = 0;  // strides along n
  int64_t src_m = 0, dst_m = 0;
  int64_t n_steps = 1, m_steps = 1;
  int64_t n_step = 1, m_step = 1;  // elements of n and m that an item covers
  int64_t period = 1;              // of a row that is repeated: n is that of all repetitions

  bool transposes() const { return pattern == CopyPattern::kTransposed || pattern == CopyPattern::kJoined || pattern == CopyPattern::kSplit; }
  int64_t items() const { return outer * m_steps * n_steps; }
  TaskPartition partition() const { return TaskPartition(items(), smaller(n, n_step) * (transposes() ? smaller(m, m_step) : 1)); }
};

// The dimension along which the source is contiguous while the destination is not, or -1.
int transposed_dimension(const CopyArgs& args) {
  const int last = args.rank - 1;
  if (args.dst_stride[last] != 1 || args.src_stride[last] == 1 || args.src_stride[last] == 0 || args.extent[last] < 2) return -1;
  for (int d = 0; d < last; ++d) {
    const bool split = args.src_stride[last] == args.extent[d] && is_narrow(args.extent[d], args.element_bytes, false);
    if (args.src_stride[d] == 1 && (args.extent[d] >= kFewRows || split)) return d;
  }
  return -1;
}

CopyPattern row_pattern(const Shape& shape) {
  if (shape.dst_n != 1 && shape.n > 1) return CopyPattern::kScattered;
  if (shape.src_n == 1 || shape.n == 1) return CopyPattern::kContiguous;
  return shape.src_n == 0 ? CopyPattern::kConstant : CopyPattern::kGathered;
}

// Whether the last dimension but one repeats rows of the last.
bool repeats_rows(const CopyArgs& args) {
  const int last = args.rank - 1;
  return last > 0 && args.src_stride[last] == 1 && args.dst_stride[last] == 1 && args.src_stride[last - 1] == 0 &&
         args.dst_stride[last - 1] == args.extent[last] && args.extent[last] > 0 && args.extent[last] <= kChunk;
}

Shape shape_of(const CopyArgs& args) {
  Shape shape;
  if (args.rank == 0) {
    shape.pattern = CopyPattern::kContiguous;
    return shape;
  }
  const bool repeats = repeats_rows(args);
  const int last = args.rank - 1, transposed = transposed_dimension(args);
  shape.n = args.extent[last];
  shape.src_n = args.src_stride[last];
  shape.dst_n = args.dst_stride[last];
  for (int d = 0; d < last; ++d)
    if (d != transposed && !(repeats && d == last - 1)) shape.others.add(args.extent[d], {args.src_stride[d], args.dst_stride[d]});
  shape.outer = shape.others.positions();
  if (transposed >= 0) {
    shape.m = args.extent[transposed];
    shape.src_m = args.src_stride[transposed];
    shape.dst_m = args.dst_stride[transposed];
    const bool joined = shape.dst_m == shape.n && is_narrow(shape.n, args.element_bytes, true);
    const bool split = !joined && shape.src_n == shape.m && is_narrow(shape.m, args.element_bytes, false);
    shape.pattern = joined ? CopyPattern::kJoined : split ? CopyPattern::kSplit : CopyPattern::kTransposed;
    shape.m_step = joined ? kChunk : kSquare;
    shape.m_steps = ceil_div(shape.m, shape.m_step);
    shape.n_step = split ? kChunk : kSquare;
  } else if (repeats) {
    shape.pattern = CopyPattern::kRepeated;
    shape.period = shape.n;
    shape.n *= args.extent[last - 1];
    shape.src_n = 0;
    shape.n_step = kChunk / shape.period * shape.period;
  } else {
    shape.pattern = row_pattern(shape);
    shape.n_step = larger(1, smaller(shape.n, kChunk));
  }
  shape.n_steps = ceil_div(shape.n, shape.n_step);
  return shape;
}

// dst[i] = src[-i]
template <class T>
[[gnu::noinline]] void reverse_row(T* dst, const T* src, int64_t n) {
  constexpr int kSize = SquareTile<T>::kSize;
  int64_t i = 0;
#pragma GCC unroll 1
  for (; i + kSize <= n; i += kSize)
    store_lanes(SquareTile<T>::all(), dst + i, typename SquareTile<T>::V(svrev(load_lanes(SquareTile<T>::all(), src - i - (kSize - 1)))));
  for (; i < n; ++i) dst[i] = src[-i];
}

// dst[i] = src[i * stride]
template <class T>
void gather_row(T* dst, const T* src, int64_t stride, int64_t n) {
  if constexpr (sizeof(T) >= 4) {
    if (stride == -1) return reverse_row(dst, src, n);
  }
  constexpr int64_t kFar = int64_t(1) << 26;  // a vector's worth of indices still fits 32 bits
  if constexpr (sizeof(T) == 4) {
    if (stride < kFar && stride > -kFar) {
      const vi index = svindex_s32(0, int32_t(stride));
      const int32_t* from = reinterpret_cast<const int32_t*>(src);
      int32_t* to = reinterpret_cast<int32_t*>(dst);
      return for_each_vector<4>(n, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
        svst1(p, to + i, svld1_gather_index(p, from + i * stride, index));
      });
    }
  }
  for (int64_t i = 0; i < n; ++i) dst[i] = src[i * stride];
}

// dst[i] = src[i % period]
template <class T>
[[gnu::noinline]] void repeat_row(T* dst, const T* src, int64_t period, int64_t n) {
  for (int64_t done = 0, count = period; done < n; count = smaller(done, n - done)) {
    copy_elements(dst + done, src, count);
    done += count;
    src = dst;
  }
}

template <class T>
void copy_row(const Shape& shape, T* dst, const T* src, int64_t n) {
  switch (shape.pattern) {
    case CopyPattern::kContiguous:
      return copy_elements(dst, src, n);
    case CopyPattern::kRepeated:
      return repeat_row(dst, src, shape.period, n);
    case CopyPattern::kConstant:
      return fill_elements(dst, *src, n);
    case CopyPattern::kGathered:
      return gather_row(dst, src, shape.src_n, n);
    case CopyPattern::kTransposed:
    case CopyPattern::kJoined:
    case CopyPattern::kSplit:
    case CopyPattern::kScattered:
      for (int64_t i = 0; i < n; ++i) dst[i * shape.dst_n] = src[i * shape.src_n];
  }
}

// dst[j * dst_m + i] = src[i * src_n + j] for i < n, j < m: at most kSquare each.
template <class T>
void copy_square(const Shape& shape, T* dst, const T* src, int64_t n, int64_t m) {
  constexpr int kSize = SquareTile<T>::kSize;
  for (int64_t j = 0; j < m; j += kSize)
    for (int64_t i = 0; i < n; i += kSize) {
      const int64_t rows = smaller(kSize, n - i), columns = smaller(kSize, m - j);
      transpose_tile(dst + j * shape.dst_m + i, shape.dst_m, src + i * shape.src_n + j, shape.src_n, rows, columns,
                     rows);
    }
}

// The same of bytes: four rows at a time, and those that are left one after the other.
[[gnu::noinline]] void copy_square(const Shape& shape, uint8_t* dst, const uint8_t* src, int64_t n, int64_t m) {
  const int64_t quads = n / 4, src_n = shape.src_n, dst_m = shape.dst_m;
  for (int64_t j = 0; j < m; j += kLanes)
    for (int64_t q = 0; q < quads; q += kLanes) {
      const int64_t count = smaller(kLanes, quads - q), columns = smaller(kLanes, m - j);
      uint8_t* to = dst + j * dst_m + 4 * q;
      const uint8_t* from = src + 4 * q * src_n + j;
      if (count <= 4)
        transpose_quads<4>(to, dst_m, from, src_n, count, columns);
      else if (kLanes > 8 && count <= 8)
        transpose_quads<8>(to, dst_m, from, src_n, count, columns);
      else
        transpose_quads<kLanes>(to, dst_m, from, src_n, count, columns);
    }
  for (int64_t i = 4 * quads; i < n; ++i) {
#pragma GCC unroll 1
    for (int64_t j = 0; j < m; ++j) dst[j * dst_m + i] = src[i * src_n + j];
  }
}

template <class T>
void copy_item(const Shape& shape, const NarrowIndex<T>& gaps, T* dst, const T* src, int64_t n, int64_t m) {
  switch (shape.pattern) {
    case CopyPattern::kTransposed:
      return copy_square(shape, dst, src, n, m);
    case CopyPattern::kJoined:
      if constexpr (sizeof(T) != 2) dispatch_narrow<T>(n, [&]<int kRows>() { join_lines<kRows>(gaps, dst, src, shape.src_n, n, m); });
      return;
    case CopyPattern::kSplit:
      if constexpr (sizeof(T) != 2 && sizeof(T) != 8)
        dispatch_narrow<T>(m, [&]<int kRows>() { split_lines<kRows>(gaps, dst, shape.dst_m, src, m, n); });
      return;
    default:
      return copy_row(shape, dst, src, n);
  }
}

template <class T>
void copy_items(Shape& shape, T* dst, const T* src, int64_t begin, int64_t end) {
  if (begin >= end) return;
  const int64_t steps = shape.m_steps * shape.n_steps;
  const bool joined = shape.pattern == CopyPattern::kJoined;
  const NarrowIndex<T> gaps(joined ? shape.n : narrow_rows(shape.m, sizeof(T)), joined ? narrow_rows(shape.n, sizeof(T)) : shape.m);
  shape.others.seek(begin / steps);
  int64_t j = begin % steps / shape.n_steps * shape.m_step, i = begin % shape.n_steps * shape.n_step;
  for (int64_t item = begin; item < end; ++item) {
    const T* from = src + shape.others.offset(0) + i * shape.src_n + j * shape.src_m;
    T* to = dst + shape.others.offset(1) + i * shape.dst_n + j * shape.dst_m;
    copy_item(shape, gaps, to, from, smaller(shape.n_step, shape.n - i), smaller(shape.m_step, shape.m - j));
    i += shape.n_step;
    if (i < shape.n) continue;
    i = 0;
    j += shape.m_step;
    if (j < shape.m) continue;
    j = 0;
    shape.others.next();
  }
}

}  // namespace

int64_t copy_tasks(const CopyArgs& args) noexcept { return shape_of(args).partition().tasks(); }

void copy_run(const CopyArgs& args, int64_t begin, int64_t end, void*) noexcept {
  Shape shape = shape_of(args);
  const TaskPartition partition = shape.partition();
  dispatch_bytes(args.element_bytes, [&]<class T>() {
    copy_items(shape, static_cast<T*>(args.dst), static_cast<const T*>(args.src), partition.begin(begin), partition.begin(end));
  });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
