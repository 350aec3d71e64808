// A static library of an emitted source, by the system's C compiler.
#pragma once
#include <string>

#include "engine/base/status.h"

namespace svengine::tool::emit {

/// Compiles SOURCE with `compiler` (a program, and options behind it) and -O3, and makes an archive of the object. What was at `library` stays
/// where one of the programs fails, whose messages are on standard error.
Status compile_library(const std::string& source, const std::string& library, const std::string& compiler);

}  // namespace svengine::tool::emit
