// NumPy's .npz archives: ZIP files of .npy files, stored (numpy.savez) or deflated (numpy.savez_compressed).
#pragma once
#include <string>
#include <vector>

#include "engine/base/tensor.h"

namespace svengine {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// Names of the arrays (without ".npy"), in the order of the archive.
Result<std::vector<std::string>> npz_names(const std::string& path);

/// One array. An empty name stands for the only one there is; several are an error that lists them.
Result<Tensor> load_npz(const std::string& path, const std::string& name);

/// All arrays, in memory of their own.
Result<std::vector<NamedTensor>> load_npz_all(const std::string& path);

}  // namespace svengine
