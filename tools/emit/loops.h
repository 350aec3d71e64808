// Loops over the elements of tensors that are walked together.
#pragma once
#include <string>
#include <vector>

#include "engine/base/shape.h"
#include "tools/emit/c_text.h"

namespace svengine::tool::emit {

using Strides = std::vector<int64_t>;

/// Of a dense tensor, in elements.
Strides dense_strides(const Dims& dims);

/// Loops, outermost first, and the strides in elements with which each operand is walked.
struct Nest {
  Dims sizes;
  std::vector<Strides> operands;
};

/// The same without loops of one trip, neighbours that all operands walk evenly being one.
Nest merged(Nest nest);

/// An operand's element in the loops "<name>0", "<name>1", ...: "3 + i0 * 12 + i1".
std::string element_of(const Strides& strides, int64_t offset = 0, std::string_view name = "i");

void open_loops(Code& code, const Dims& sizes, std::string_view name = "i");
inline void close_loops(Code& code, const Dims& sizes) { code.close(static_cast<int>(sizes.size())); }

}  // namespace svengine::tool::emit
