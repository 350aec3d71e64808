// Data movement element by element, with every coordinate spelt out: the oracle of the data kernels. Same argument
// blocks, nothing is cut into tasks. Pointers to errors are ignored: indices must be in range.
#pragma once
#include "engine/kernels/data.h"

namespace svengine::kernels {

void reference_copy(const CopyArgs& args);
void reference_gather_elements(const GatherElementsArgs& args);
void reference_gather_nd(const GatherNdArgs& args);
void reference_scatter_elements(const ScatterElementsArgs& args);
void reference_scatter_nd(const ScatterNdArgs& args);
void reference_map(const MapArgs& args);

/// Row-major coordinates of `flat` in `extent`.
struct Coordinates {
  int64_t at[kMaxDims];
};
Coordinates coordinates_of(int64_t flat, const int64_t* extent, int rank);
int64_t flat_of(const Coordinates& c, const int64_t* extent, int rank);
int64_t count_of(const int64_t* extent, int rank);

}  // namespace svengine::kernels
