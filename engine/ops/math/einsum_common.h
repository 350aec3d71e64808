// Einstein sums: equations, and what lowering makes of them.
#pragma once
#include <string>
#include <vector>

#include "engine/graph/op_def.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// An equation over operands of known rank, every dimension with a label: that of its letter, or, within "...", kEinsumEllipsis plus its
/// place from the right.
struct EinsumEquation {
  std::vector<std::vector<int>> terms;  // of each operand
  std::vector<int> output;
};
inline constexpr int kEinsumEllipsis = 128;  // above every letter

/// The rank of an operand is -1 where it is not known, which only a term without "..." may be.
Result<EinsumEquation> einsum_equation(const std::string& text, const std::vector<int64_t>& ranks);

/// Number of elements along a label: 1 in some operands repeats. `shapes` are those of the operands.
Result<Dim> einsum_size(const EinsumEquation& equation, const std::vector<Shape>& shapes, int label);

/// Labels as letters: those of "..." get letters that the equation has not.
class EinsumLetters {
 public:
  explicit EinsumLetters(const EinsumEquation& equation);
  Result<std::string> term(const std::vector<int>& labels);
  /// A letter that nothing else has.
  Result<char> unused();

 private:
  std::string used_, dots_;
};

/// Pairwise from left to right: products of matrices where two operands of float32 or float64 can be seen as such, else loops.
Status lower_einsum(LowerContext& c);

}  // namespace svengine::ops
