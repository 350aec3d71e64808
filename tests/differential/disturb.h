// Graphs computed node by node from disturbed values: how far right results may lie apart.
//
// How far two right computations of a graph may lie apart depends on the graph: a difference of nearly equal numbers, or a long
// chain, enlarges rounding errors; a Floor makes 1 of them. So the graph is computed several times with every real value
// disturbed by the error its operator is allowed: OpDef::tolerance, and beside the operand what its kernel is tested with
// (activation.inc). What moves the result that far is no finding.
#pragma once
#include "tests/differential/evaluate.h"

namespace svengine::differential {

/// The values of a graph, all disturbed: `run` numbers the disturbance. What cannot be computed from disturbed values is left
/// out. `loose`: convolutions have errors relative to their largest result (Winograd's).
Values compute_disturbed(const Graph& graph, const Values& leaves, const kernels::KernelTable& kernels, uint64_t run, bool loose);

}  // namespace svengine::differential
