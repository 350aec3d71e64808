#include "engine/kernels/contract_data.h"

#include <cstdlib>

#include "engine/kernels/contract_memory.h"

namespace svengine::kernels {
namespace {

bool is_index_size(int32_t bytes) { return bytes == 4 || bytes == 8; }

/// The product of the first `rank`; -1 where one is negative.
int64_t product(const int64_t (&extent)[kMaxDims], int32_t rank) {
  int64_t n = 1;
  for (int32_t d = 0; d < rank; ++d) {
    if (extent[d] < 0) return -1;
    n *= extent[d];
  }
  return n;
}

/// No two elements of dst are one, told from nested strides: every dimension steps over all that smaller steps reach.
bool are_distinct(const CopyArgs& args) {
  struct Step {
    int64_t stride, extent;
  };
  Step steps[kMaxDims];  // no memory of the heap: contracts are checked where there may be none left
  int32_t count = 0;
  for (int32_t d = 0; d < args.rank; ++d) {
    if (args.extent[d] <= 1) continue;
    const Step step = {std::abs(args.dst_stride[d]), args.extent[d]};
    int32_t at = count++;
    for (; at > 0 && steps[at - 1].stride > step.stride; --at) steps[at] = steps[at - 1];
    steps[at] = step;
  }
  int64_t reach = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (steps[i].stride <= reach) return false;
    reach += (steps[i].extent - 1) * steps[i].stride;
  }
  return true;
}

/// The `i`-th index is one of `extent`, counted from either end.
bool is_index(const void* indices, int32_t index_bytes, int64_t i, int64_t extent) {
  const int64_t index = index_bytes == 4 ? static_cast<const int32_t*>(indices)[i] : static_cast<const int64_t*>(indices)[i];
  return index >= -extent && index < extent;
}

/// Whoever gives no place for errors has checked the indices: `depth` of them in turn have these extents.
bool are_checked(const void* indices, int32_t index_bytes, int64_t count, const int64_t* extent, int32_t depth, const int64_t* error) {
  for (int64_t i = 0; !error && i < count * depth; ++i)
    if (!is_index(indices, index_bytes, i, extent[i % depth])) return false;
  return true;
}

/// Indices of elements along `axis` of one of two tensors.
template <class Args>
const char* elements_violation(const Args& args) {
  if (!is_element_size(args.element_bytes)) return "gather or scatter elements: element_bytes is not 1, 2, 4 or 8";
  if (!is_index_size(args.index_bytes)) return "gather or scatter elements: index_bytes is neither 4 nor 8";
  if (args.rank < 1 || args.rank > kMaxDims || args.axis < 0 || args.axis >= args.rank)
    return "gather or scatter elements: rank is not 1 to 8, or axis not below it";
  if (product(args.index_extent, args.rank) < 0 || product(args.data_extent, args.rank) < 0)
    return "gather or scatter elements: an extent is negative";
  for (int32_t d = 0; d < args.rank; ++d)
    if (d != args.axis && args.index_extent[d] > args.data_extent[d])
      return "gather or scatter elements: an index_extent is beyond data_extent";
  const int64_t count = product(args.index_extent, args.rank);
  if (count > 0 && !args.indices) return "gather or scatter elements: indices is null";
  return are_checked(args.indices, args.index_bytes, count, &args.data_extent[args.axis], 1, args.error)
             ? nullptr
             : "gather or scatter elements: a bad index, and error is null";
}

template <class Args>
const char* nd_violation(const Args& args, int64_t tuples) {
  if (!is_element_size(args.element_bytes)) return "gather or scatter nd: element_bytes is not 1, 2, 4 or 8";
  if (!is_index_size(args.index_bytes)) return "gather or scatter nd: index_bytes is neither 4 nor 8";
  if (args.depth < 0 || args.depth > kMaxDims) return "gather or scatter nd: depth is not 0 to 8";
  if (product(args.extent, args.depth) < 0 || args.count < 0 || args.slice < 0) return "gather or scatter nd: a size is negative";
  if (!args.indices && tuples > 0 && args.depth > 0) return "gather or scatter nd: indices is null";
  return are_checked(args.indices, args.index_bytes, tuples, args.extent, args.depth, args.error)
             ? nullptr
             : "gather or scatter nd: a bad index, and error is null";
}

}  // namespace

