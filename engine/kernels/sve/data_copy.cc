// Strided copy. The last dimension (n long) and, for transpositions, one more (m long) are walked here, the others by an
// odometer. Which of the forms applies follows from the strides alone:
//
//   rows         destination contiguous along n; source contiguous (vectors), constant (broadcast) or strided (gathers)
//   transposed   destination contiguous along n, source along m: squares in registers, 64 x 64 elements at a time, so that
//                whole cache lines of both sides are used while they are in the L1
//   scattered    anything else, element by element
#include "engine/kernels/sve/data_kernels.h"
#include "engine/kernels/sve/data_tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

enum class Form { kContiguous, kConstant, kGathered, kTransposed, kScattered };

constexpr int64_t kSquare = 64;       // elements on a side of what one step of a transposition moves
constexpr int64_t kChunk = 16384;     // elements of a long row that one item copies
constexpr int64_t kNarrow = 4;        // with fewer destination rows than this, gathering them beats transposing

struct Shape {
  Form form = Form::kScattered;
  Odometer<2> others;             // offsets 0: source, 1: destination
  int64_t outer = 1;              // positions of `others`
  int64_t n = 1, m = 1;
  int64_t src_n = 0, dst_n = 0;   // strides along n
  int64_t src_m = 0, dst_m = 0;
  int64_t n_steps = 1, m_steps = 1;
  int64_t n_step = 1;             // elements of n that an item covers

  int64_t items() const { return outer * m_steps * n_steps; }
  TaskCut cut() const { return TaskCut(items(), form == Form::kTransposed ? kSquare * kSquare : n_step); }
};

// The dimension along which the source is contiguous while the destination is not, or -1.
int transposed_dimension(const CopyArgs& args) {
  const int last = args.rank - 1;
  if (args.dst_stride[last] != 1 || args.src_stride[last] == 1 || args.src_stride[last] == 0) return -1;
  for (int d = 0; d < last; ++d)
    if (args.src_stride[d] == 1 && args.extent[d] >= kNarrow && args.extent[last] >= 2) return d;
  return -1;
}

Form row_form(const Shape& shape) {
  if (shape.dst_n != 1 && shape.n > 1) return Form::kScattered;
  if (shape.src_n == 1 || shape.n == 1) return Form::kContiguous;
  return shape.src_n == 0 ? Form::kConstant : Form::kGathered;
}

Shape shape_of(const CopyArgs& args) {
  Shape shape;
  if (args.rank == 0) {
    shape.form = Form::kContiguous;
    return shape;
  }
  const int last = args.rank - 1, turned = transposed_dimension(args);
  shape.n = args.extent[last];
  shape.src_n = args.src_stride[last];
  shape.dst_n = args.dst_stride[last];
  for (int d = 0; d < last; ++d)
    if (d != turned) shape.others.add(args.extent[d], {args.src_stride[d], args.dst_stride[d]});
  shape.outer = shape.others.positions();
  if (turned >= 0) {
    shape.form = Form::kTransposed;
    shape.m = args.extent[turned];
    shape.src_m = args.src_stride[turned];
    shape.dst_m = args.dst_stride[turned];
    shape.m_steps = ceil_div(shape.m, kSquare);
    shape.n_step = kSquare;
  } else {
    shape.form = row_form(shape);
    shape.n_step = larger(1, smaller(shape.n, kChunk));
  }
  shape.n_steps = ceil_div(shape.n, shape.n_step);
  return shape;
}

// dst[i] = src[i * stride]
template <class T>
void gather_row(T* dst, const T* src, int64_t stride, int64_t n) {
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

template <class T>
void copy_row(const Shape& shape, T* dst, const T* src, int64_t n) {
  switch (shape.form) {
    case Form::kContiguous: return copy_elements(dst, src, n);
    case Form::kConstant: return fill_elements(dst, *src, n);
    case Form::kGathered: return gather_row(dst, src, shape.src_n, n);
    case Form::kTransposed:
    case Form::kScattered:
      for (int64_t i = 0; i < n; ++i) dst[i * shape.dst_n] = src[i * shape.src_n];
  }
}

// dst[j * dst_m + i] = src[i * src_n + j] for i < n, j < m: at most kSquare each.
template <class T>
void copy_square(const Shape& shape, T* dst, const T* src, int64_t n, int64_t m) {
  constexpr int kSize = Tile<T>::kSize;
  for (int64_t j = 0; j < m; j += kSize)
    for (int64_t i = 0; i < n; i += kSize) {
      const int64_t rows = smaller(kSize, n - i), columns = smaller(kSize, m - j);
      transpose_tile(dst + j * shape.dst_m + i, shape.dst_m, src + i * shape.src_n + j, shape.src_n, rows, columns, rows);
    }
}

template <class T>
void copy_items(Shape& shape, T* dst, const T* src, int64_t begin, int64_t end) {
  const int64_t steps = shape.m_steps * shape.n_steps;
  if (begin >= end) return;
  shape.others.seek(begin / steps);
  int64_t step = begin % steps;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t j = step / shape.n_steps * kSquare, i = step % shape.n_steps * shape.n_step;
    const int64_t n = smaller(shape.n_step, shape.n - i);
    const T* from = src + shape.others.offset(0) + i * shape.src_n;
    T* to = dst + shape.others.offset(1) + i * shape.dst_n;
    if (shape.form == Form::kTransposed) {
      copy_square(shape, to + j * shape.dst_m, from + j, n, smaller(kSquare, shape.m - j));
    } else {
      copy_row(shape, to, from, n);
    }
    if (++step == steps) {
      step = 0;
      shape.others.next();
    }
  }
}

}  // namespace

int64_t copy_tasks(const CopyArgs& args) noexcept { return shape_of(args).cut().tasks(); }

void copy_run(const CopyArgs& args, int64_t begin, int64_t end, void*) noexcept {
  Shape shape = shape_of(args);
  const TaskCut cut = shape.cut();
  dispatch_bytes(args.element_bytes, [&]<class T>() {
    copy_items(shape, static_cast<T*>(args.dst), static_cast<const T*>(args.src), cut.begin(begin), cut.begin(end));
  });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
