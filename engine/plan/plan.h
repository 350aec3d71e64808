// The plan: what a run does, decided completely beforehand.
//
//   graph, all shapes concrete ──lower──> steps ──liveness──> arena offsets ──> Plan
//
// A step is a function and a number of independent tasks; it finds memory through the run's table of base addresses:
//
//   bases: [ slot 0 | slot 1 | ... ]    one entry for every storage the plan knows:
//            input / output   the caller's tensors            (set for every run)
//            constant         weights, packed weights, tables (the same for all runs)
//            arena            an offset into the run's arena  (the same for all runs on that arena)
//
// Plans are immutable and may be run by many threads at once, each run with its own RunState.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/base/tensor.h"
#include "engine/graph/op_def.h"
#include "engine/ops/lowering.h"
#include "engine/plan/weight_store.h"

namespace svengine {

enum class SlotKind : uint8_t { arena, constant, input, output };

/// One entry of the table of base addresses.
struct Slot {
  SlotKind kind = SlotKind::arena;
  int64_t bytes = 0;
  int64_t offset = 0;           // arena: from its start, a multiple of kCacheLine
  const std::byte* constant = nullptr;
  size_t index = 0;             // input, output: which one
  int32_t first_step = 0;       // arena: lifetime, inclusive
  int32_t last_step = 0;
  std::string name;             // the value's, for the text dump
};

struct Step {
  std::string kernel;     // what runs: "gemm_f32"
  std::string node;       // the node it belongs to, and its operator, for profiles
  std::string op;
  int64_t tasks = 0;
  int64_t grain = 1;          // tasks that a call of run should have at least
  int64_t scratch_bytes = 0;  // per thread
  StepFunction run;
  Cost cost;              // the node's, on its last step; zero on the others
};

struct PlanTensor {
  std::string name;
  DType dtype = DType::undefined;
  Dims dims;
};

struct Plan {
  std::string kernel_set;
  std::vector<Step> steps;
  std::vector<Slot> slots;
  std::vector<PlanTensor> inputs, outputs;
  int64_t arena_bytes = 0;
  int64_t scratch_bytes = 0;    // the largest step's, per thread, rounded up to a cache line
  int64_t constant_bytes = 0;   // weights the steps read, packed or in place
  std::vector<std::shared_ptr<const void>> owners;  // keep the constants alive, in the order of their slots

  /// Bytes of constants that only this plan holds by now: tables, and what was computed for its shapes. Others are in the graph that it was made
  /// of, and in the store of packed weights.
  int64_t own_constant_bytes() const;
};

/// Lowers every node of a graph whose shapes are all concrete. Errors name the node. The plan may run when the weights that are
/// pending in the store afterwards have been packed.
Result<std::shared_ptr<const Plan>> make_plan(const Graph& graph, const kernels::KernelTable& kernels, WeightStore& weights,
                                              const LowerOptions& options = {});

/// Computes one node whose inputs are all constants, in the calling thread (constant folding).
Result<std::vector<Tensor>> evaluate(const Node& node, const kernels::KernelTable& kernels);

/// Readable: slots with lifetimes and offsets, steps with kernels and tasks.
std::string to_string(const Plan& plan);

}  // namespace svengine
