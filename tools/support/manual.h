// Man pages, made of what the commands say of their options.
#pragma once
#include <string>

#include "tools/support/command_line.h"

namespace svengine::tool {

/// svengine(1), in roff.
std::string program_page(const CommandInfo& program, const std::string& version);
/// svengine-COMMAND(1).
std::string command_page(const CommandInfo& program, const CommandInfo& command, const std::string& version);

}  // namespace svengine::tool
