// uint64 by the kernels of int64.
#include "engine/ops/wide/items.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops::wide {

void emit_sign_flip(LowerContext& c, Buffer from, Buffer to, int64_t count) {
  emit_items(c, "flip_sign", count, items_of_work(1), [=](const Run& run, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) run.get<uint64_t>(to)[i] = run.get<const uint64_t>(from)[i] ^ (uint64_t{1} << 63);
  });
}

Buffer with_flipped_sign(LowerContext& c, Buffer from, int64_t count) {
  const Buffer to = c.temporary(count * 8);
  emit_sign_flip(c, from, to, count);
  return to;
}

void emit_unsigned_quotients(LowerContext& c, Buffer values, int64_t count, int64_t divisor) {
  emit_items(c, "divide", count, items_of_work(8), [=](const Run& run, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      run.get<uint64_t>(values)[i] = divisor ? run.get<uint64_t>(values)[i] / static_cast<uint64_t>(divisor) : 0;
  });
}

}  // namespace svengine::ops::wide
