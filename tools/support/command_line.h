// The program's command line: subcommands and their options.
//
// CLI11 does the work, in command_line.cc alone: its header takes 4 s of compiling (g++ 12) in every file that includes it. What
// is declared here is called as there, and what it refuses is worded by it.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}

namespace svengine::tool {

class HelpFormatter;

/// What an option's values must be.
class Check {
 public:
  /// A function that says what is wrong with a value's text, or nothing.
  explicit Check(std::function<std::string(const std::string&)> refuse);
  explicit Check(std::unique_ptr<CLI::Validator> validator);

  /// `words` are all that it lets through.
  Check(std::unique_ptr<CLI::Validator> validator, std::vector<std::string> words);

  const CLI::Validator& validator() const { return *validator_; }
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::shared_ptr<const CLI::Validator> validator_;
  std::vector<std::string> words_;
};

/// From `low` to `high`: the limits are in errors but not in every line of the help.
Check within(int low, int high);
Check within(int64_t low, int64_t high);
Check within(double low, double high);
Check not_negative();
/// One of these words, which the help leaves to the description.
Check one_of(std::initializer_list<std::string> words);

/// What a man page and a shell are told of an option or argument.
struct OptionInfo {
  std::vector<std::string> names;  // "-h", "--help"; of an argument what stands for it: "MODEL"
  std::string value;               // "FILE"; empty: a flag
  std::string description;         // as it was given
  std::string group;
  std::vector<std::string> words;  // the values it is known to have
  bool is_argument = false;
  bool is_required = false;
  bool is_optional_value = false;  // a flag that may have a value
  bool is_list = false;
};

/// The same of the program or a subcommand.
struct CommandInfo {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<OptionInfo> options;
  std::vector<CommandInfo> subcommands;
};

/// An option of a command, which owns it. The first line of a description stands in --help, all of it
/// in --help-all, where "; " joins the lines. Every function returns the option itself.
class Option {
 public:
  Option(CLI::Option& option, HelpFormatter& help) : option_(option), help_(help) {}

  Option* required();
  Option* check(const Check& check);
  /// What stands for the value in the help: "N", "FILE".
  Option* type_name(const std::string& name);
  /// The heading under which the help lists it.
  Option* group(const std::string& name);
  /// Only together with the other, or only without it.
  Option* needs(const Option* other);
  Option* excludes(const Option* other);
  /// Values of a list are separated so within one argument.
  Option* delimiter(char separator);
  /// Of a list: each value has the option's name before it, instead of all following the first.
  Option* one_at_a_time();
  /// Of a list: at most one value.
  Option* single();
  /// --help has its name alone.
  Option* rare();
  /// Values that a shell may offer, where no check has said which there are.
  Option* offer(std::vector<std::string> words);

  /// Whether it is that one.
  bool is(const CLI::Option* option) const { return &option_ == option; }
  const std::vector<std::string>& words() const { return words_; }

 private:
  CLI::Option& option_;
  HelpFormatter& help_;
  std::vector<std::string> words_;
};

/// The program, or one of its subcommands. What options are bound to must live until parsing is done.
class Command {
 public:
  Command(CLI::App& app, HelpFormatter& help) : app_(app), help_(help) {}

  Command* add_subcommand(const std::string& name, const std::string& description);
  const std::vector<std::unique_ptr<Command>>& subcommands() const { return subcommands_; }

  /// "--name", or "NAME" for an argument without one. T: int, int64_t, uint64_t (size_t), float, double, std::string, optional double and
  /// uint64_t, and vectors of int64_t, float, double, std::string.
  template <class T>
  Option* add_option(const std::string& name, T& value, const std::string& description);
  Option* add_flag(const std::string& name, bool& given, const std::string& description);
  /// A flag that may have a value: "--name{value without =}".
  Option* add_flag(const std::string& name, std::string& value, const std::string& description);
  /// Calls `given` when the flag is there.
  Option* add_flag(const std::string& name, std::function<void()> given, const std::string& description);
  /// What the help ends with.
  void footer(const std::string& text);

  /// Whether the command line had this subcommand.
  bool parsed() const;
  CommandInfo info() const;

 private:
  Option* keep(CLI::Option& option);
  OptionInfo info_of(const CLI::Option& option) const;

  CLI::App& app_;
  HelpFormatter& help_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::unique_ptr<Command>> subcommands_;
};

class CommandLine {
 public:
  /// `version` is what --version prints.
  CommandLine(const std::string& name, const std::string& description, const std::string& version);
  ~CommandLine();

  Command& program() { return program_; }
  /// Sets what the options are bound to. An exit code when that is all there is to do: help or version has been printed, or an error.
  std::optional<int> parse(int argc, char** argv);

 private:
  std::shared_ptr<HelpFormatter> help_;
  std::unique_ptr<CLI::App> app_;
  Command program_;
};

}  // namespace svengine::tool
