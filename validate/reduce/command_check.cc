#include "validate/reduce/command_check.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "importers/io/names.h"

extern char** environ;

namespace svengine::validate {
namespace {

using Clock = std::chrono::steady_clock;

/// The path is an argument of the shell, so that no character of it means anything there.
std::string shell_text(std::string command) {
  if (command.find("{}") == command.npos) return command + " \"$1\"";
  for (size_t at = 0; (at = command.find("{}", at)) != command.npos; at += 4) command.replace(at, 2, "\"$1\"");
  return command;
}

Result<pid_t> start(const std::string& command, const std::string& path) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  std::string shell = "sh", option = "-c", text = shell_text(command), name = "sh", model = path;
  char* arguments[] = {shell.data(), option.data(), text.data(), name.data(), model.data(), nullptr};
  pid_t child = 0;
  const int problem = posix_spawn(&child, "/bin/sh", &files, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (problem != 0) return error("cannot start /bin/sh: {}", std::strerror(problem));
  return child;
}

struct Ending {
  int status = 0;
  bool killed = false;  // by us
};

Ending wait_for(pid_t child, const CommandCheck& check) {
  const auto begin = Clock::now();
  std::chrono::microseconds nap(500);
  for (Ending ending;;) {
    const pid_t done = waitpid(child, &ending.status, WNOHANG);
    if (done == child || (done < 0 && errno != EINTR)) {
      kill(-child, SIGKILL);  // what it has left behind
      return ending;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (!ending.killed && ((check.timeout > 0 && seconds > check.timeout) || (check.stop && check.stop()))) {
      ending.killed = true;
      kill(-child, SIGKILL);
    }
    std::this_thread::sleep_for(nap);
    nap = std::min<std::chrono::microseconds>(2 * nap, std::chrono::milliseconds(20));
  }
}

std::string describe_ending(const Ending& ending, const CommandCheck& check) {
  if (ending.killed) return fmt::format("did not end within {:g} s", check.timeout);
  if (WIFSIGNALED(ending.status)) return fmt::format("died of signal {}", WTERMSIG(ending.status));
  return fmt::format("exited with {}", WEXITSTATUS(ending.status));
}

}  // namespace

FaultCheck fault_by_command(const CommandCheck& check) {
  const auto is_first = std::make_shared<bool>(true);
  return [check, is_first](const Candidate& candidate) -> Result<bool> {
    SV_ASSIGN(const pid_t child, start(check.command, candidate.model));
    const Ending ending = wait_for(child, check);
    const bool faulty = !ending.killed && WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 0;
    if (std::exchange(*is_first, false) && !faulty)
      return error("the command {} on the whole model; it must exit with 0 while the fault is there ('{}')", describe_ending(ending, check),
                   printable(check.command));
    return faulty;
  };
}

}  // namespace svengine::validate
