#include "tools/support/completion.h"

#include <fmt/ranges.h>

#include <map>
#include <vector>

#include "tools/support/output.h"

namespace svengine::tool {
namespace completion {

/// What a shell can offer for a value: of words nothing else.
enum class Kind { words, folder, file, other };

bool is_any_of(const std::string& name, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    if (name.find(part) != name.npos) return true;
  return false;
}

Kind kind_of(const OptionInfo& option) {
  if (!option.words.empty()) return Kind::words;
  if (option.is_argument) return option.names[0] == "DIR" ? Kind::folder : Kind::file;
  if (is_any_of(option.value, {"DIR"})) return Kind::folder;
  return is_any_of(option.value, {"FILE", "PATH", "OUTPUT", "REF", "SOURCE", "DB"}) ? Kind::file : Kind::other;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Within single quotes of a shell.
std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + '\'';
}

std::vector<std::string> names_of(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> out;
  for (const CommandInfo& command : commands) out.push_back(command.name);
  return out;
}

std::vector<std::string> names_of(const std::vector<OptionInfo>& options) {
  std::vector<std::string> out;
  for (const OptionInfo& option : options)
    if (!option.is_argument) out.insert(out.end(), option.names.begin(), option.names.end());
  return out;
}

/// Lines of a `case` of bash: of "COMMAND OPTION", what its value can be; and of "COMMAND", the words of its first argument.
std::string bash_values(const CommandInfo& program) {
  std::map<std::string, std::vector<std::string>> of;  // what is answered, and to which questions
  for (const CommandInfo& command : program.subcommands) {
    for (const OptionInfo& option : command.options) {
      const Kind kind = kind_of(option);
      if (option.is_argument && kind != Kind::words) continue;
      if (!option.is_argument && (option.value.empty() || option.is_optional_value)) continue;
      const std::string answer = kind == Kind::words    ? fmt::format("{}", fmt::join(option.words, " "))
                                 : kind == Kind::folder ? "/folder"
                                 : kind == Kind::file   ? "/file"
                                                        : "/other";
      if (option.is_argument) of[answer].push_back(in_quotes(command.name));
      else for (const std::string& name : option.names) of[answer].push_back(in_quotes(command.name + ' ' + name));
    }
  }
  std::string out;
  for (const auto& [answer, questions] : of) out += fmt::format("    {}) echo {} ;;\n", fmt::join(questions, "|"), in_quotes(answer));
  return out;
}

constexpr const char* kBashEnd = R"(
_svengine() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word values
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) command=$word; break ;; esac
  done
  if [[ $current == = ]]; then current=; elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $previous == -* ]]; then values=$(_svengine_values "$command $previous"); fi
  if [[ -z $values && $current == -* ]]; then values=$(_svengine_options "$command"); fi
  if [[ -z $values && -z $command ]]; then values=$(_svengine_options commands); fi
  if [[ -z $values && $previous == "$command" ]]; then values=$(_svengine_values "$command"); fi
  case $values in
    /other) ;;
    /folder) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
    /file|'') compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current") ;;
  esac
}
complete -F _svengine svengine
)";

/// Within [..] of zsh's _arguments, or behind its colons.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) out += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out;
}

std::string zsh_action(const OptionInfo& option) {
  switch (kind_of(option)) {
    case Kind::words: return fmt::format("({})", fmt::join(option.words, " "));
    case Kind::folder: return "_files -/";
    case Kind::file: return "_files";
    case Kind::other: return " ";
  }
  return " ";
}

std::string zsh_options(const CommandInfo& command) {
  std::string out;
  for (const OptionInfo& option : command.options) {
    if (option.is_argument) {
      out += " \\\n        " + in_quotes((option.is_list       ? "*:"
                                          : option.is_required ? ":"
                                                               : "::") +
                                         zsh_text(option.names[0]) + ':' + zsh_action(option));
      continue;
    }
    for (const std::string& name : option.names) {
      std::string text =
          (option.is_list ? "*" : "") + name + (option.is_optional_value ? "=-" : "") + '[' + zsh_text(first_line(option.description)) + ']';
      if (!option.value.empty()) text += (option.is_optional_value ? "::" : ":") + zsh_text(option.value) + ':' + zsh_action(option);
      out += " \\\n        " + in_quotes(text);
    }
  }
  return out;
}

std::string fish_option(const std::string& condition, const OptionInfo& option) {
  std::string out = "complete -c svengine -n " + in_quotes(condition);
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty() && !option.is_optional_value) {
    const Kind kind = kind_of(option);
    out += " -r";
    if (kind == Kind::words) out += " -f -a " + in_quotes(fmt::format("{}", fmt::join(option.words, " ")));
    else if (kind == Kind::folder) out += " -f -a '(__fish_complete_directories)'";
    else if (kind == Kind::file) out += " -F";
    else out += " -f";
  }
  return out + " -d " + in_quotes(first_line(option.description)) + '\n';
}

}  // namespace completion

std::string bash_completion(const CommandInfo& program) {
  using namespace completion;
  std::string out = "# Completion of svengine's command line for bash, made by `svengine completion bash`.\n_svengine_options() {\n  case $1 in\n";
  out += fmt::format("    commands) echo {} ;;\n", in_quotes(fmt::format("{}", fmt::join(names_of(program.subcommands), " "))));
  out += fmt::format("    '') echo {} ;;\n", in_quotes(fmt::format("{}", fmt::join(names_of(program.options), " "))));
  for (const CommandInfo& command : program.subcommands)
    out += fmt::format("    {}) echo {} ;;\n", command.name, in_quotes(fmt::format("{}", fmt::join(names_of(command.options), " "))));
  return out + "  esac\n}\n\n_svengine_values() {\n  case $1 in\n" + bash_values(program) + "  esac\n}\n" + kBashEnd;
}

std::string zsh_completion(const CommandInfo& program) {
  using namespace completion;
  std::string out = "#compdef svengine\n# Completion of svengine's command line for zsh, made by `svengine completion zsh`.\n_svengine() {\n"
                    "  local line state\n  local -a commands\n  commands=(\n";
  for (const CommandInfo& command : program.subcommands) out += "    " + in_quotes(command.name + ':' + zsh_text(command.description)) + '\n';
  out += "  )\n  _arguments -C" + zsh_options(program) + " \\\n        ': :->command' '*:: :->rest'\n  case $state in\n"
         "    command) _describe command commands ;;\n    rest)\n      case $line[1] in\n";
  for (const CommandInfo& command : program.subcommands) out += "      " + command.name + ") _arguments" + zsh_options(command) + " ;;\n";
  return out + "      esac ;;\n  esac\n}\n_svengine \"$@\"\n";
}

std::string fish_completion(const CommandInfo& program) {
  using namespace completion;
  std::string out = "# Completion of svengine's command line for fish, made by `svengine completion fish`.\n";
  for (const OptionInfo& option : program.options) out += fish_option("__fish_use_subcommand", option);
  for (const CommandInfo& command : program.subcommands) {
    out += fmt::format("complete -c svengine -n __fish_use_subcommand -f -a {} -d {}\n", command.name, in_quotes(command.description));
    for (const OptionInfo& option : command.options) {
      const std::string condition = "__fish_seen_subcommand_from " + command.name;
      if (!option.is_argument) out += fish_option(condition, option);
      else if (!option.words.empty())
        out += fmt::format("complete -c svengine -n {} -a {}\n", in_quotes(condition), in_quotes(fmt::format("{}", fmt::join(option.words, " "))));
    }
  }
  return out;
}

}  // namespace svengine::tool
