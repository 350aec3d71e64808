// What a session is given beside its model.
#pragma once
#include <optional>
#include <string>

#include "runtime/session.h"

namespace svengine::python {

struct SessionArguments {
  std::optional<int> threads;  // none: OMP_NUM_THREADS, or every cpu that this process may use
  std::string kernels, topology, cache;
  bool optimize = true, exact_convolution = false, flush_denormals = true;
  std::optional<uint64_t> seed = {};  // SessionOptions::seed

  Result<SessionOptions> resolve() const;
};

}  // namespace svengine::python
