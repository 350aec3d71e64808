#include "runtime/dataset/idx_files.h"

#include <filesystem>

#include "importers/idx/idx.h"
#include "importers/io/names.h"
#include "runtime/dataset/tensors.h"

namespace svengine {
namespace {

/// The path of one of the four files, empty if there is none.
std::string find_file(const std::string& directory, Split split, const char* kind, int rank) {
  for (const char* dot : {"-", "."})
    for (const char* suffix : {"", ".gz"}) {
      const std::string path =
          fmt::format("{}/{}-{}{}idx{}-ubyte{}", directory, split == Split::train ? "train" : "t10k", kind, dot, rank, suffix);
      std::error_code ignored;
      if (std::filesystem::exists(path, ignored)) return path;
    }
  return {};
}

std::string find_images(const std::string& directory, Split split) { return find_file(directory, split, "images", 3); }

}  // namespace

Result<DataSetPtr> open_idx(const std::string& images_path, const std::string& labels_path, int64_t classes) {
  SV_ASSIGN(Tensor images, load_idx(images_path));
  const Dims dims = images.dims();
  if (dims.size() != 3 && dims.size() != 4)
    return error("{}: holds shape {}; images are samples x height x width, or samples x channels x height x width",
                 printable(images_path), to_string(dims));
  if (dims.size() == 3) images = images.reshaped({dims[0], 1, dims[1], dims[2]});
  SV_ASSIGN(const Tensor numbers, load_idx(labels_path));
  Result<Labels> labels = make_labels(numbers, classes);
  if (!labels.ok()) return std::move(labels).error().in(printable(labels_path));
  if (labels->tensor.dims()[0] != dims[0])
    return error("{}: has {} labels for the {} images of {}", printable(labels_path), labels->tensor.dims()[0], dims[0],
                 printable(images_path));
  Result<DataSetPtr> set = make_tensor_data_set({{"image", images}, {"label", labels->tensor}}, labels->classes);
  if (!set.ok()) return std::move(set).error().in(printable(images_path));
  return set;
}

Result<DataSetPtr> open_mnist(const std::string& directory, Split split, int64_t classes) {
  const std::string images = find_images(directory, split), labels = find_file(directory, split, "labels", 1);
  const char* part = split == Split::train ? "train" : "t10k";
  if (images.empty()) return error("{}: has no file {}-images-idx3-ubyte(.gz)", printable(directory), part);
  if (labels.empty()) return error("{}: has no file {}-labels-idx1-ubyte(.gz) beside its images", printable(directory), part);
  return open_idx(images, labels, classes);
}

bool is_mnist(const std::string& directory, Split split) { return !find_images(directory, split).empty(); }

}  // namespace svengine
