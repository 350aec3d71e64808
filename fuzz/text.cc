// The text form of a graph: what can be parsed is printed, parsed and printed to the same text, and runs or is refused.
#include "engine/graph/text.h"
#include "engine/ops/registry.h"
#include "fuzz/support.h"
#include "fuzz/under_limits.h"

namespace svengine::fuzz {

void fuzz_text(Bytes input) {
  const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  const UnderLimits limits;
  std::optional<Graph> graph = taken(parse_graph(text, all_ops()));
  if (!graph) return;
  const TextOptions whole{.most_elements = int64_t{1} << 20};
  const std::string printed = print_graph(*graph, whole);
  const Result<Graph> again = parse_graph(printed, all_ops());
  if (!again.ok()) finding(fmt::format("what was printed does not parse: {}\n{}", again.error().message(), printed));
  if (const std::string second = print_graph(*again, whole); second != printed)
    finding(fmt::format("printed otherwise the second time:\n{}\n{}", printed, second));
  run_small(std::move(*graph));
}

}  // namespace svengine::fuzz
