#include "tools/support/tensor_files.h"

#include <algorithm>
#include <filesystem>

#include "importers/onnx/tensor_file.h"
#include "importers/tensor/load_tensor.h"

namespace svengine::tool {
namespace {

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending;
}

Result<Tensor> load_from_npz(const std::string& path, const std::string& name) {
  SV_ASSIGN(const std::vector<std::string> names, npz_names(path));
  const bool named = std::find(names.begin(), names.end(), name) != names.end();
  return load_npz(path, named ? name : std::string());
}

Result<Tensor> load_any(const std::string& path, const std::string& name, const ImageOptions& image, DType kind) {
  if (is_container(kind) && ending_of(path) == ".pb") return load_value_proto(path, kind);
  if (is_image_file(path)) return load_image(path, image);
  return is_npz_file(path) ? load_from_npz(path, name) : load_tensor(path);
}

}  // namespace

bool is_image_file(const std::string& path) {
  const std::string ending = ending_of(path);
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

bool is_npz_file(const std::string& path) { return ending_of(path) == ".npz"; }

Result<Tensor> load_tensor_file(const std::string& path, const std::string& name, const ImageOptions& image, DType kind) {
  SV_ASSIGN(Tensor tensor, load_any(path, name, image, kind));
  if (is_handle(tensor.type())) return tensor;
  if (reinterpret_cast<uintptr_t>(tensor.raw()) % kCacheLine == 0) return tensor;
  return tensor.aligned_copy();
}

Result<Tensor> join_tensors(const std::vector<Tensor>& parts) {
  Dims dims = parts[0].dims();
  if (parts.size() == 1) return parts[0];
  if (dims.empty()) return error("scalars cannot be joined along dimension 0");
  for (size_t i = 1; i < parts.size(); ++i) {
    const Dims& more = parts[i].dims();
    const bool fits = parts[i].type() == parts[0].type() && more.size() == dims.size() &&
                      std::equal(dims.begin() + 1, dims.end(), more.begin() + 1);
    if (!fits)
      return error("file {} has {}[{}], which cannot be joined with {}[{}] along dimension 0", i + 1, name_of(parts[i].type()),
                   to_string(more), name_of(parts[0].type()), to_string(parts[0].dims()));
    dims[0] += more[0];
  }
  SV_ASSIGN(MutableTensor out, Tensor::allocate(parts[0].type(), dims));
  std::byte* to = out.raw();
  for (const Tensor& part : parts) {
    if (part.byte_size()) std::memcpy(to, part.raw(), part.byte_size());
    to += part.byte_size();
  }
  return out;
}

std::string file_name_for(const std::string& name) {
  std::string out = name;
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
                       c == '_' || c == '-';
    if (!plain) c = '_';
  }
  if (out.empty() || out[0] == '.') out = '_' + out;
  constexpr size_t kMostLength = 200;  // file systems allow 255
  return out.substr(0, kMostLength);
}

}  // namespace svengine::tool
