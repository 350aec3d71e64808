#include "engine/ops/random/random_common.h"

#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <memory>

namespace svengine::ops {
namespace {

/// The seed of a node's first run: by the plans' seed and its first output, or what no other plan starts from.
uint64_t first_seed(const LowerContext& c) {
  if (c.options().seed) {
    const PhiloxCounter words = RandomStream(*c.options().seed).at(c.node().output(0)->name()).block(0);
    return static_cast<uint64_t>(words[0]) << 32 | words[1];
  }
  uint64_t bits = 0;
  if (getentropy(&bits, sizeof bits) == 0) return bits;
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

Buffer emit_seed(LowerContext& c) {
  const Buffer seed = c.temporary(8);
  if (const float* given = c.attributes().get<float>("seed")) {
    const uint64_t bits = std::bit_cast<uint32_t>(*given);
    c.emit("seed", 1, [=](const Run& run, int64_t, int64_t) -> const char* {
      *run.get<uint64_t>(seed) = bits;
      return nullptr;
    });
    return seed;
  }
  const auto runs = std::make_shared<std::atomic<uint64_t>>(first_seed(c));
  c.emit("seed", 1, [=](const Run& run, int64_t, int64_t) -> const char* {
    *run.get<uint64_t>(seed) = runs->fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  });
  return seed;
}

}  // namespace svengine::ops
