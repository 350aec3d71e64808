// The subcommands: each function declares one, with its options, and returns what runs it.
#pragma once
#include "tools/support/command.h"
#include "tools/support/command_line.h"

namespace svengine::tool {

Action add_bench(Command& program);
Action add_check(Command& program);
Action add_classify(Command& program);
Action add_completion(Command& program);
Action add_convert(Command& program);
Action add_diff(Command& program);
Action add_emit(Command& program);
Action add_compare(Command& program);
Action add_info(Command& program);
Action add_inspect(Command& program);
Action add_manual(Command& program);
Action add_ops(Command& program);
Action add_predict(Command& program);
Action add_quantize(Command& program);
Action add_reduce(Command& program);
Action add_run(Command& program);
Action add_sensitivity(Command& program);
Action add_test(Command& program);
Action add_train(Command& program);
Action add_zoo(Command& program);

}  // namespace svengine::tool
