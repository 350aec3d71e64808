// The data family's row, and its copies: strided, constant, between layouts, by maps.
#include "engine/kernels/reference/set/data.h"

#include "engine/kernels/reference/set/tasks.h"
#include "engine/kernels/reference/set/types.h"
#include "engine/kernels/reference/set/walk.h"

namespace svengine::kernels::reference {
namespace {

Walk<2> walk_of(const CopyArgs& args) {
  Walk<2> walk;
  for (int d = 0; d < args.rank; ++d) walk.add(args.extent[d], {args.src_stride[d], args.dst_stride[d]});
  return walk;
}

int64_t copy_items(const CopyArgs& args) { return walk_of(args).positions(); }

void copy_range(const CopyArgs& args, int64_t begin, int64_t end, void*) {
  visit_bytes(args.element_bytes, [&]<class T>(T) {
    Walk<2> walk = walk_of(args);
    for_each_position(walk, begin, end, [&](int64_t, const Walk<2>& at) {
      static_cast<T*>(args.dst)[at.offset(1)] = static_cast<const T*>(args.src)[at.offset(0)];
    });
  });
}

int64_t fill_items(const FillArgs& args) { return args.count; }

void fill_range(const FillArgs& args, int64_t begin, int64_t end, void*) {
  visit_bytes(args.element_bytes, [&]<class T>(T) {
    for (int64_t i = begin; i < end; ++i) static_cast<T*>(args.dst)[i] = static_cast<T>(args.value);
  });
}

/// Channels of the blocked side.
int64_t reorder_items(const ReorderArgs& args) { return args.batch * stored_channels(true, args.channels); }

/// Where element i of a channel of an image is on the plain side.
int64_t plain_at(const ReorderArgs& args, int64_t image, int64_t channel, int64_t i) {
  return image * args.plain_batch_stride + (args.channels_last ? i * args.channels + channel : channel * args.spatial + i);
}

void to_blocked_range(const ReorderArgs& args, int64_t begin, int64_t end, void*) {
  const int64_t stored = stored_channels(true, args.channels);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t image = item / stored, c = item % stored;
    const Plane to = plane_of(true, image, c, args.channels, args.spatial);
    for (int64_t i = 0; i < args.spatial; ++i)
      args.dst[to.start + i * to.step] = c < args.channels ? args.src[plain_at(args, image, c, i)] : 0.0f;
  }
}

void from_blocked_range(const ReorderArgs& args, int64_t begin, int64_t end, void*) {
  const int64_t stored = stored_channels(true, args.channels);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t image = item / stored, c = item % stored;
    if (c >= args.channels) continue;
    const Plane from = plane_of(true, image, c, args.channels, args.spatial);
    for (int64_t i = 0; i < args.spatial; ++i) args.dst[plain_at(args, image, c, i)] = args.src[from.start + i * from.step];
  }
}

Walk<1> walk_of(const MapArgs& args) {
  Walk<1> walk;
  for (int d = 0; d < args.rank; ++d) walk.add(args.extent[d], {0});
  return walk;
}

int64_t map_items(const MapArgs& args) { return walk_of(args).positions(); }

void map_range(const MapArgs& args, int64_t begin, int64_t end, void*) {
  visit_bytes(args.element_bytes, [&]<class T>(T) {
    Walk<1> walk = walk_of(args);
    for_each_position(walk, begin, end, [&](int64_t i, const Walk<1>& at) {
      int64_t from = 0;
      bool exists = true;
      for (int d = 0; d < args.rank; ++d) {
        const int64_t position = args.map[d][at.index(d)];
        exists = exists && position >= 0;
        from += position * args.src_stride[d];
      }
      static_cast<T*>(args.dst)[i] = exists ? static_cast<const T*>(args.src)[from] : static_cast<T>(args.value);
    });
  });
}

/// Elements of a task, where an item is one.
constexpr int64_t kEach = 4096;

}  // namespace

extern const DataKernels data_kernels;
constinit const DataKernels data_kernels{
    .copy = by_items<CopyArgs, copy_items, copy_range, kEach>(),
    .fill = by_items<FillArgs, fill_items, fill_range, kEach>(),
    .to_blocked = by_items<ReorderArgs, reorder_items, to_blocked_range, 1>(),
    .from_blocked = by_items<ReorderArgs, reorder_items, from_blocked_range, 1>(),
    .gather = by_items<GatherArgs, gather_items, gather_range, 64>(),
    .gather_elements = by_items<GatherElementsArgs, gather_elements_items, gather_elements_range, kEach>(),
    .gather_nd = by_items<GatherNdArgs, gather_nd_items, gather_nd_range, 64>(),
    .scatter_elements = by_items<ScatterElementsArgs, scatter_elements_items, scatter_elements_range, 64>(),
    .scatter_nd = by_items<ScatterNdArgs, scatter_nd_items, scatter_nd_range, 64>(),
    .map = by_items<MapArgs, map_items, map_range, kEach>(),
    .resample = by_items<ResampleArgs, resample_items, resample_range, kEach>(),
    .resample_f64 = by_items<ResampleF64Args, resample_f64_items, resample_f64_range, kEach>(),
    .one_hot = by_items<OneHotArgs, one_hot_items, one_hot_range, kEach>(),
    .trilu = by_items<TriluArgs, trilu_items, trilu_range, kEach>(),
    .weighted_gather = by_items<WeightedGatherArgs, weighted_gather_items, weighted_gather_range, 1>()};

}  // namespace svengine::kernels::reference
