// What a Pad node says, for whoever reads one: operators and passes.
#pragma once
#include <optional>

#include "engine/graph/graph.h"

namespace svengine {

/// How many elements are added before and after each dimension; negative: taken away.
struct Pads {
  std::vector<int64_t> before, after;
};

/// From inputs 1 (pads: all that are put before, then all that are put after) and 3 (axes; absent: all) of a Pad or PadGrad, for data
/// of that rank. Nothing while one of them is not known.
Result<std::optional<Pads>> read_pads(const Node& pad, int64_t rank);

/// The same for data input 0; nothing, too, while its rank is not known, or where the numbers are wrong.
std::optional<Pads> known_pads(const Node& pad);

}  // namespace svengine
