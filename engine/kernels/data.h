// Kernels that move elements without computing with them: copies, transpositions, reorders between layouts, gathers,
// scatters, padding, resizing, and their kin. Elements are 1, 2, 4 or 8 bytes of anything unless said otherwise.
//
// Strides count elements. Sources and destinations never overlap, except where a kernel works in place by its
// definition. Plain functions that prepare arguments (collapse_copy, pad_map, resize tables) are in data_prepare.h.
//
// Indices are int32 or int64 (index_bytes 4 or 8). Negative ones count from the end. One out of range is never
// followed: the kernel lowers *error (which the caller sets to kNoBadIndex) to the smallest flat position of such an
// index in `indices`, and treats the element as gathered from zeros or not scattered. Check *error after all tasks are
// done.
#pragma once
#include <cstdint>

#include "engine/kernels/task_kernel.h"

namespace svengine::kernels {

inline constexpr int kMaxDims = 8;
inline constexpr int64_t kNoBadIndex = INT64_MAX;

/// dst[sum i_d dst_stride_d] = src[sum i_d src_stride_d] for every i with 0 <= i_d < extent_d. Strides may be negative,
/// and 0 in the source (broadcast); destinations are distinct. Transpose, Slice, Concat, Split, Expand, Tile,
/// DepthToSpace, ... are calls of this. Any order of dimensions is correct; collapse_copy finds the fast one.
struct CopyArgs {
  const void* src = nullptr;
  void* dst = nullptr;
  int32_t element_bytes = 4;
  int32_t rank = 0;
  int64_t extent[kMaxDims] = {};
  int64_t src_stride[kMaxDims] = {};
  int64_t dst_stride[kMaxDims] = {};
};

/// dst[i] = value for i < count. The value is the low element_bytes of `value`.
struct FillArgs {
  void* dst = nullptr;
  int32_t element_bytes = 4;
  int64_t count = 0;
  uint64_t value = 0;
};

/// Between plain [batch, channels, spatial] (or, channels_last, [batch, spatial, channels]) and blocked
/// [batch][ceil(channels / lanes)][spatial][lanes] float32. Padding lanes are written 0.
struct ReorderArgs {
  const float* src = nullptr;
  float* dst = nullptr;
  int64_t batch = 0, channels = 0, spatial = 0;
  int64_t plain_batch_stride = 0;  // of the plain side; channels * spatial when it is contiguous
  bool channels_last = false;
};

/// y[o][k][i] = data[o][indices[k]][i]; data is [outer, extent, inner], y [outer, count, inner].
struct GatherArgs {
  const void* data = nullptr;
  const void* indices = nullptr;
  void* y = nullptr;
  int32_t element_bytes = 4, index_bytes = 8;
  int64_t outer = 1, extent = 0, inner = 1, count = 0;
  int64_t* error = nullptr;
};

/// y[i] = data[i with i_axis replaced by indices[i]]; y has the shape of indices. Both tensors are contiguous.
struct GatherElementsArgs {
  const void* data = nullptr;
  const void* indices = nullptr;
  void* y = nullptr;
  int32_t element_bytes = 4, index_bytes = 8;
  int32_t rank = 0, axis = 0;
  int64_t data_extent[kMaxDims] = {};
  int64_t index_extent[kMaxDims] = {};
  int64_t* error = nullptr;
};

/// y[b][k] = data[b][indices[b][k][0]]...[indices[b][k][depth-1]], slices of `slice` elements. data is
/// [batch, extent[0], ..., extent[depth-1], slice], indices [batch, count, depth], y [batch, count, slice].
struct GatherNdArgs {
  const void* data = nullptr;
  const void* indices = nullptr;
  void* y = nullptr;
  int32_t element_bytes = 4, index_bytes = 8, depth = 0;
  int64_t batch = 1, count = 0, slice = 1;
  int64_t extent[kMaxDims] = {};
  int64_t* error = nullptr;  // positions count indices, not tuples
};

enum class ScatterOp : int32_t { kSet, kAdd, kMul, kMax, kMin };

/// y[i with i_axis replaced by indices[i]] op= updates[i], in ascending order of i_axis where several hit one element.
/// y holds the data already; y, indices and updates are contiguous. `type` matters unless op is kSet, then
/// element_bytes does.
struct ScatterElementsArgs {
  void* y = nullptr;
  const void* indices = nullptr;
  const void* updates = nullptr;
  ScatterOp op = ScatterOp::kSet;
  DType type = DType::f32;
  int32_t element_bytes = 4, index_bytes = 8;
  int32_t rank = 0, axis = 0;
  int64_t data_extent[kMaxDims] = {};
  int64_t index_extent[kMaxDims] = {};
  int64_t* error = nullptr;
};

/// y[indices[k][0]]...[indices[k][depth-1]] op= updates[k], slices of `slice` elements, in ascending order of k.
struct ScatterNdArgs {
  void* y = nullptr;  // [extent[0], ..., extent[depth-1], slice], holds the data already
  const void* indices = nullptr;
  const void* updates = nullptr;
  ScatterOp op = ScatterOp::kSet;
  DType type = DType::f32;
  int32_t element_bytes = 4, index_bytes = 8, depth = 0;
  int64_t count = 0, slice = 1;
  int64_t extent[kMaxDims] = {};
  int64_t* error = nullptr;
};

/// dst[i_0]...[i_r] = src[sum map_d[i_d] src_stride_d], or `value` where any map_d[i_d] is negative. dst is contiguous.
/// Pad in all its modes and Resize to the nearest source are calls of this.
struct MapArgs {
  const void* src = nullptr;
  void* dst = nullptr;
  int32_t element_bytes = 4, rank = 0;
  int64_t extent[kMaxDims] = {};
  int64_t src_stride[kMaxDims] = {};
  const int32_t* map[kMaxDims] = {};  // extent[d] source positions each
  int64_t run_begin = 0;   // within the last map: a run of positions that ascend by one (longest_run finds it),
  int64_t run_length = 0;  // copied as one piece where the last src_stride is 1; 0 is always correct
  bool doubles = false;    // position i of the last map is i / 2, and the last src_stride 1; false is always correct
  uint64_t value = 0;
};

/// y[o][j][i] = sum over t < taps of weight[t][j] * x[o][index[t][j]][i], or `outside` where index[0][j] is negative:
/// one axis of a linear or cubic Resize. x is [outer, in, inner], y [outer, out, inner]. Of doubles every product and sum is rounded by itself,
/// in the order of t from 0 on: what is made of them as integers is the same on all kernel sets.
template <class T>
struct ResampleOf {
  const T* x = nullptr;
  T* y = nullptr;
  int64_t outer = 1, in = 0, out = 0, inner = 1;
  int32_t taps = 2;
  const int32_t* index = nullptr;  // [taps, out], within [0, in)
  const T* weight = nullptr;       // [taps, out]
  T outside = 0;
};
using ResampleArgs = ResampleOf<float>;
using ResampleF64Args = ResampleOf<double>;

/// y[c * y_stride + j] (+)= sum over t < taps of weight[t][j] * x[c * x_stride + index[t][j]] for c < channels, j < count, where a negative
/// index reads 0: what samples images at places that are computed (GridSample, RoiAlign, DeformConv). A task is a channel.
/// Blocked: x and y hold blocks of `lanes` channels, x_stride and y_stride apart, in which an index and j count pixels of `lanes`
/// elements; all lanes of the last block are there. A task is a block.
/// Largest: the greatest product in place of the sum, one that reads nothing being 0. A product that is NaN counts where it is the first, y's
/// included, and is passed over elsewhere, as by std::max.
struct WeightedGatherArgs {
  const float* x = nullptr;
  float* y = nullptr;
  int64_t channels = 0, count = 0;
  int64_t x_stride = 0, y_stride = 0;
  int64_t taps = 0;
  const int32_t* index = nullptr;  // [taps, count]
  const float* weight = nullptr;   // [taps, count]
  bool accumulate = false;         // the sum, or maximum, starts from y
  bool blocked = false;
  bool largest = false;
};

/// y[o][d][i] = on where indices[o][i] is d (negative ones plus depth), else off. Indices out of range give off
/// everywhere; that is no error. y is [outer, depth, inner].
struct OneHotArgs {
  const void* indices = nullptr;
  void* y = nullptr;
  int32_t element_bytes = 4, index_bytes = 8;
  int64_t outer = 0, depth = 0, inner = 1;
  uint64_t on = 1, off = 0;  // bits of the elements
};

/// y = x where column - row >= k (upper) or <= k (lower), else 0. [batch, rows, columns]; y may be x.
struct TriluArgs {
  const void* x = nullptr;
  void* y = nullptr;
  int32_t element_bytes = 4;
  bool upper = true;
  int64_t batch = 0, rows = 0, columns = 0, k = 0;
};

struct DataKernels {
  TaskKernel<CopyArgs> copy;
  TaskKernel<FillArgs> fill;
  TaskKernel<ReorderArgs> to_blocked;
  TaskKernel<ReorderArgs> from_blocked;
  TaskKernel<GatherArgs> gather;
  TaskKernel<GatherElementsArgs> gather_elements;
  TaskKernel<GatherNdArgs> gather_nd;
  TaskKernel<ScatterElementsArgs> scatter_elements;
  TaskKernel<ScatterNdArgs> scatter_nd;
  TaskKernel<MapArgs> map;
  TaskKernel<ResampleArgs> resample;
  TaskKernel<ResampleF64Args> resample_f64;
  TaskKernel<OneHotArgs> one_hot;
  TaskKernel<TriluArgs> trilu;
  TaskKernel<WeightedGatherArgs> weighted_gather;
};

}  // namespace svengine::kernels
