// How the reference kernels are cut into tasks, and where channels lie. They are a kernel set like those of SVE, by the plainest
// code: every kernel is a loop over independent items (elements, rows, planes, channels), each of them computed in double and
// rounded once.
#pragma once
#include <algorithm>
#include <cstdint>

#include "engine/kernels/extent.h"
#include "engine/kernels/task_kernel.h"

namespace svengine::kernels::reference {

/// The channel block of the blocked layout: small, so that networks of few channels have several, and one that is not full.
inline constexpr int kLanes = 4;

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }
inline int64_t volume(const Extent& e) { return e.depth * e.height * e.width; }

template <class Args>
int64_t no_scratch(const Args&) noexcept {
  return 0;
}

/// The kernel whose tasks are kEach neighbours each of kItems(args) items; kRange computes the items [begin, end).
template <class Args, int64_t (*kItems)(const Args&), void (*kRange)(const Args&, int64_t begin, int64_t end, void* scratch),
          int64_t kEach>
constexpr TaskKernel<Args> by_items(int64_t (*scratch_bytes)(const Args&) noexcept = no_scratch<Args>) {
  return {[](const Args& args) noexcept { return ceil_div(kItems(args), kEach); }, scratch_bytes,
          [](const Args& args, int64_t begin, int64_t end, void* scratch) noexcept {
            kRange(args, begin * kEach, std::min(kItems(args), end * kEach), scratch);
          }};
}

/// Where the elements of one channel of one image lie: start, start + step, ...
struct Plane {
  int64_t start, step;
};

inline Plane plane_of(bool blocked, int64_t image, int64_t channel, int64_t channels, int64_t size) {
  if (!blocked) return {(image * channels + channel) * size, 1};
  return {((image * ceil_div(channels, kLanes) + channel / kLanes) * size) * kLanes + channel % kLanes, kLanes};
}

/// Channels in memory: blocked layouts fill up their last block.
inline int64_t stored_channels(bool blocked, int64_t channels) { return blocked ? round_up(channels, kLanes) : channels; }

}  // namespace svengine::kernels::reference
