// The svengine program.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/io/names.h"
#include "tools/commands/commands.h"
#include "tools/support/dynamic_program.h"
#include "tools/support/output.h"

namespace svengine::tool {
namespace {

constexpr const char* kDescription =
    "Runs neural networks from ONNX files on A64FX (SVE) and x86-64 (AVX-512, AVX2).\n"
    "Exit codes: 0 success, 1 a comparison failed, 2 bad usage or bad input.";
constexpr const char* kExamples =
    "Examples:\n"
    "  svengine info\n"
    "  svengine inspect model.onnx\n"
    "  svengine check model.onnx\n"
    "  svengine run model.onnx --input image=dog.jpg --top 5 --labels labels.txt\n"
    "  svengine test model.onnx test_data_set_0\n"
    "  svengine train model.onnx --data DIR --epochs 10 --output trained.onnx\n"
    "  svengine bench model.onnx --dim N=8 --threads 12\n"
    "  svengine SUBCOMMAND --help";

/// A file opened while 0, 1 or 2 is closed would get that number, and a message would end up in it.
void occupy_standard_files() {
  for (int file = 0; file <= 2; ++file)
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF && open("/dev/null", file == 0 ? O_RDONLY : O_WRONLY) < 0) _exit(kError);
}

/// Models and data are mapped: of a file that somebody cuts meanwhile, the lost pages end in this signal. Only what a handler may call.
void end_on_lost_page(int) {
  static constexpr char kText[] = "svengine: a file became shorter while it was read, or its disk failed\n";
  const ssize_t ignored = write(STDERR_FILENO, kText, sizeof(kText) - 1);
  (void)ignored;
  _exit(kError);
}

struct NamedCommand {
  std::string_view name;
  Action (*add)(Command&);
};

/// In the order of `svengine --help`.
constexpr NamedCommand kCommands[] = {
    {"info", add_info}, {"inspect", add_inspect}, {"check", add_check}, {"compare", add_compare}, {"diff", add_diff},
    {"convert", add_convert}, {"quantize", add_quantize}, {"sensitivity", add_sensitivity}, {"reduce", add_reduce}, {"run", add_run},
    {"test", add_test}, {"train", add_train}, {"bench", add_bench}, {"classify", add_classify}, {"predict", add_predict},
    {"emit", add_emit}, {"ops", add_ops}, {"zoo", add_zoo}};
/// These show what all commands have.
constexpr NamedCommand kOverviews[] = {{"manual", add_manual}, {"completion", add_completion}};

/// The commands that the line may need: the one that its first word names, or all. Options by the hundred take half of a short command's time.
std::vector<NamedCommand> commands_for(std::string_view first_word) {
  for (const NamedCommand& command : kCommands)
    if (command.name == first_word) return {command};
  std::vector<NamedCommand> all(std::begin(kCommands), std::end(kCommands));
  all.insert(all.end(), std::begin(kOverviews), std::end(kOverviews));
  return all;
}

int run(int argc, char** argv) {
  const std::string_view first_word = argc > 1 ? argv[1] : "";
  const std::vector<NamedCommand> known = commands_for(first_word);
  const auto is_named = [first_word](const NamedCommand& command) { return command.name == first_word; };
  if (!first_word.empty() && first_word[0] != '-' && std::none_of(known.begin(), known.end(), is_named)) {
    print_error(fmt::format("'{}' is not a subcommand", printable(first_word)));
    print_hint("try 'svengine --help'");
    return kError;
  }
  CommandLine line("svengine", kDescription, "svengine " SVENGINE_VERSION);
  line.program().footer(kExamples);
  std::vector<std::pair<const Command*, Action>> commands;
  for (const NamedCommand& command : known) {
    Action action = command.add(line.program());
    commands.emplace_back(line.program().subcommands().back().get(), std::move(action));
  }
  if (const std::optional<int> code = line.parse(argc, argv)) return *code;
  for (const auto& [command, action] : commands) {
    if (!command->parsed()) continue;
    Result<int> code = action();
    if (code.ok()) return *code;
    print_error(code.error().message());
  }
  return kError;
}

}  // namespace
}  // namespace svengine::tool

int main(int argc, char** argv) {
  using namespace svengine::tool;
  // A reader that has seen enough (head) ends our output, not a run that also writes files.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGBUS, end_on_lost_page);
  occupy_standard_files();
  become_dynamic_for_plugins(argc, argv);
  int code = kError;
  try {
    code = run(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
  } catch (const std::exception& problem) {
    print_error(problem.what());
  }
  const svengine::Status flushed = finish_output();
  if (!flushed.ok()) {
    print_error(flushed.error().message());
    return kError;
  }
  return code;
}
