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

// Rows in order: where the source of one begins, or -1 when all of it is `value`.
class RowSources {
 public:
  RowSources(const MapArgs& args, int64_t row) : args_(args) {
    for (int d = args.rank - 2; d >= 0; --d) {
      index_[d] = row % args.extent[d];
      row /= args.extent[d];
    }
  }
  int64_t offset() const {
    int64_t offset = 0;
#pragma GCC unroll 1
    for (int d = 0; d < args_.rank - 1; ++d) {
      const int64_t position = args_.map[d][index_[d]];
      if (position < 0) return -1;
      offset += position * args_.src_stride[d];
    }
    return offset;
  }
  void next() {
#pragma GCC unroll 1
    for (int d = args_.rank - 2; d >= 0; --d) {
      if (++index_[d] < args_.extent[d]) return;
      index_[d] = 0;
    }
  }

 private:
  const MapArgs& args_;
  int64_t index_[kMaxDims] = {};
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

}  // namespace

int64_t map_tasks(const MapArgs& args) noexcept { return Rows(args).n > 0 ? Rows(args).partition().tasks() : 0; }

void map_run(const MapArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const Rows rows(args);
  const TaskPartition partition = rows.partition();
  dispatch_bytes(args.element_bytes, [&]<class T>() { map_rows<T>(args, rows, partition.begin(begin), partition.begin(end)); });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
