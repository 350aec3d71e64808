// What batch norm and its gradient make of the sums that their kernels take image by image.
#pragma once
#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/memory.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// Channels of an image as stored: whole blocks where blocked.
template <class Args>
int64_t stored_channels(const LowerContext& c, const Args& args) {
  return args.blocked ? round_up(args.channels, c.kernels().lanes) : args.channels;
}

/// A step that calls each(run, channel) for all channels.
template <class Each>
void emit_per_channel(LowerContext& c, std::string name, int64_t channels, Each each) {
  constexpr int64_t kEach = 64;  // channels of a task
  c.emit(std::move(name), (channels + kEach - 1) / kEach, [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    for (int64_t i = begin * kEach; i < std::min(channels, end * kEach); ++i) each(run, i);
    return nullptr;
  });
}

}  // namespace svengine::ops
