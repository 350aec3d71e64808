#include "tools/emit/compile.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "engine/base/file.h"

extern char** environ;

namespace svengine::tool::emit {
namespace {

/// Runs a program found in PATH, without a shell: names may hold anything.
Status run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int problem = posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ); problem != 0)
    return error("{} cannot be started: {}; --cc names the C compiler", words[0], std::strerror(problem));
  int status = 0;
  if (repeat_interrupted([&] { return waitpid(child, &status, 0); }) < 0) return error("{}: {}", words[0], std::strerror(errno));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return error("{} failed", words[0]);
  return {};
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  while (true) {
    const size_t begin = text.find_first_not_of(' ');
    if (begin == text.npos) return out;
    text.remove_prefix(begin);
    const size_t end = std::min(text.find(' '), text.size());
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

/// Files that are removed, whatever happens.
struct Temporary {
  std::string path;
  ~Temporary() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
};

}  // namespace

Status compile_library(const std::string& source, const std::string& library, const std::string& compiler) {
  std::vector<std::string> words = words_of(compiler);
  if (words.empty()) return error("--cc is empty: it names a C compiler");
  // Whole paths, for none of them begins as an option does.
  std::error_code problem;
  const std::string file = std::filesystem::absolute(source, problem).string(), target = std::filesystem::absolute(library, problem).string();
  if (problem) return error("{}: {}", library, problem.message());
  const Temporary object{fmt::format("{}.{}.o", target, getpid())}, archive{fmt::format("{}.{}", target, getpid())};
  words.insert(words.end(), {"-O3", "-c", file, "-o", object.path});
  SV_TRY(run_program(words));
  SV_TRY(run_program({"ar", "rcsD", archive.path, object.path}));
  std::filesystem::rename(archive.path, library, problem);
  if (problem) return error("{}: {}", library, problem.message());
  return {};
}

}  // namespace svengine::tool::emit
