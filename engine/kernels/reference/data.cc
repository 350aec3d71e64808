#include "engine/kernels/reference/data.h"

#include <algorithm>
#include <cstring>

namespace svengine::kernels {

namespace {

void move_elements(void* dst, int64_t dst_at, const void* src, int64_t src_at, int32_t bytes, int64_t count = 1) {
  std::memcpy(static_cast<char*>(dst) + dst_at * bytes, static_cast<const char*>(src) + src_at * bytes,
              static_cast<size_t>(count * bytes));
}

int64_t index_at(const void* indices, int32_t bytes, int64_t at, int64_t extent) {
  const int64_t index =
      bytes == 4 ? static_cast<const int32_t*>(indices)[at] : static_cast<const int64_t*>(indices)[at];
  return index < 0 ? index + extent : index;
}

template <class T>
void combine(ScatterOp op, void* y, int64_t to, const void* updates, int64_t from) {
  T& target = static_cast<T*>(y)[to];
  const T update = static_cast<const T*>(updates)[from];
  switch (op) {
    case ScatterOp::kSet:
      target = update;
      break;
    case ScatterOp::kAdd:
      target = static_cast<T>(target + update);
      break;
    case ScatterOp::kMul:
      target = static_cast<T>(target * update);
      break;
    case ScatterOp::kMax:
      target = std::max(target, update);
      break;
    case ScatterOp::kMin:
      target = std::min(target, update);
      break;
  }
}

template <class Args>
void scatter_one(const Args& args, int64_t to, int64_t from) {
  if (args.op == ScatterOp::kSet) return move_elements(args.y, to, args.updates, from, args.element_bytes);
  switch (args.type) {
    case DType::f32:
      return combine<float>(args.op, args.y, to, args.updates, from);
    case DType::f64:
      return combine<double>(args.op, args.y, to, args.updates, from);
    case DType::i32:
      return combine<int32_t>(args.op, args.y, to, args.updates, from);
    case DType::i64:
      return combine<int64_t>(args.op, args.y, to, args.updates, from);
    default:
      return;  // contract: data.h
  }
}

// The flat position of the slice that index tuple `k` names, in slices.
template <class Args>
int64_t slice_of(const Args& args, int64_t k) {
  int64_t slice = 0;
  for (int d = 0; d < args.depth; ++d)
    slice = slice * args.extent[d] + index_at(args.indices, args.index_bytes, k * args.depth + d, args.extent[d]);
  return slice;
}

}  // namespace

Coordinates coordinates_of(int64_t flat, const int64_t* extent, int rank) {
  Coordinates c{};
  for (int d = rank - 1; d >= 0; --d) {
    c.at[d] = flat % extent[d];
    flat /= extent[d];
  }
  return c;
}

int64_t flat_of(const Coordinates& c, const int64_t* extent, int rank) {
  int64_t flat = 0;
  for (int d = 0; d < rank; ++d) flat = flat * extent[d] + c.at[d];
  return flat;
}

int64_t count_of(const int64_t* extent, int rank) {
  int64_t count = 1;
  for (int d = 0; d < rank; ++d) count *= extent[d];
  return count;
}

void reference_copy(const CopyArgs& args) {
  for (int64_t i = 0; i < count_of(args.extent, args.rank); ++i) {
    const Coordinates c = coordinates_of(i, args.extent, args.rank);
    int64_t from = 0, to = 0;
    for (int d = 0; d < args.rank; ++d) {
      from += c.at[d] * args.src_stride[d];
      to += c.at[d] * args.dst_stride[d];
    }
    move_elements(args.dst, to, args.src, from, args.element_bytes);
  }
}

void reference_gather_elements(const GatherElementsArgs& args) {
  for (int64_t i = 0; i < count_of(args.index_extent, args.rank); ++i) {
    Coordinates c = coordinates_of(i, args.index_extent, args.rank);
    c.at[args.axis] = index_at(args.indices, args.index_bytes, i, args.data_extent[args.axis]);
    move_elements(args.y, i, args.data, flat_of(c, args.data_extent, args.rank), args.element_bytes);
  }
}

void reference_gather_nd(const GatherNdArgs& args) {
  const int64_t slices = count_of(args.extent, args.depth);
  for (int64_t k = 0; k < args.batch * args.count; ++k)
    move_elements(args.y, k * args.slice, args.data, (k / args.count * slices + slice_of(args, k)) * args.slice,
                  args.element_bytes, args.slice);
}

void reference_scatter_elements(const ScatterElementsArgs& args) {
  for (int64_t i = 0; i < count_of(args.index_extent, args.rank); ++i) {
    Coordinates c = coordinates_of(i, args.index_extent, args.rank);
    c.at[args.axis] = index_at(args.indices, args.index_bytes, i, args.data_extent[args.axis]);
    scatter_one(args, flat_of(c, args.data_extent, args.rank), i);
  }
}

void reference_scatter_nd(const ScatterNdArgs& args) {
  for (int64_t k = 0; k < args.count; ++k)
    for (int64_t i = 0; i < args.slice; ++i) scatter_one(args, slice_of(args, k) * args.slice + i, k * args.slice + i);
}

void reference_map(const MapArgs& args) {
  for (int64_t i = 0; i < count_of(args.extent, args.rank); ++i) {
    const Coordinates c = coordinates_of(i, args.extent, args.rank);
    int64_t from = 0;
    bool exists = true;
    for (int d = 0; d < args.rank; ++d) {
      exists = exists && args.map[d][c.at[d]] >= 0;
      from += args.map[d][c.at[d]] * args.src_stride[d];
    }
    if (exists)
      move_elements(args.dst, i, args.src, from, args.element_bytes);
    else
      move_elements(args.dst, i, &args.value, 0, args.element_bytes);
  }
}

}  // namespace svengine::kernels
