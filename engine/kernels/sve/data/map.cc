// Copies whose source positions stand in one table per dimension: padding and nearest-neighbour resizing.
#include "engine/kernels/sve/data/element.h"
#include "engine/kernels/sve/data/kernels.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

struct Rows {
  int64_t rows = 1, n = 1, stride = 1;
  const int32_t* map = nullptr;

  explicit Rows(const MapArgs& args) {
    if (args.rank == 0) return;
    for (int d = 0; d < args.rank - 1; ++d) rows *= args.extent[d];
    n = args.extent[args.rank - 1];
    stride = args.src_stride[args.rank - 1];
    map = args.map[args.rank - 1];
  }
  TaskPartition partition() const { return TaskPartition(rows, n); }
};

// Rows in order: where the source of one begins, or -1 when all of it is `value`. What the dimensions outside the rows' own give is
// added up where one of them moves.
class RowSources {
 public:
  RowSources(const MapArgs& args, int64_t row) : args_(args) {
    for (int d = args.rank - 2; d >= 0; --d) {
      index_[d] = row % args.extent[d];
      row /= args.extent[d];
    }
    add_outer();
  }
  int64_t offset() const {
    if (args_.rank < 2) return 0;
    const int d = args_.rank - 2;
    const int64_t position = args_.map[d][index_[d]];
    return position < 0 || outer_ < 0 ? -1 : outer_ + position * args_.src_stride[d];
  }
  void next() {
    const int last = args_.rank - 2;
    if (last < 0 || ++index_[last] < args_.extent[last]) return;
    index_[last] = 0;
#pragma GCC unroll 1
    for (int d = last - 1; d >= 0; --d) {
      if (++index_[d] < args_.extent[d]) break;
      index_[d] = 0;
    }
    add_outer();
  }

 private:
  void add_outer() {
    outer_ = 0;
    for (int d = 0; d < args_.rank - 2; ++d) {
      const int64_t position = args_.map[d][index_[d]];
      if (position < 0) {
        outer_ = -1;
        return;
      }
      outer_ += position * args_.src_stride[d];
    }
  }

  const MapArgs& args_;
  int64_t index_[kMaxDims] = {};
  int64_t outer_ = 0;
};

template <class T>
void look_up(T* dst, const T* src, const Rows& rows, int64_t begin, int64_t end, T value) {
  const int32_t* map = rows.map;
  if constexpr (sizeof(T) == 4) {
    if (rows.stride == 1 && end - begin >= kLanes) {
      const int32_t* from = reinterpret_cast<const int32_t*>(src);
      int32_t* to = reinterpret_cast<int32_t*>(dst);
      return for_each_vector<4>(end - begin, [=](int64_t i, vb p) SVENGINE_INLINE_LAMBDA {
        const vi index = svld1(p, map + begin + i);
        const vb exists = svcmpge(p, index, vdup_int(0));
        const vi v = svld1_gather_index(exists, from, index);
        svst1(p, to + begin + i, svsel(exists, v, vdup_int(int32_t(value))));
      });
    }
  }
  for (int64_t i = begin; i < end; ++i) dst[i] = map[i] < 0 ? value : src[map[i] * rows.stride];
}

template <class T>
SVENGINE_INLINE svbool_t every_lane() {
  if constexpr (sizeof(T) == 1) return svptrue_b8();
  else if constexpr (sizeof(T) == 2) return svptrue_b16();
  else return svptrue_b32();
}

/// Every element twice, in `copies` rows of n elements below each other, one or two.
template <class T>
void repeat_elements(T* dst, const T* src, int64_t n, int64_t copies) {
  constexpr int64_t kStep = sizeof(vu) / sizeof(T);
  const svbool_t all = every_lane<T>();
  const int64_t whole = n / 2;
  int64_t i = 0;
  for (; i < whole && whole >= kStep; i += kStep) {
    const int64_t at = smaller(i, whole - kStep);  // the last vector does some once more
    const auto v = svld1(all, src + at);
    const auto low = svzip1(v, v), high = svzip2(v, v);
    T* to = dst + 2 * at;
    for (int64_t row = 0; row < copies; ++row, to += n) svst1(all, to, low), svst1(all, to + kStep, high);
  }
  if (whole >= kStep) i = whole;
  for (i *= 2; i < n; ++i) {
    dst[i] = src[i / 2];
    if (copies == 2) dst[n + i] = src[i / 2];
  }
}

template <class T>
void map_rows(const MapArgs& args, const Rows& rows, int64_t begin, int64_t end) {
  const T value = T(args.value);
  const int64_t run_begin = rows.stride == 1 ? args.run_begin : 0, run_length = rows.stride == 1 ? args.run_length : 0;
  RowSources sources(args, begin);
  int64_t before = -1;  // the offset of the row before
  for (int64_t row = begin; row < end; ++row, sources.next()) {
    T* dst = static_cast<T*>(args.dst) + row * rows.n;
    const int64_t offset = sources.offset(), same = before;
    before = offset;
    if (offset < 0) {
      fill_elements(dst, value, rows.n);
      continue;
    }
    if (offset == same) {  // as images that are made larger have it
      __builtin_memcpy(dst, dst - rows.n, size_t(rows.n) * sizeof(T));
      continue;
    }
    const T* src = static_cast<const T*>(args.src) + offset;
    if (!rows.map) {  // rank 0
      *dst = *src;
      continue;
    }
    look_up(dst, src, rows, 0, run_begin, value);
    if (run_length > 0) copy_elements(dst + run_begin, src + rows.map[run_begin], run_length);
    look_up(dst, src, rows, run_begin + run_length, rows.n, value);
  }
}

/// Rows whose elements are all there twice, as they often are themselves: two equal ones are written together.
template <class T>
void double_rows(const MapArgs& args, const Rows& rows, int64_t begin, int64_t end) {
  RowSources sources(args, begin);
  for (int64_t row = begin, offset = sources.offset(), copies = 1; row < end; row += copies) {
    T* dst = static_cast<T*>(args.dst) + row * rows.n;
    sources.next();
    int64_t next = row + 1 < end ? sources.offset() : -1;
    copies = offset >= 0 && offset == next ? 2 : 1;
    if (copies == 2) sources.next(), next = row + 2 < end ? sources.offset() : -1;
    if (offset < 0) fill_elements(dst, T(args.value), rows.n);
    else repeat_elements(dst, static_cast<const T*>(args.src) + offset, rows.n, copies);
    offset = next;
  }
}

}  // namespace

int64_t map_tasks(const MapArgs& args) noexcept { return Rows(args).n > 0 ? Rows(args).partition().tasks() : 0; }

void map_run(const MapArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const Rows rows(args);
  const TaskPartition partition = rows.partition();
  dispatch_bytes(args.element_bytes, [&]<class T>() {
    if constexpr (sizeof(T) < 8) {
      if (args.doubles && args.rank > 0) return double_rows<T>(args, rows, partition.begin(begin), partition.begin(end));
    }
    map_rows<T>(args, rows, partition.begin(begin), partition.begin(end));
  });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
