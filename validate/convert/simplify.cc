#include "validate/convert/simplify.h"

#include <string_view>

#include "engine/graph/op_def.h"

namespace svengine::validate {
namespace {

int64_t constant_bytes(const Graph& graph) {
  int64_t out = 0;
  graph.for_each_value([&](Value& value) {
    if (value.is_constant() && !is_container(value.constant().type())) out += static_cast<int64_t>(value.constant().byte_size());
  });
  return out;
}

Status remove_and_fold(Graph& graph, const PassContext& context) {
  SV_TRY(remove_identities(graph, context));
  return fold_constants(graph, context);
}

Status decide_branches(Graph& graph, const PassContext& context) { return inline_branches_and(graph, context, remove_and_fold); }

/// As in the pipeline, from which these are taken.
constexpr Status (*kPasses[])(Graph&, const PassContext&) = {remove_and_fold, decide_branches, common_subexpressions, remove_dead_nodes};

}  // namespace

Result<SimplifyReport> simplify(Graph& graph, PassContext context, int64_t growth_bytes) {
  SimplifyReport report{.nodes_before = graph.nodes().size(), .bytes_before = constant_bytes(graph)};
  context.fold_limit_bytes = growth_bytes;
  // Weights of 8 bits are what the model is for.
  context.keeps = [](const Node& node) { return std::string_view(node.op().name) == "DequantizeLinear"; };
  // What one pass finds another may have uncovered; every round but the last takes a node away.
  for (size_t nodes = SIZE_MAX; graph.nodes().size() < nodes;) {
    nodes = graph.nodes().size();
    for (const auto pass : kPasses) SV_TRY(pass(graph, context));
    graph.erase_unused_constants();
  }
  report.nodes_after = graph.nodes().size();
  report.bytes_after = constant_bytes(graph);
  if (report.bytes_after - report.bytes_before > growth_bytes)
    return error("folded constants make the model {} bytes larger, more than {}", report.bytes_after - report.bytes_before, growth_bytes);
  return report;
}

}  // namespace svengine::validate
