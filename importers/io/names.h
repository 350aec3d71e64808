// Names from files: checked, and made harmless before they are shown.
#pragma once
#include <string>
#include <string_view>

#include "engine/base/status.h"

namespace svengine {

inline constexpr size_t kMaxName = 4096;

/// For messages: control characters and bytes that are not UTF-8 as \xNN, and no more than `limit` bytes of it.
std::string printable(std::string_view text, size_t limit = 200);

/// Refuses names that are longer than kMaxName, not UTF-8, or hold control characters (terminal escapes in a log).
/// `what` is the kind of thing named: "value", "attribute", ...
Status check_name(std::string_view what, std::string_view name);

}  // namespace svengine
