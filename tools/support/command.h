// What a subcommand of the program is.
#pragma once
#include <functional>

#include "engine/base/status.h"

namespace svengine::tool {

/// Exit codes of the program.
inline constexpr int kSuccess = 0;
inline constexpr int kFailed = 1;  // the command did its work, and the answer is no (a comparison failed)
inline constexpr int kError = 2;   // bad usage or bad input

/// Runs after parsing: an exit code, or an error for the user (exit code 2). Prints its answer to standard output.
using Action = std::function<Result<int>()>;

}  // namespace svengine::tool
