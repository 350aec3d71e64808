// Scripts with which shells complete the program's command line, made of what the commands say of their options.
#pragma once
#include <string>

#include "tools/support/command_line.h"

namespace svengine::tool {

std::string bash_completion(const CommandInfo& program);
std::string zsh_completion(const CommandInfo& program);
std::string fish_completion(const CommandInfo& program);

}  // namespace svengine::tool
