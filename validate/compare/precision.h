// How much of a difference the precision of the numbers explains.
//
// A step's error on given inputs is explained when every element is within
//
//     |got - expected| <= e * (largest absolute value of the output),   e = 4 m u + 8 sqrt(n) u32
//
//   u    half a unit in the last place of 1 in the coarsest type that the step's values have: float32 6e-8, float16 5e-4, bfloat16 4e-3
//   m    nodes of the file that the step computes: each may round its result
//   n    products or terms that an element is summed up from, by the operator's cost; sums are kept in float32 at least, u32 is its u (or
//        float64's, where all values are float64), and rounding errors of both signs add up like sqrt(n)
//
// or when disturbing the step's inputs at random by as much of themselves, e, moves its output as far: differences of nearly equal numbers
// enlarge what their operands carry. Or when disturbing what its nodes, or those of its bodies, give one another does (rounding_within.h).
// What is not finite on one side only is never explained. Integers must be equal, but for one unit behind a quantising node, and for as many
// elements as the disturbance changes (ArgMax of nearly equal numbers).
#pragma once
#include "engine/graph/graph.h"
#include "validate/compare/difference.h"

namespace svengine::validate {

/// Half the distance from 1 to the next larger number; 0 for types that are exact.
double unit_roundoff(DType type);

struct Precision {
  double relative = 0;  // e
  bool quantises = false;
};

/// Of nodes that together make one output. `length` is n; `got` and `expected` are the types that the two sides keep the output
/// in.
Precision precision_of(const std::vector<const Node*>& nodes, double length, DType got, DType expected);

/// The bound for an output whose largest absolute value is `largest`.
Bound bound_for(const Precision& precision, DType expected, double largest);

/// Is rounding what changes numbers of this type, so that they are disturbed?
bool is_disturbed(DType type);

/// The inputs, real ones changed by up to `relative` of each element, at random; the same for the same seed.
Result<std::vector<Tensor>> disturbed(const std::vector<Tensor>& inputs, double relative, uint64_t seed);

}  // namespace svengine::validate