const char* violation(const CopyArgs& args) noexcept {
  if (!is_element_size(args.element_bytes)) return "copy: element_bytes is not 1, 2, 4 or 8";
  if (args.rank < 0 || args.rank > kMaxDims) return "copy: rank is not 0 to 8";
  const int64_t count = product(args.extent, args.rank);
  if (count < 0) return "copy: an extent is negative";
  if (count == 0) return nullptr;
  if (!args.src || !args.dst) return "copy: src or dst is null";
  if (!are_distinct(args)) return "copy: elements of dst are not distinct";
  // Rows of several dimensions may lie between each other's.
  const bool lines = args.rank == 1 && args.src_stride[0] == 1 && args.dst_stride[0] == 1;
  const int64_t bytes = (lines ? count : 1) * args.element_bytes;
  return overlap(memory(args.src, bytes), memory(args.dst, bytes)) ? "copy: dst overlaps src" : nullptr;
}

const char* violation(const FillArgs& args) noexcept {
  if (!is_element_size(args.element_bytes)) return "fill: element_bytes is not 1, 2, 4 or 8";
  return args.count < 1 || !args.dst ? "fill: count is not positive, or dst is null" : nullptr;
}

const char* violation(const ReorderArgs& args) noexcept {
  if (args.batch < 0 || args.channels < 0 || args.spatial < 0) return "reorder: a size is negative";
  if (args.batch * args.channels * args.spatial == 0) return nullptr;
  if (!args.src || !args.dst || args.src == args.dst) return "reorder: src or dst is null, or both are one";
  if (args.batch > 1 && args.plain_batch_stride < args.channels * args.spatial) return "reorder: images of the plain side overlap";
  return nullptr;
}

const char* violation(const GatherArgs& args) noexcept {
  if (!is_element_size(args.element_bytes)) return "gather: element_bytes is not 1, 2, 4 or 8";
  if (!is_index_size(args.index_bytes)) return "gather: index_bytes is neither 4 nor 8";
  if (args.outer < 0 || args.inner < 0 || args.count < 0 || args.extent < 0) return "gather: a size is negative";
  if (args.outer * args.inner * args.count == 0) return nullptr;
  if (!args.indices || !args.y || (!args.data && args.extent > 0)) return "gather: data, indices or y is null";
  if (!are_checked(args.indices, args.index_bytes, args.count, &args.extent, 1, args.error))
    return "gather: a bad index, and error is null";
  const Memory y = memory(args.y, args.outer * args.count * args.inner * args.element_bytes);
  if (overlap(y, memory(args.indices, args.count * args.index_bytes))) return "gather: y overlaps indices";
  return overlap(y, memory(args.data, args.outer * args.extent * args.inner * args.element_bytes)) ? "gather: y overlaps data" : nullptr;
}

const char* violation(const GatherElementsArgs& args) noexcept {
  if (const char* broken = elements_violation(args)) return broken;
  const int64_t count = product(args.index_extent, args.rank), data = product(args.data_extent, args.rank);
  if (count > 0 && (!args.y || (!args.data && data > 0))) return "gather elements: data or y is null";
  const Memory y = memory(args.y, count * args.element_bytes);
  return overlap(y, memory(args.data, data * args.element_bytes)) ? "gather elements: y overlaps data" : nullptr;
}

const char* violation(const GatherNdArgs& args) noexcept {
  if (args.batch < 0) return "gather nd: batch is negative";
  if (const char* broken = nd_violation(args, args.batch * args.count)) return broken;
  const int64_t count = args.batch * args.count * args.slice, data = args.batch * product(args.extent, args.depth) * args.slice;
  if (count > 0 && (!args.y || (!args.data && data > 0))) return "gather nd: data or y is null";
  const Memory y = memory(args.y, count * args.element_bytes);
  return overlap(y, memory(args.data, data * args.element_bytes)) ? "gather nd: y overlaps data" : nullptr;
}

const char* violation(const ScatterElementsArgs& args) noexcept {
  if (const char* broken = elements_violation(args)) return broken;
  const int64_t count = product(args.index_extent, args.rank), data = product(args.data_extent, args.rank);
  if (count > 0 && (!args.updates || (!args.y && data > 0))) return "scatter elements: y or updates is null";
  const Memory y = memory(args.y, data * args.element_bytes);
  return overlap(y, memory(args.updates, count * args.element_bytes)) ? "scatter elements: y overlaps updates" : nullptr;
}

const char* violation(const ScatterNdArgs& args) noexcept {
  if (const char* broken = nd_violation(args, args.count)) return broken;
  const int64_t count = args.count * args.slice, data = product(args.extent, args.depth) * args.slice;
  if (count > 0 && (!args.updates || (!args.y && data > 0))) return "scatter nd: y or updates is null";
  const Memory y = memory(args.y, data * args.element_bytes);
  return overlap(y, memory(args.updates, count * args.element_bytes)) ? "scatter nd: y overlaps updates" : nullptr;
}

