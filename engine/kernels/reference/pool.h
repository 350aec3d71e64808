// Pooling in double precision on plain layouts: the oracle of the pooling kernels.
#pragma once
#include <vector>

#include "engine/kernels/pool.h"

namespace svengine::kernels {

struct ReferencePool {
  std::vector<double> output;    // [N][C][D][H][W]
  std::vector<double> error;     // how far a kernel that computes in single precision may be off
  std::vector<int64_t> indices;  // kMax: as pool.h says
};

/// The formulas of pool.h on plain arrays, whatever args.blocked says; args.output and args.indices are not used. Error
/// bounds: none for kMax; kAverage (window + 2) * 2^-24 * (sum of |inputs| / count); kLp as pool.h says.
ReferencePool reference_pool(const PoolArgs& args, const float* input);

/// Global pooling: the window is the image.
ReferencePool reference_pool(const GlobalPoolArgs& args, const float* input);

}  // namespace svengine::kernels
