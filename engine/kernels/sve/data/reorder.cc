// Plain layouts to and from NCHWc.
//
//   plain, a block of channels            blocked
//   channel 0   [p0 p1 p2 p3 ...]         pixel 0  [c0 c1 c2 c3 ...]     squares of lanes x lanes,
//   channel 1   [p0 p1 p2 p3 ...]   <->   pixel 1  [c0 c1 c2 c3 ...]     transposed in registers
//   ...                                   ...
//
// With the channels last, both sides have the channels contiguous and only whole vectors move.
#include "engine/kernels/sve/data/kernels.h"
#include "engine/kernels/sve/data/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

namespace {

constexpr int64_t kPixels = 256;  // of one item

struct Blocks {
  int64_t blocks, steps;
  TaskPartition partition;

  explicit Blocks(const ReorderArgs& args)
      : blocks(ceil_div(args.channels, kLanes)),
        steps(ceil_div(args.spatial, kPixels)),
        partition(args.batch * blocks * steps, smaller(args.spatial, kPixels) * kLanes) {}
};

// Calls f(blocked offset, plain offset, channels of this block, pixels) for every item.
template <class F>
SVENGINE_INLINE void for_items(const ReorderArgs& args, int64_t begin, int64_t end, const F& f) {
  const Blocks b(args);
  for (int64_t item = b.partition.begin(begin); item < b.partition.begin(end); ++item) {
    const int64_t pixel = item % b.steps * kPixels, block = item / b.steps % b.blocks,
                  image = item / b.steps / b.blocks;
    const int64_t channel = block * kLanes;
    const int64_t blocked = ((image * b.blocks + block) * args.spatial + pixel) * kLanes;
    const int64_t plain = args.channels_last ? pixel * args.channels + channel : channel * args.spatial + pixel;
    f(blocked, image * args.plain_batch_stride + plain, smaller(kLanes, args.channels - channel),
      smaller(kPixels, args.spatial - pixel));
  }
}

}  // namespace

int64_t to_blocked_tasks(const ReorderArgs& args) noexcept { return Blocks(args).partition.tasks(); }
int64_t from_blocked_tasks(const ReorderArgs& args) noexcept { return Blocks(args).partition.tasks(); }

void to_blocked_run(const ReorderArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const uint32_t* src = reinterpret_cast<const uint32_t*>(args.src);
  uint32_t* dst = reinterpret_cast<uint32_t*>(args.dst);
  for_items(args, begin, end, [&](int64_t blocked, int64_t plain, int64_t channels, int64_t pixels) {
    if (args.channels_last) {
      const vb all = svptrue_b32(), some = svwhilelt_b32(int64_t(0), channels);
      for (int64_t i = 0; i < pixels; ++i)
        store_lanes(all, dst + blocked + i * kLanes, load_lanes(some, src + plain + i * args.channels));
      return;
    }
    for (int64_t i = 0; i < pixels; i += kLanes)
      transpose_tile(dst + blocked + i * kLanes, kLanes, src + plain + i, args.spatial, channels,
                     smaller(kLanes, pixels - i), kLanes);
  });
}

void from_blocked_run(const ReorderArgs& args, int64_t begin, int64_t end, void*) noexcept {
  const uint32_t* src = reinterpret_cast<const uint32_t*>(args.src);
  uint32_t* dst = reinterpret_cast<uint32_t*>(args.dst);
  for_items(args, begin, end, [&](int64_t blocked, int64_t plain, int64_t channels, int64_t pixels) {
    if (args.channels_last) {
      const vb all = svptrue_b32(), some = svwhilelt_b32(int64_t(0), channels);
      for (int64_t i = 0; i < pixels; ++i)
        store_lanes(some, dst + plain + i * args.channels, load_lanes(all, src + blocked + i * kLanes));
      return;
    }
    for (int64_t i = 0; i < pixels; i += kLanes) {
      const int64_t rows = smaller(kLanes, pixels - i);
      transpose_tile(dst + plain + i, args.spatial, src + blocked + i * kLanes, kLanes, rows, channels, rows);
    }
  });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
