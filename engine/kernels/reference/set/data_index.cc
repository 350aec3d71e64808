// Gathers and scatters, with every index checked before it is followed.
//
// Several updates may hit one element, so the items of scatters own parts of the destination: lines along the axis, or one
// element of every slice. Updates are applied in order, each rounded as it is stored, for that is what a scatter means.
#include <type_traits>

#include "engine/kernels/reference/set/data.h"
#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"
#include "engine/kernels/reference/set/walk.h"

namespace svengine::kernels::reference {
namespace {

/// Index `at` of `indices`, counted from the end where negative; -1, and *error lowered to `at`, where it is out of range.
int64_t checked_index(const void* indices, int32_t bytes, int64_t at, int64_t extent, int64_t* error) {
  const int64_t index = integer_at(indices, bytes, at), wrapped = index < 0 ? index + extent : index;
  if (wrapped >= 0 && wrapped < extent) return wrapped;
  int64_t known = __atomic_load_n(error, __ATOMIC_RELAXED);
  while (at < known && !__atomic_compare_exchange_n(error, &known, at, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return -1;
}

/// The slice that tuple k names, counted in slices; -1 if one of its indices is out of range.
template <class Args>
int64_t slice_of(const Args& args, int64_t k) {
  int64_t slice = 0;
  bool exists = true;
  for (int d = 0; d < args.depth; ++d) {
    const int64_t index = checked_index(args.indices, args.index_bytes, k * args.depth + d, args.extent[d], args.error);
    exists = exists && index >= 0;
    slice = slice * args.extent[d] + index;
  }
  return exists ? slice : -1;
}

/// Strides of a contiguous tensor, 0 along `axis`.
struct Strides {
  int64_t of[kMaxDims] = {};
  int64_t axis_stride = 1;
  Strides(const int64_t* extent, int rank, int axis) {
    int64_t product = 1;
    for (int d = rank - 1; d >= 0; product *= extent[d], --d) {
      of[d] = d == axis ? 0 : product;
      if (d == axis) axis_stride = product;
    }
  }
};

Walk<1> walk_of(const GatherElementsArgs& args) {
  const Strides data(args.data_extent, args.rank, args.axis);
  Walk<1> walk;
  for (int d = 0; d < args.rank; ++d) walk.add(args.index_extent[d], {data.of[d]});
  return walk;
}

/// Lines along the axis: where they begin in the data, and in indices and updates.
Walk<2> lines_of(const ScatterElementsArgs& args) {
  const Strides data(args.data_extent, args.rank, args.axis), index(args.index_extent, args.rank, args.axis);
  Walk<2> walk;
  for (int d = 0; d < args.rank; ++d)
    if (d != args.axis) walk.add(args.index_extent[d], {data.of[d], index.of[d]});
  return walk;
}

template <class T>
T combined(ScatterOp op, T old, T update) {
  // Integers wrap.
  using A = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  switch (op) {
    case ScatterOp::kSet:
      return update;
    case ScatterOp::kAdd:
      return static_cast<T>(static_cast<A>(old) + static_cast<A>(update));
    case ScatterOp::kMul:
      return static_cast<T>(static_cast<A>(old) * static_cast<A>(update));
    case ScatterOp::kMax:
      return old != old || old > update ? old : update;
    case ScatterOp::kMin:
      return old != old || old < update ? old : update;
  }
  return update;
}

/// y[to] op= updates[from].
template <class Args>
void scatter_one(const Args& args, int64_t to, int64_t from) {
  if (args.op == ScatterOp::kSet) return move_elements(args.y, to, args.updates, from, args.element_bytes, 1);
  visit_element(args.type, [&]<class T>(T) {
    T& target = static_cast<T*>(args.y)[to];
    target = combined(args.op, target, static_cast<const T*>(args.updates)[from]);
  });
}

}  // namespace

int64_t gather_items(const GatherArgs& args) { return args.outer * args.count; }

void gather_range(const GatherArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item) {
    const int64_t index = checked_index(args.indices, args.index_bytes, item % args.count, args.extent, args.error);
    if (index < 0)
      clear_elements(args.y, item * args.inner, args.element_bytes, args.inner);
    else
      move_elements(args.y, item * args.inner, args.data, (item / args.count * args.extent + index) * args.inner,
                    args.element_bytes, args.inner);
  }
}

int64_t gather_elements_items(const GatherElementsArgs& args) { return walk_of(args).positions(); }

void gather_elements_range(const GatherElementsArgs& args, int64_t begin, int64_t end, void*) {
  const int64_t axis_stride = Strides(args.data_extent, args.rank, args.axis).axis_stride;
  Walk<1> walk = walk_of(args);
  for_each_position(walk, begin, end, [&](int64_t i, const Walk<1>& at) {
    const int64_t index = checked_index(args.indices, args.index_bytes, i, args.data_extent[args.axis], args.error);
    if (index < 0)
      clear_elements(args.y, i, args.element_bytes, 1);
    else
      move_elements(args.y, i, args.data, at.offset() + index * axis_stride, args.element_bytes, 1);
  });
}

int64_t gather_nd_items(const GatherNdArgs& args) { return args.batch * args.count; }

void gather_nd_range(const GatherNdArgs& args, int64_t begin, int64_t end, void*) {
  int64_t slices = 1;
  for (int d = 0; d < args.depth; ++d) slices *= args.extent[d];
  for (int64_t k = begin; k < end; ++k) {
    const int64_t slice = slice_of(args, k);
    if (slice < 0)
      clear_elements(args.y, k * args.slice, args.element_bytes, args.slice);
    else
      move_elements(args.y, k * args.slice, args.data, (k / args.count * slices + slice) * args.slice, args.element_bytes,
                    args.slice);
  }
}

int64_t scatter_elements_items(const ScatterElementsArgs& args) { return lines_of(args).positions(); }

void scatter_elements_range(const ScatterElementsArgs& args, int64_t begin, int64_t end, void*) {
  const int64_t data_stride = Strides(args.data_extent, args.rank, args.axis).axis_stride;
  const int64_t index_stride = Strides(args.index_extent, args.rank, args.axis).axis_stride;
  Walk<2> lines = lines_of(args);
  for_each_position(lines, begin, end, [&](int64_t, const Walk<2>& line) {
    for (int64_t k = 0; k < args.index_extent[args.axis]; ++k) {
      const int64_t at = line.offset(1) + k * index_stride;
      const int64_t index = checked_index(args.indices, args.index_bytes, at, args.data_extent[args.axis], args.error);
      if (index >= 0) scatter_one(args, line.offset(0) + index * data_stride, at);
    }
  });
}

int64_t scatter_nd_items(const ScatterNdArgs& args) { return args.count > 0 ? args.slice : 0; }

void scatter_nd_range(const ScatterNdArgs& args, int64_t begin, int64_t end, void*) {
  for (int64_t k = 0; k < args.count; ++k) {
    const int64_t slice = slice_of(args, k);
    if (slice < 0) continue;
    for (int64_t i = begin; i < end; ++i) scatter_one(args, slice * args.slice + i, k * args.slice + i);
  }
}

}  // namespace svengine::kernels::reference
