#include "tools/support/manual.h"

#include <algorithm>
#include <vector>

#include "tools/support/output.h"

namespace svengine::tool {
namespace manual {

/// Text as roff shows it: nothing in it is a request, and hyphens are those of options, which can be copied.
std::string escape(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
    begins = c == '\n';
  }
  return out;
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

std::string bold(const std::string& text) { return "\\fB" + escape(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + escape(text) + "\\fR"; }

std::string header(const std::string& name, const std::string& version, const std::string& purpose) {
  return fmt::format(".TH {} 1 \"\" \"svengine {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n", escape(upper(name)), version, escape(name),
                     escape(purpose));
}

std::string row(const OptionInfo& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "" : ", ") + (option.is_argument ? italic(name) : bold(name));
  if (option.is_optional_value) names += "[=" + italic(option.value) + ']';
  else if (!option.value.empty()) names += ' ' + italic(option.value);
  if (option.is_list) names += " ...";
  std::string text = option.description;
  for (size_t at; (at = text.find('\n')) != text.npos;) text.replace(at, 1, text[at + 1] == '(' ? " " : "; ");
  if (option.is_required && !option.is_argument) text += " (required)";
  return ".TP\n" + names + '\n' + escape(text) + '\n';
}

std::string options(const CommandInfo& command) {
  std::vector<std::string> groups;
  std::string arguments, out;
  for (const OptionInfo& option : command.options) {
    if (option.is_argument) arguments += row(option);
    else if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  if (!arguments.empty()) out += ".SH ARGUMENTS\n" + arguments;
  if (!groups.empty()) out += ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    if (group != groups.front()) out += ".SS " + escape(group) + '\n';
    for (const OptionInfo& option : command.options)
      if (!option.is_argument && option.group == group) out += row(option);
  }
  return out;
}

/// Words before "Examples:" are notes; the examples stand as they are.
std::string footer(const std::string& text) {
  static constexpr std::string_view kExamples = "Examples:\n";
  const size_t at = text.find(kExamples);
  std::string out;
  const std::string notes = text.substr(0, at);
  if (!notes.empty()) out += ".SH NOTES\n.nf\n" + escape(notes) + (notes.ends_with('\n') ? "" : "\n") + ".fi\n";
  if (at != text.npos) out += ".SH EXAMPLES\n.nf\n" + escape(text.substr(at + kExamples.size())) + "\n.fi\n";
  return out;
}

}  // namespace manual

std::string program_page(const CommandInfo& program, const std::string& version) {
  const std::string& text = program.description;
  const size_t line = text.find('\n');
  std::string out = manual::header(program.name, version, "run, train and check neural networks from ONNX files");
  out += ".SH SYNOPSIS\n" + manual::bold(program.name) + " [" + manual::italic("OPTIONS") + "] " + manual::italic("COMMAND") + " ...\n";
  out += ".SH DESCRIPTION\n" + manual::escape(text.substr(0, line)) + '\n';
  if (line != text.npos) out += ".PP\n" + manual::escape(text.substr(line + 1)) + '\n';
  out += manual::options(program) + ".SH COMMANDS\n";
  std::string pages;
  for (const CommandInfo& command : program.subcommands) {
    out += ".TP\n" + manual::bold(command.name) + '\n' + manual::escape(command.description) + '\n';
    pages += (pages.empty() ? "" : ",\n") + manual::bold(program.name + '-' + command.name) + "(1)";
  }
  return out + manual::footer(program.footer) + ".SH SEE ALSO\n" + pages + '\n';
}

std::string command_page(const CommandInfo& program, const CommandInfo& command, const std::string& version) {
  std::string out = manual::header(program.name + '-' + command.name, version, command.description);
  out += ".SH SYNOPSIS\n" + manual::bold(program.name + ' ' + command.name) + " [" + manual::italic("OPTIONS") + ']';
  for (const OptionInfo& option : command.options)
    if (option.is_argument) out += option.is_required ? ' ' + manual::italic(option.names[0]) : " [" + manual::italic(option.names[0]) + ']';
  out += '\n' + manual::options(command) + manual::footer(command.footer);
  return out + ".SH SEE ALSO\n" + manual::bold(program.name) + "(1)\n";
}

}  // namespace svengine::tool
