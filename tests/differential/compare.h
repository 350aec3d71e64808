// Whether two runs of a random graph agree.
#pragma once
#include <string>

#include "tests/differential/evaluate.h"

namespace svengine::differential {

/// A value that a run gave, and what it should be.
struct Difference {
  const Value* value;  // of the random graph
  Tensor got;
  std::string what;  // which run: "avx2, optimised, 1 thread"
};

/// Equal within the tolerance of the operator that makes it: OpDef::tolerance, or the precision of the type where that is
/// coarser. Integers and bools exactly; NaN and infinities at the same places.
bool agrees(const Value& value, const Tensor& got, const Tensor& wanted);

/// The differences that disturbances of the graph do not explain either: one line for each, empty when there is none.
std::string unexplained(const Graph& graph, const Values& wanted, const std::vector<Difference>& differences,
                        const kernels::KernelTable& kernels, bool loose);

/// Whether no real value holds an infinity or NaN, which may depend on the kernel (disturb.cc).
bool are_finite(const Values& values);

/// Same type, shape and bytes, but for the sign and payload of NaN, which IEEE 754 leaves to the order of operands.
bool same_bits(const Tensor& a, const Tensor& b);

}  // namespace svengine::differential
