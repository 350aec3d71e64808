// The subcommands: each function declares one, with its options, and returns what runs it.
#pragma once
#include "tools/support/command.h"

namespace svengine::tool {

Action add_bench(CLI::App& program);
Action add_classify(CLI::App& program);
Action add_info(CLI::App& program);
Action add_inspect(CLI::App& program);
Action add_predict(CLI::App& program);
Action add_run(CLI::App& program);
Action add_test(CLI::App& program);
Action add_train(CLI::App& program);
Action add_zoo(CLI::App& program);

}  // namespace svengine::tool
