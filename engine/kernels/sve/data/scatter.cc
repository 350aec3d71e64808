// Scatters. Several updates may hit one element, so tasks own parts of the destination rather than of the updates:
// ScatterElements is cut over lines along the axis (different lines never meet), ScatterND over ranges of its
// slices.
#include "engine/kernels/sve/data/element.h"
#include "engine/kernels/sve/data/kernels.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int64_t kSliceChunk = 1024;

template <int kBytes>
struct BitsOf {
  using Type = uint32_t;
};
template <>
struct BitsOf<8> {
  using Type = uint64_t;
};

// a if `first`, else b; without a branch, which values would decide that nobody foresees.
template <class T>
SVENGINE_INLINE T chosen(bool first, T a, T b) {
  using Bits = typename BitsOf<sizeof(T)>::Type;
  const Bits x = __builtin_bit_cast(Bits, a), y = __builtin_bit_cast(Bits, b);
  return __builtin_bit_cast(T, Bits(y ^ ((x ^ y) & (Bits(0) - Bits(first)))));
}

template <ScatterOp kOp, class T>
SVENGINE_INLINE T scattered(T old, T update) {
  if constexpr (kOp == ScatterOp::kAdd)
    return T(old + update);
  else if constexpr (kOp == ScatterOp::kMul)
    return T(old * update);
  else if constexpr (kOp == ScatterOp::kMax)
    return chosen(old != old || old > update, old, update);
  else if constexpr (kOp == ScatterOp::kMin)
    return chosen(old != old || old < update, old, update);
  else
    return update;
}

// Calls body.template operator()<op, T>(). Integers are added and multiplied as unsigned ones, which wrap.
template <class Args, class Body>
void dispatch_scatter(const Args& args, const Body& body) {
  const auto arithmetic = [&]<ScatterOp kOp, class I32, class I64>() {
    switch (args.type) {
      case DType::f32:
        return body.template operator()<kOp, float>();
      case DType::f64:
        return body.template operator()<kOp, double>();
      case DType::i32:
        return body.template operator()<kOp, I32>();
      case DType::i64:
        return body.template operator()<kOp, I64>();
      default:
        return;  // contract: data.h
    }
  };
  switch (args.op) {
    case ScatterOp::kSet:
      return dispatch_bytes(args.element_bytes, [&]<class T>() { body.template operator()<ScatterOp::kSet, T>(); });
    case ScatterOp::kAdd:
      return arithmetic.template operator()<ScatterOp::kAdd, uint32_t, uint64_t>();
    case ScatterOp::kMul:
      return arithmetic.template operator()<ScatterOp::kMul, uint32_t, uint64_t>();
    case ScatterOp::kMax:
      return arithmetic.template operator()<ScatterOp::kMax, int32_t, int64_t>();
    case ScatterOp::kMin:
      return arithmetic.template operator()<ScatterOp::kMin, int32_t, int64_t>();
  }
}

// All dimensions of `indices` but the axis: offset 0 in the data, offset 1 in indices and updates.
struct Lines {
  Odometer<2> lines;
  int64_t n = 1;  // along the axis
  int64_t data_step = 1, index_step = 1, extent = 1;
  int64_t run = 1;  // extent of the innermost of the other dimensions, contiguous on both sides, if it is that

  explicit Lines(const ScatterElementsArgs& args) {
    int64_t data_stride[kMaxDims] = {}, index_stride[kMaxDims] = {}, data = 1, index = 1;
    for (int d = args.rank - 1; d >= 0; --d) {
      data_stride[d] = data;
      index_stride[d] = index;
      data *= args.data_extent[d];
      index *= args.index_extent[d];
    }
    for (int d = 0; d < args.rank; ++d)
      if (d != args.axis) lines.add(args.index_extent[d], {data_stride[d], index_stride[d]});
    n = args.index_extent[args.axis];
    extent = args.data_extent[args.axis];
    data_step = data_stride[args.axis];
    index_step = index_stride[args.axis];
    if (args.axis != args.rank - 1) run = args.index_extent[args.rank - 1];
  }
  TaskPartition partition() const { return TaskPartition(lines.positions(), n); }
};

template <ScatterOp kOp, class T, class Index>
void scatter_lines(const ScatterElementsArgs& args, Lines& l, int64_t begin, int64_t end) {
  for (int64_t line = begin; line < end;) {
    const int64_t width = smaller(end - line, l.run - line % l.run);  // neighbouring lines, walked side by side
    l.lines.seek(line);
    T* y = static_cast<T*>(args.y) + l.lines.offset(0);
    const int64_t first = l.lines.offset(1);
    for (int64_t k = 0; k < l.n; ++k)
      for (int64_t j = 0; j < width; ++j) {
        const int64_t at = first + k * l.index_step + j;
        const int64_t index = checked_index(static_cast<const Index*>(args.indices)[at], l.extent, args.error, at);
        if (index < 0) continue;
        T& target = y[index * l.data_step + j];
        target = scattered<kOp>(target, static_cast<const T*>(args.updates)[at]);
      }
    line += width;
  }
}

template <ScatterOp kOp, class T, class Index>
void scatter_slices(const ScatterNdArgs& args, int64_t begin, int64_t end) {
  const Index* indices = static_cast<const Index*>(args.indices);
  for (int64_t k = 0; k < args.count; ++k) {
    int64_t offset = 0;
    bool exists = true;
    for (int d = 0; d < args.depth; ++d) {
      const int64_t at = k * args.depth + d, index = checked_index(indices[at], args.extent[d], args.error, at);
      exists = exists && index >= 0;
      offset = offset * args.extent[d] + index;
    }
    if (!exists) continue;
    T* y = static_cast<T*>(args.y) + offset * args.slice;
    const T* updates = static_cast<const T*>(args.updates) + k * args.slice;
    for (int64_t i = begin; i < end; ++i) y[i] = scattered<kOp>(y[i], updates[i]);
  }
}

}  // namespace

int64_t scatter_elements_tasks(const ScatterElementsArgs& args) noexcept { return Lines(args).partition().tasks(); }

void scatter_elements_run(const ScatterElementsArgs& args, int64_t begin, int64_t end, void*) noexcept {
  Lines lines(args);
  const TaskPartition partition = lines.partition();
  dispatch_scatter(args, [&]<ScatterOp kOp, class T>() {
    dispatch_index(args.index_bytes,
                   [&]<class Index>() { scatter_lines<kOp, T, Index>(args, lines, partition.begin(begin), partition.begin(end)); });
  });
}

int64_t scatter_nd_tasks(const ScatterNdArgs& args) noexcept {
  return args.count > 0 ? ceil_div(args.slice, kSliceChunk) : 0;
}

void scatter_nd_run(const ScatterNdArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const int64_t first = begin * kSliceChunk, last = smaller(args.slice, end * kSliceChunk);
  dispatch_scatter(args, [&]<ScatterOp kOp, class T>() {
    dispatch_index(args.index_bytes, [&]<class Index>() { scatter_slices<kOp, T, Index>(args, first, last); });
  });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
