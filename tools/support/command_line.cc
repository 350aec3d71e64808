#include "tools/support/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <utility>

#include "tools/support/command.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace {

/// Breaks long descriptions into lines.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override { return wrap(option->get_description()); }

 private:
  static std::string wrap(const std::string& text) {
    constexpr size_t kColumns = 88;
    std::string out;
    size_t column = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find(' ', begin), text.size());
      if (column > 0 && column + end - begin >= kColumns) out += '\n', column = 0;
      else if (column > 0) out += ' ', ++column;
      out.append(text, begin, end - begin);
      column += end - begin;
      begin = end + 1;
    }
    return out;
  }
};

template <class T>
Check range(T low, T high) {
  return Check(std::make_unique<CLI::Validator>(CLI::Range(low, high).description("")));
}

}  // namespace

Check::Check(std::function<std::string(const std::string&)> refuse) {
  auto validator = std::make_shared<CLI::Validator>("");
  validator->operation([refuse = std::move(refuse)](std::string& text) { return refuse(text); });
  validator_ = std::move(validator);
}

Check::Check(std::unique_ptr<CLI::Validator> validator) : validator_(std::move(validator)) {}

Check within(int low, int high) { return range(low, high); }
Check within(int64_t low, int64_t high) { return range(low, high); }
Check within(double low, double high) { return range(low, high); }
Check not_negative() { return within(0.0, 1e300); }

Check one_of(std::initializer_list<std::string> words) {
  return Check(std::make_unique<CLI::Validator>(CLI::IsMember(std::vector<std::string>(words)).description("")));
}

Option* Option::required() { return option_.required(), this; }
Option* Option::check(const Check& check) { return option_.check(check.validator()), this; }
Option* Option::type_name(const std::string& name) { return option_.type_name(name), this; }
Option* Option::group(const std::string& name) { return option_.group(name), this; }
Option* Option::needs(const Option* other) { return option_.needs(&other->option_), this; }
Option* Option::excludes(const Option* other) { return option_.excludes(&other->option_), this; }
Option* Option::delimiter(char separator) { return option_.delimiter(separator), this; }
Option* Option::one_at_a_time() { return option_.allow_extra_args(false), this; }
Option* Option::single() { return option_.expected(1), this; }

Option* Command::keep(CLI::Option& option) { return options_.emplace_back(std::make_unique<Option>(option)).get(); }

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  return subcommands_.emplace_back(std::make_unique<Command>(*app_.add_subcommand(name, description))).get();
}

template <class T>
Option* Command::add_option(const std::string& name, T& value, const std::string& description) {
  return keep(*app_.add_option(name, value, description));
}
template Option* Command::add_option(const std::string&, int&, const std::string&);
template Option* Command::add_option(const std::string&, int64_t&, const std::string&);
template Option* Command::add_option(const std::string&, uint64_t&, const std::string&);
template Option* Command::add_option(const std::string&, float&, const std::string&);
template Option* Command::add_option(const std::string&, double&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option* Command::add_option(const std::string&, std::string&, const std::string&);
template Option* Command::add_option(const std::string&, std::vector<int64_t>&, const std::string&);
template Option* Command::add_option(const std::string&, std::vector<float>&, const std::string&);
template Option* Command::add_option(const std::string&, std::vector<double>&, const std::string&);
template Option* Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);

Option* Command::add_flag(const std::string& name, bool& given, const std::string& description) {
  return keep(*app_.add_flag(name, given, description));
}

Option* Command::add_flag(const std::string& name, std::string& value, const std::string& description) {
  return keep(*app_.add_flag(name, value, description));
}

Option* Command::add_flag(const std::string& name, std::function<void()> given, const std::string& description) {
  return keep(*app_.add_flag(name, [given = std::move(given)](int64_t) { given(); }, description));
}

void Command::footer(const std::string& text) { app_.footer(text); }

bool Command::parsed() const { return app_.parsed(); }

CommandLine::CommandLine(const std::string& name, const std::string& description, const std::string& version)
    : app_(std::make_unique<CLI::App>(description, name)), program_(*app_) {
  app_->formatter(std::make_shared<HelpFormatter>());
  app_->require_subcommand(1);
  app_->set_version_flag("--version", version);
}

CommandLine::~CommandLine() = default;

std::optional<int> CommandLine::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& wanted) {  // --help, --version
    std::ostringstream text;
    app_->exit(wanted, text, text);
    put(text.str());
    if (!text.str().ends_with('\n')) put("\n");
    return kSuccess;
  } catch (const CLI::ParseError& problem) {
    std::string command = app_->get_name();
    for (const CLI::App* sub : app_->get_subcommands()) command += ' ' + sub->get_name();
    print_error(problem.what());
    print_hint(fmt::format("try '{} --help'", command));
    return kError;
  }
  return std::nullopt;
}

}  // namespace svengine::tool
