#include "importers/tensor/load_tensor.h"

#include <string_view>

#include "importers/idx/idx.h"
#include "importers/io/names.h"
#include "importers/npy/npy.h"
#include "importers/npy/npz.h"
#include "importers/onnx/tensor_file.h"

namespace svengine {
namespace {

bool is_idx(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path.ends_with(".idx") || path.ends_with("-ubyte");
}

}  // namespace

Result<Tensor> load_tensor(const std::string& path, const std::string& array) {
  const std::string_view name = path;
  if (name.ends_with(".npz")) return load_npz(path, array);
  if (!array.empty()) return error("{}: only .npz files have named arrays such as '{}'", printable(path), printable(array));
  if (name.ends_with(".npy")) return load_npy(path);
  if (is_idx(name)) return load_idx(path);
  if (name.ends_with(".pb")) {
    SV_ASSIGN(TensorFile file, load_tensor_proto(path));
    return std::move(file.tensor);
  }
  return error("{}: tensors are read from .npy, .npz, .pb, .idx and *-ubyte(.gz) files", printable(path));
}

}  // namespace svengine
