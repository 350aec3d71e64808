// svengine completion: scripts for shells.
#include "tools/support/completion.h"

#include <memory>
#include <string>

#include "tools/commands/commands.h"
#include "tools/support/output.h"

namespace svengine::tool {

Action add_completion(Command& program) {
  auto shell = std::make_shared<std::string>();
  Command& command = *program.add_subcommand("completion", "Print a script that completes this command line in a shell");
  command.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}))->type_name("");
  command.footer("Examples:\n  source <(svengine completion bash)\n  svengine completion fish > ~/.config/fish/completions/svengine.fish");
  return [shell, &program]() -> Result<int> {
    const CommandInfo info = program.info();
    put(*shell == "bash" ? bash_completion(info) : *shell == "zsh" ? zsh_completion(info) : fish_completion(info));
    return kSuccess;
  };
}

}  // namespace svengine::tool
