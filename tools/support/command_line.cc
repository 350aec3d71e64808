#include "tools/support/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "tools/support/command.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace {

constexpr size_t kColumns = 120, kIndent = 28;

/// Words filled into lines, of which the first has been begun and the others are indented likewise.
std::string fill(const std::string& text, size_t indent) {
  std::string out;
  size_t column = indent;
  bool first = true;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (!first && column + 1 + end - begin > kColumns) out += '\n' + std::string(indent, ' '), column = indent, first = true;
    if (!first) out += ' ', ++column;
    out.append(text, begin, end - begin);
    column += end - begin, first = false, begin = end + 1;
  }
  return out;
}

}  // namespace

/// A screen of help: one line an option, of rare ones the name alone; --help-all shows every option with its whole description. A
/// description's first line is for both, what follows for --help-all.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kIndent); }
  void hide(const CLI::Option* option) { rare_.insert(option); }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const bool all = mode == CLI::AppFormatMode::All;
    const std::vector<const CLI::Option*> positional = app->get_options([](const CLI::Option* o) { return o->get_positional(); });
    std::string out = make_description(app) + make_usage(app, std::move(name));
    if (!positional.empty()) out += '\n';
    for (const CLI::Option* option : positional) out += row(*option, all);
    for (const std::string& group : app->get_groups()) out += options(*app, group, all);
    if (!all) out += names_of_rare(*app);
    return out + make_subcommands(app, CLI::AppFormatMode::Normal) + '\n' + make_footer(app);
  }

 private:
  template <class Options>
  static std::string names(const Options& options) {
    std::string out;
    for (const CLI::Option* option : options) out += (out.empty() ? "" : ", ") + option->get_name();
    return out;
  }

  static std::string row(const CLI::Option& option, bool all) {
    std::string name = "  " + (option.get_positional() ? option.get_name(true) : option.get_name(false, true));
    if (option.get_type_size() != 0 && !option.get_type_name().empty()) name += ' ' + option.get_type_name();
    if (option.get_expected_max() == CLI::detail::expected_max_vector_size) name += " ...";
    std::string text = option.get_description();
    const size_t more = text.find('\n');
    if (more != text.npos && !all) text.resize(more);
    else if (more != text.npos) text.replace(more, 1, text[more + 1] == '(' ? " " : "; ");
    if (option.get_required() && !option.get_positional()) text += " (required)";
    if (all && !option.get_needs().empty()) text += " (with " + names(option.get_needs()) + ')';
    if (all && !option.get_excludes().empty()) text += " (not with " + names(option.get_excludes()) + ')';
    if (name.size() + 1 > kIndent) name += '\n' + std::string(kIndent, ' ');
    else name.resize(kIndent, ' ');
    return name + fill(text, kIndent) + '\n';
  }

  std::vector<const CLI::Option*> of_group(const CLI::App& app, const std::string& group) const {
    return app.get_options([&](const CLI::Option* o) { return o->get_group() == group && o->nonpositional() && o != app.get_help_all_ptr(); });
  }

  std::string options(const CLI::App& app, const std::string& group, bool all) const {
    std::string out;
    for (const CLI::Option* option : of_group(app, group))
      if (all || !rare_.contains(option)) out += row(*option, all);
    return out.empty() ? out : group + ":\n" + out;
  }

  std::string names_of_rare(const CLI::App& app) const {
    const std::vector<const CLI::Option*> hidden = app.get_options([this](const CLI::Option* o) { return rare_.contains(o); });
    return hidden.empty() ? "" : "More, see --help-all:\n  " + fill(names(hidden), 2) + '\n';
  }

  std::set<const CLI::Option*> rare_;
};

namespace {

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

Check::Check(std::unique_ptr<CLI::Validator> validator, std::vector<std::string> words)
    : validator_(std::move(validator)), words_(std::move(words)) {}

Check within(int low, int high) { return range(low, high); }
Check within(int64_t low, int64_t high) { return range(low, high); }
Check within(double low, double high) { return range(low, high); }
Check not_negative() { return within(0.0, 1e300); }

Check one_of(std::initializer_list<std::string> words) {
  const std::vector<std::string> all(words);
  return Check(std::make_unique<CLI::Validator>(CLI::IsMember(all).description("")), all);
}

Option* Option::required() { return option_.required(), this; }
Option* Option::check(const Check& check) {
  option_.check(check.validator());
  return check.words().empty() ? this : offer(check.words());
}
Option* Option::type_name(const std::string& name) { return option_.type_name(name), this; }
Option* Option::group(const std::string& name) { return option_.group(name), this; }
Option* Option::needs(const Option* other) { return option_.needs(&other->option_), this; }
Option* Option::excludes(const Option* other) { return option_.excludes(&other->option_), this; }
Option* Option::delimiter(char separator) { return option_.delimiter(separator), this; }
Option* Option::one_at_a_time() { return option_.allow_extra_args(false), this; }
Option* Option::rare() { return help_.hide(&option_), this; }
Option* Option::offer(std::vector<std::string> words) { return words_ = std::move(words), this; }
Option* Option::single() { return option_.expected(1), this; }

Option* Command::keep(CLI::Option& option) { return options_.emplace_back(std::make_unique<Option>(option, help_)).get(); }

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  return subcommands_.emplace_back(std::make_unique<Command>(*app_.add_subcommand(name, description), help_)).get();
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
template Option* Command::add_option(const std::string&, std::optional<uint64_t>&, const std::string&);
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

OptionInfo Command::info_of(const CLI::Option& option) const {
  OptionInfo out;
  out.description = option.get_description();
  out.group = option.get_group();
  out.is_argument = option.get_positional();
  out.is_required = option.get_required();
  out.is_list = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  const bool is_flag = option.get_type_size() == 0 || option.get_expected_max() == 0;
  out.is_optional_value = !is_flag && option.get_expected_min() == 0;
  if (out.is_argument) out.names = {option.get_single_name()};
  for (const std::string& name : option.get_snames()) out.names.push_back('-' + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  if (!is_flag && !out.is_argument) out.value = option.get_type_name().empty() ? "VALUE" : option.get_type_name();
  for (const std::unique_ptr<Option>& ours : options_)
    if (ours->is(&option)) out.words = ours->words();
  return out;
}

CommandInfo Command::info() const {
  CommandInfo out;
  out.name = app_.get_name();
  out.description = app_.get_description();
  out.footer = app_.get_footer();
  for (const CLI::Option* option : std::as_const(app_).get_options()) out.options.push_back(info_of(*option));
  for (const std::unique_ptr<Command>& command : subcommands_) out.subcommands.push_back(command->info());
  return out;
}

CommandLine::CommandLine(const std::string& name, const std::string& description, const std::string& version)
    : help_(std::make_shared<HelpFormatter>()), app_(std::make_unique<CLI::App>(description, name)), program_(*app_, *help_) {
  app_->formatter(help_);
  app_->set_help_flag("-h,--help", "This help; --help-all: of every option");
  app_->set_help_all_flag("--help-all", "The help with every option, and all there is to say of it");
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
