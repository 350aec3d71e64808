// A fault that a command tells.
#pragma once
#include "validate/reduce/reduce.h"

namespace svengine::validate {

struct CommandCheck {
  std::string command;           // for sh
  double timeout = 0;            // seconds for one run; 0: none
  std::function<bool()> stop = {};
};

/// Runs `sh -c` with the command, in which every {} stands for the candidate's path; without any, the path is the last argument. The fault is
/// there when it exits with 0 (as creduce's tests have it, not as git bisect run's). What takes longer than the timeout, or dies of a signal,
/// has it not; it and all processes that it started in its process group are killed then. Its input and outputs are /dev/null.
///
/// An error when the command does not exit with 0 on the first candidate, the whole model.
FaultCheck fault_by_command(const CommandCheck& check);

}  // namespace svengine::validate
