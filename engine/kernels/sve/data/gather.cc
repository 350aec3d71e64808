// Gathers: whole slices (Gather, GatherND) are vector copies; GatherElements looks every element up.
#include "engine/kernels/sve/data/element.h"
#include "engine/kernels/sve/data/kernels.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

template <class T>
SVENGINE_INLINE void take_slice(T* y, const T* data, int64_t n, bool exists) {
  if (!exists)
    fill_elements(y, T(0), n);
  else if (n == 1)
    *y = *data;
  else
    copy_elements(y, data, n);
}

template <class T, class Index>
void gather_items(const GatherArgs& args, int64_t begin, int64_t end) {
  const T* data = static_cast<const T*>(args.data);
  const Index* indices = static_cast<const Index*>(args.indices);
  T* y = static_cast<T*>(args.y) + begin * args.inner;
  int64_t o = begin / args.count, k = begin % args.count;
  for (int64_t item = begin; item < end; ++item, y += args.inner) {
    const int64_t index = checked_index(indices[k], args.extent, args.error, k);
    take_slice(y, data + (o * args.extent + larger(0, index)) * args.inner, args.inner, index >= 0);
    if (++k == args.count) {
      k = 0;
      ++o;
    }
  }
}

// The rows of GatherElements: all dimensions of `indices` but the last, with the data's strides (0 along the axis).
struct ElementRows {
  Odometer<1> rows;
  int64_t n = 1, step = 0, axis_stride = 1, axis_extent = 1;

  explicit ElementRows(const GatherElementsArgs& args) {
    int64_t stride[kMaxDims] = {}, product = 1;
    for (int d = args.rank - 1; d >= 0; --d) {
      stride[d] = product;
      product *= args.data_extent[d];
    }
    const int last = args.rank - 1;
    axis_stride = stride[args.axis];
    axis_extent = args.data_extent[args.axis];
    n = args.index_extent[last];
    step = args.axis == last ? 0 : 1;
    for (int d = 0; d < last; ++d) rows.add(args.index_extent[d], {d == args.axis ? 0 : stride[d]});
  }
  TaskPartition partition() const { return TaskPartition(rows.positions(), n); }
};

// y[j] = data[j * step + index * axis_stride], of an index that does not exist something else; returns whether all exist. Without a branch, and
// with one load after the other: instructions that gather are slower (engine/CMakeLists.txt has the flag).
template <class T, class Index>
bool gather_existing(const ElementRows& e, const T* data, const Index* indices, T* y) {
  const int64_t n = e.n, extent = e.axis_extent, stride = e.axis_stride, step = e.step;
  bool outside = false;
  for (int64_t j = 0; j < n; ++j) {
    const int64_t given = indices[j], index = given < 0 ? given + extent : given;
    const bool exists = uint64_t(index) < uint64_t(extent);
    outside |= !exists;
    y[j] = data[j * step + (exists ? index : 0) * stride];
  }
  return !outside;
}

template <class T, class Index>
void gather_rows(const GatherElementsArgs& args, ElementRows& e, int64_t begin, int64_t end) {
  if (begin < end) e.rows.seek(begin);
  for (int64_t row = begin; row < end; ++row, e.rows.next()) {
    const T* data = static_cast<const T*>(args.data) + e.rows.offset(0);
    const Index* indices = static_cast<const Index*>(args.indices) + row * e.n;
    T* y = static_cast<T*>(args.y) + row * e.n;
    if (e.axis_extent > 0 && gather_existing(e, data, indices, y)) continue;
    for (int64_t j = 0; j < e.n; ++j) {
      const int64_t index = checked_index(indices[j], e.axis_extent, args.error, row * e.n + j);
      y[j] = index < 0 ? T(0) : data[j * e.step + index * e.axis_stride];
    }
  }
}

template <class T, class Index>
void gather_slices(const GatherNdArgs& args, int64_t begin, int64_t end) {
  const Index* indices = static_cast<const Index*>(args.indices);
  int64_t image = args.slice;
  for (int d = 0; d < args.depth; ++d) image *= args.extent[d];
  for (int64_t item = begin; item < end; ++item) {
    int64_t offset = 0;
    bool exists = true;
    for (int d = 0; d < args.depth; ++d) {
      const int64_t at = item * args.depth + d, index = checked_index(indices[at], args.extent[d], args.error, at);
      exists = exists && index >= 0;
      offset = offset * args.extent[d] + index;
    }
    const T* data = static_cast<const T*>(args.data) + (exists ? item / args.count * image + offset * args.slice : 0);
    take_slice(static_cast<T*>(args.y) + item * args.slice, data, args.slice, exists);
  }
}

}  // namespace

int64_t gather_tasks(const GatherArgs& args) noexcept { return TaskPartition(args.outer * args.count, args.inner).tasks(); }

void gather_run(const GatherArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition(args.outer * args.count, args.inner);
  if (begin >= end) return;
  dispatch_bytes(args.element_bytes, [&]<class T>() {
    dispatch_index(args.index_bytes,
                   [&]<class Index>() { gather_items<T, Index>(args, partition.begin(begin), partition.begin(end)); });
  });
}

int64_t gather_elements_tasks(const GatherElementsArgs& args) noexcept { return ElementRows(args).partition().tasks(); }

void gather_elements_run(const GatherElementsArgs& args, int64_t begin, int64_t end, void*) noexcept {
  ElementRows e(args);
  const TaskPartition partition = e.partition();
  dispatch_bytes(args.element_bytes, [&]<class T>() {
    dispatch_index(args.index_bytes,
                   [&]<class Index>() { gather_rows<T, Index>(args, e, partition.begin(begin), partition.begin(end)); });
  });
}

int64_t gather_nd_tasks(const GatherNdArgs& args) noexcept {
  return TaskPartition(args.batch * args.count, args.slice).tasks();
}

void gather_nd_run(const GatherNdArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const TaskPartition partition(args.batch * args.count, args.slice);
  dispatch_bytes(args.element_bytes, [&]<class T>() {
    dispatch_index(args.index_bytes,
                   [&]<class Index>() { gather_slices<T, Index>(args, partition.begin(begin), partition.begin(end)); });
  });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
