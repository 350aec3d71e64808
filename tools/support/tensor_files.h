// Tensors from the files a user names.
#pragma once
#include <string>
#include <vector>

#include "importers/image/image.h"
#include "importers/npy/npz.h"

namespace svengine::tool {

/// By the file's ending: .png, .jpg and .jpeg are images, the others as load_tensor() has them. `name` picks the array of an
/// .npz, where a single one will do under any name. The tensor is aligned. Where `kind` is sequence, optional or map, a .pb holds
/// such a value (load_value_proto()).
Result<Tensor> load_tensor_file(const std::string& path, const std::string& name, const ImageOptions& image, DType kind);

bool is_image_file(const std::string& path);
bool is_npz_file(const std::string& path);

/// The tensors one after the other along dimension 0.
Result<Tensor> join_tensors(const std::vector<Tensor>& parts);

/// `name` as a file name: letters, digits, '.', '_' and '-' stay.
std::string file_name_for(const std::string& name);

}  // namespace svengine::tool
