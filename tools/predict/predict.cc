#include "tools/predict/predict.h"

#include <algorithm>
#include <cmath>

#include "engine/graph/op_def.h"
#include "tools/predict/traffic.h"
#include "tools/predict/work.h"

namespace svengine::tool {
namespace {

double barrier_seconds(const MachineModel& machine, const Cores& cores) {
  if (cores.groups > 1) return machine.node.barrier_seconds_across;
  return cores.cores > 1 ? machine.node.barrier_seconds_in_group : 0;
}

/// The rounds that the pieces need, over the rounds they would need if they could be cut at will.
double unevenness(double pieces, double cores) { return std::ceil(pieces / cores) * cores / pieces; }

double arithmetic_seconds(const Work& work, const MachineModel& machine, const Cores& cores) {
  const double all = cores.groups * cores.cores;
  const double products = work.flops / (machine.node.flops_per_cycle * work.share);
  const double moving = work.loaded / machine.node.load_bytes_per_cycle + work.stored / machine.node.store_bytes_per_cycle;
  return std::max(products + work.function_cycles, moving) / (all * cores.hertz) * unevenness(work.pieces, all);
}

/// Of one group: its part of the activations, and weights. The best cut has so many row parts that both are read about
/// as often. Winograd's kernel is cut otherwise and knows itself what it moves.
double l2_seconds(const Work& work, const MachineModel& machine, const Cores& cores) {
  const double rows = work.activations / cores.groups;
  const double row_parts = work.weights > 0
                               ? std::clamp(std::sqrt(cores.cores * rows / work.weights), 1.0, double(cores.cores))
                               : cores.cores;
  const double bytes = work.moved > 0 ? work.moved / cores.groups
                                      : rows * cores.cores / row_parts + work.weights * row_parts +
                                            2 * work.workspace / cores.groups;
  const double rate = std::min(machine.node.l2_group_bytes_per_cycle, machine.node.l2_core_bytes_per_cycle * cores.cores);
  return bytes / (rate * cores.hertz);
}

}  // namespace

std::string_view name_of(Resource resource) {
  static constexpr std::string_view names[kResourceCount] = {"arithmetic", "L2", "HBM", "links", "barriers"};
  return names[static_cast<size_t>(resource)];
}

std::vector<NodeTime> predict(const Graph& graph, const MachineModel& machine, const Cores& cores, bool exact) {
  std::vector<Work> works;
  for (const auto& node : graph.nodes()) works.push_back(work_of(*node, machine, exact));
  const std::vector<Traffic> traffic = memory_traffic(graph, works, machine.node.l2_group_bytes, cores.groups);
  std::vector<NodeTime> out;
  size_t i = 0;
  for (const auto& node : graph.nodes()) {
    const Traffic& bytes = traffic[i];
    Work& work = works[i++];
    if (work.steps == 0) continue;
    if (!(work.pieces >= 1)) work.pieces = 1;  // of something empty
    const std::string op = std::string(node->op().name) + (work.winograd ? " (Winograd)" : "");
    NodeTime time{node->name(), op, work.flops, {}, 0, Resource::arithmetic};
    const auto set = [&](Resource r, double seconds) { time.seconds[static_cast<size_t>(r)] = seconds; };
    set(Resource::arithmetic, arithmetic_seconds(work, machine, cores));
    set(Resource::l2, l2_seconds(work, machine, cores));
    set(Resource::memory, (bytes.activations / cores.groups + bytes.weights) / machine.node.memory_bytes_per_second);
    if (cores.groups > 1)
      set(Resource::links, bytes.weights * (cores.groups - 1) / cores.groups / machine.node.link_bytes_per_second);
    set(Resource::barriers, work.steps * barrier_seconds(machine, cores));
    const auto barriers = time.seconds.end() - 1;
    time.total = *std::max_element(time.seconds.begin(), barriers) + *barriers;
    time.bound =
        static_cast<Resource>(std::max_element(time.seconds.begin(), time.seconds.end()) - time.seconds.begin());
    out.push_back(std::move(time));
  }
  return out;
}

NodeTime sum_of(const std::vector<NodeTime>& nodes) {
  NodeTime sum;
  std::array<double, kResourceCount> bound{};
  for (const NodeTime& n : nodes) {
    sum.flops += n.flops, sum.total += n.total;
    for (size_t r = 0; r < kResourceCount; ++r) sum.seconds[r] += n.seconds[r];
    bound[static_cast<size_t>(n.bound)] += n.total;
  }
  sum.bound = static_cast<Resource>(std::max_element(bound.begin(), bound.end()) - bound.begin());
  return sum;
}

}  // namespace svengine::tool