const char* violation(const MapArgs& args) noexcept {
  if (!is_element_size(args.element_bytes)) return "map: element_bytes is not 1, 2, 4 or 8";
  if (args.rank < 0 || args.rank > kMaxDims) return "map: rank is not 0 to 8";
  const int64_t count = product(args.extent, args.rank);
  if (count < 0) return "map: an extent is negative";
  if (count == 0) return nullptr;
  if (!args.dst) return "map: dst is null";
  for (int32_t d = 0; d < args.rank; ++d)
    if (!args.map[d]) return "map: the map of a dimension is null";
  if (args.rank == 0) return nullptr;
  if (args.run_begin < 0 || args.run_length < 0 || args.run_begin + args.run_length > args.extent[args.rank - 1])
    return "map: the run is not within the last map";
  const int32_t* last = args.map[args.rank - 1];
  for (int64_t i = args.run_begin; i < args.run_begin + args.run_length; ++i)
    if (last[i] < 0 || last[i] - last[args.run_begin] != i - args.run_begin) return "map: the run does not ascend by one";
  if (args.doubles && args.src_stride[args.rank - 1] != 1) return "map: elements that are doubled are not neighbours";
  for (int64_t i = 0; args.doubles && i < args.extent[args.rank - 1]; ++i)
    if (last[i] != i / 2) return "map: the last map does not double";
  return nullptr;
}

namespace {

template <class T>
const char* resample_violation(const ResampleOf<T>& args) {
  if (args.outer < 0 || args.in < 0 || args.out < 0 || args.inner < 0 || args.taps < 1) return "resample: a size is negative, or no taps";
  if (args.outer * args.out * args.inner == 0) return nullptr;
  if ((!args.x && args.in > 0) || !args.y || !args.index || !args.weight) return "resample: x, y, index or weight is null";
  for (int64_t j = 0; j < args.out; ++j)
    for (int32_t t = 0; t < args.taps && args.index[j] >= 0; ++t)
      if (args.index[t * args.out + j] < 0 || args.index[t * args.out + j] >= args.in) return "resample: an index is not within x";
  const Memory y = memory(args.y, args.outer * args.out * args.inner * int64_t{sizeof(T)});
  return overlap(y, memory(args.x, args.outer * args.in * args.inner * int64_t{sizeof(T)})) ? "resample: y overlaps x" : nullptr;
}

}  // namespace

const char* violation(const ResampleArgs& args) noexcept { return resample_violation(args); }
const char* violation(const ResampleF64Args& args) noexcept { return resample_violation(args); }

const char* violation(const WeightedGatherArgs& args) noexcept {
  if (args.channels < 1 || args.count < 0 || args.taps < 0) return "weighted gather: channels is not positive, or a size negative";
  if (args.count == 0) return nullptr;
  if (!args.y || (args.taps > 0 && (!args.index || !args.weight))) return "weighted gather: y, index or weight is null";
  if (args.channels > 1 && args.y_stride < args.count) return "weighted gather: channels of y overlap";
  return nullptr;
}

const char* violation(const OneHotArgs& args) noexcept {
  if (!is_element_size(args.element_bytes)) return "one hot: element_bytes is not 1, 2, 4 or 8";
  if (!is_index_size(args.index_bytes)) return "one hot: index_bytes is neither 4 nor 8";
  if (args.outer < 0 || args.depth < 0 || args.inner < 0) return "one hot: a size is negative";
  if (args.outer * args.depth * args.inner == 0) return nullptr;
  if (!args.indices || !args.y) return "one hot: indices or y is null";
  const Memory y = memory(args.y, args.outer * args.depth * args.inner * args.element_bytes);
  return overlap(y, memory(args.indices, args.outer * args.inner * args.index_bytes)) ? "one hot: y overlaps indices" : nullptr;
}

const char* violation(const TriluArgs& args) noexcept {
  if (!is_element_size(args.element_bytes)) return "trilu: element_bytes is not 1, 2, 4 or 8";
  if (args.batch < 0 || args.rows < 0 || args.columns < 0) return "trilu: a size is negative";
  if (args.batch * args.rows * args.columns == 0) return nullptr;
  if (!args.x || !args.y) return "trilu: x or y is null";
  const int64_t bytes = args.batch * args.rows * args.columns * args.element_bytes;
  return cross(memory(args.x, bytes), memory(args.y, bytes)) ? "trilu: y overlaps x and is not x" : nullptr;
}

}  // namespace svengine::kernels
