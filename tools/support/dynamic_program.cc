#include "tools/support/dynamic_program.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "runtime/plugin.h"

namespace svengine::tool {

void become_dynamic_for_plugins(int argc, char** argv) {
  const auto names_plugin = [](std::string_view argument) { return argument == "--plugin" || argument.substr(0, 9) == "--plugin="; };
  if (can_load_plugins() || std::none_of(argv + std::min(argc, 1), argv + argc, names_plugin)) return;
  std::error_code problem;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (!problem) execv((self.parent_path() / "svengine-dynamic").c_str(), argv);  // returns where it is not there
}

}  // namespace svengine::tool
