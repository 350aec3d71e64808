// DEFLATE in bounded memory: the caller says how much there will be, and nothing beyond that is produced.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/status.h"

namespace svengine {

enum class Deflated {
  raw,   // as in ZIP files
  gzip,
};

/// No stream grows by more than this when it is inflated (DEFLATE's limit is 1032), so a size that claims more is a lie and
/// need not be allocated.
inline constexpr size_t kMostInflation = 1040;

/// Fills `out` with exactly the content of `in`; fails when that is damaged, shorter or longer.
Status inflate_exactly(Deflated kind, std::span<const std::byte> in, std::span<std::byte> out);

/// The first `count` bytes of the content, or fewer if it has fewer.
Result<std::vector<std::byte>> inflate_front(Deflated kind, std::span<const std::byte> in, size_t count);

}  // namespace svengine
