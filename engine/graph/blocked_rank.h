// Which values may be stored in blocks of channels (Type::block).
#pragma once
#include <cstdint>

namespace svengine {

/// [N, C, W], [N, C, H, W] and [N, C, D, H, W].
constexpr bool is_blocked_rank(int64_t rank) { return rank >= 3 && rank <= 5; }

}  // namespace svengine
