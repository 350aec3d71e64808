// svengine manual: its man pages.
#include "tools/support/manual.h"

#include <filesystem>
#include <memory>
#include <string>

#include "engine/base/file.h"
#include "tools/commands/commands.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace manual_command {

struct Options {
  std::string command, output_dir;
};

Status write(const std::string& folder, const std::string& name, const std::string& page) {
  SV_ASSIGN(AtomicFile file, AtomicFile::create(folder + '/' + name + ".1"));
  SV_TRY(file.write(page));
  return file.finish();
}

Status write_all(const CommandInfo& program, const std::string& folder) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return error("--output-dir {}: {}", folder, problem.message());
  SV_TRY(write(folder, program.name, program_page(program, SVENGINE_VERSION)));
  for (const CommandInfo& command : program.subcommands)
    SV_TRY(write(folder, program.name + '-' + command.name, command_page(program, command, SVENGINE_VERSION)));
  return {};
}

Result<int> run(const CommandInfo& program, const Options& options) {
  if (!options.output_dir.empty()) {
    SV_TRY(write_all(program, options.output_dir));
    return kSuccess;
  }
  if (options.command.empty()) {
    put(program_page(program, SVENGINE_VERSION));
    return kSuccess;
  }
  for (const CommandInfo& command : program.subcommands)
    if (command.name == options.command) {
      put(command_page(program, command, SVENGINE_VERSION));
      return kSuccess;
    }
  return error("manual: there is no command '{}'", options.command);
}

}  // namespace manual_command

Action add_manual(Command& program) {
  using namespace manual_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("manual", "Print a man page, or write all of them");
  Option* name = command.add_option("COMMAND", options->command, "Of this command; without it, of the program")->type_name("");
  command.add_option("--output-dir", options->output_dir, "Write the pages of all commands there, as svengine-COMMAND.1")
      ->type_name("DIR")
      ->excludes(name);
  command.footer("Examples:\n  svengine manual run | man -l -\n  svengine manual --output-dir ~/.local/share/man/man1");
  return [options, &program] { return run(program.info(), *options); };
}

}  // namespace svengine::tool
