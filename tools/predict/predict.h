// How long a graph would take on a machine that is not here.
//
//   graph after all passes ──> work of every node ──> its time on a group of cores ──> sums
//
// A node's time is the longest of its arithmetic, its bytes between L2 and L1, its bytes from the group's own memory
// and its bytes from other groups' memory, as if these overlapped perfectly; and its barriers after that:
//
//   arithmetic  flops / (peak x share of the kernel's kind), or the cycles that Winograd's plan counts, or cycles an
//               element, or the loads and stores of L1: the longest; times ceil(pieces / cores) cores / pieces, because
//               work comes in tiles and the last round is not full
//   L2          operands and results, again for every core that needs them: the cores of a group cut a product into row
//               parts times column parts; row parts share activations but each reads all weights, column parts the
//               other way round. A Winograd convolution moves what its plan says: transformed inputs, weights and sums
//               go through L2 as well
//   memory      what is no longer in L2: a value is, if less than the L2's size was touched since it was last used.
//               Weights come from memory in every run unless all that a run touches fits. A result that does not
//               stay is fetched and written back (no DC ZVA) and read again, and so is a workspace larger than L2.
//   links       split mode: weights lie in one place, and three quarters of them are in another group's memory
//
// Shard mode: the batch is cut, every group runs its part on copies of the weights in its own memory, and no barrier
// leaves the group. Split mode: all cores work on one node at a time; every group reads all weights and a part of the
// activations.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "tools/predict/machine.h"

namespace svengine::tool {

enum class Resource : uint8_t { arithmetic, l2, memory, links, barriers };
inline constexpr size_t kResourceCount = 5;
std::string_view name_of(Resource resource);

/// Cores in use: `groups` groups of `cores` each.
struct Cores {
  int groups = 1, cores = 1;
  double hertz = 2.0e9;
};

struct NodeTime {
  std::string node, op;  // "(Winograd)" is added to the operator's name where it is computed so
  double flops = 0;
  std::array<double, kResourceCount> seconds{};  // of each resource alone
  double total = 0;                              // the longest of the first four, and the barriers
  Resource bound = Resource::arithmetic;         // what takes longest; barriers if they take longer than all else
};

/// Times of the nodes of a graph whose shapes are all concrete, run by all these cores together: in shard mode that is
/// a group's part of the batch on one group's cores. `exact`: no Winograd convolutions.
std::vector<NodeTime> predict(const Graph& graph, const MachineModel& machine, const Cores& cores, bool exact);

/// Adds up: flops and times; the bound is the resource that bounds most of the time.
NodeTime sum_of(const std::vector<NodeTime>& nodes);

}  // namespace svengine::tool
