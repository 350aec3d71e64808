// Reads a tensor from a file of any format the engine knows, chosen by the file's name:
//
//   .npy             NumPy array                  .npz             one array of a NumPy archive
//   .pb              ONNX TensorProto             .idx, *-ubyte    IDX (MNIST), also with .gz behind
#pragma once
#include <string>

#include "engine/base/tensor.h"

namespace svengine {

/// `array` names the array of an .npz with several; it must be empty for other formats.
Result<Tensor> load_tensor(const std::string& path, const std::string& array = {});

}  // namespace svengine
