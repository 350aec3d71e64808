// Memory of outputs that callers have let go, for the next run's.
//
// malloc gives large blocks back to the system, and the pages of the next ones have to be made and cleared anew: 0.15 ms a MiB of a
// float64 Neg of 400,000 elements, which itself takes 0.03 ms (`svengine bench`, EPYC Zen 4).
#pragma once
#include <memory>

#include "engine/base/tensor.h"

namespace svengine {

/// Blocks of sizes that runs have asked for lately; one that several outputs in a row were too large or small for goes back to the system.
/// Thread-safe; tensors may be let go in any thread, and outlive this.
class OutputMemory {
 public:
  OutputMemory();
  /// As Tensor::allocate(): uninitialised storage of its own.
  Result<MutableTensor> allocate(DType type, const Dims& dims);
  /// Gives what is free back to the system.
  void release() noexcept;

 private:
  struct Free;
  std::shared_ptr<Free> free_;
};

}  // namespace svengine
