#include "runtime/dataset/open.h"

#include <filesystem>

#include "importers/io/names.h"
#include "importers/tensor/load_tensor.h"
#include "runtime/dataset/arrays.h"
#include "runtime/dataset/cifar.h"
#include "runtime/dataset/idx_files.h"
#include "runtime/dataset/image_folder.h"

namespace svengine {
namespace {

bool is_directory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

bool is_idx_name(std::string_view path) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return path.ends_with(".idx") || path.ends_with("-ubyte");
}

/// The folder of that part, or empty.
std::string part_of(const std::string& directory, Split split) {
  if (split == Split::train) return is_directory(directory + "/train") ? directory + "/train" : std::string();
  for (const char* name : {"/val", "/test", "/valid", "/validation"})
    if (is_directory(directory + name)) return directory + name;
  return {};
}

Result<DataSetPtr> open_directory(const std::string& path, const DataSetOptions& o) {
  if (is_mnist(path, Split::train) || is_mnist(path, Split::test)) return open_mnist(path, o.split, o.classes ? o.classes : 10);
  if (is_cifar(path, Split::train) || is_cifar(path, Split::test)) return open_cifar_directory(path, o.split);
  const bool in_parts = is_directory(path + "/train") && !part_of(path, Split::test).empty();
  if (in_parts) return open_image_folder(part_of(path, o.split), {o.image});
  if (is_image_folder(path)) return open_image_folder(path, {o.image});
  return error(
      "'{}' holds no data set: looked for train-images-idx3-ubyte(.gz) (MNIST), data_batch_1.bin or train.bin (CIFAR), train and "
      "val with a folder of "
      "images for each class, and a folder of images for each class",
      printable(path));
}

Result<DataSetPtr> open_npy(const std::string& path, const DataSetOptions& o) {
  SV_ASSIGN(const Tensor tensor, load_tensor(path));
  if (tensor.dims().size() != 1 || !is_integer(tensor.type())) return open_arrays({{"", path}}, {o.label, o.classes});
  Result<DataSetPtr> set = make_token_stream(tensor, o.tokens);
  if (!set.ok()) return std::move(set).error().in(printable(path));
  return set;
}

Result<DataSetPtr> open_two(const std::string& first, const std::string& second, const DataSetOptions& o) {
  if (is_idx_name(first) && is_idx_name(second)) return open_idx(first, second, o.classes);
  const std::string label = o.label.empty() ? "label" : o.label;
  return open_arrays({{"data", first}, {label, second}}, {o.label, o.classes});
}

}  // namespace

Result<DataSetPtr> open_dataset(const std::string& path, const DataSetOptions& options) {
  if (is_directory(path)) return open_directory(path, options);
  std::error_code ignored;
  const size_t comma = path.find(',');
  if (comma != std::string::npos && !std::filesystem::exists(path, ignored))
    return open_two(path.substr(0, comma), path.substr(comma + 1), options);
  const std::string_view name = path;
  if (name.ends_with(".npz")) return open_npz(path, {options.label, options.classes});
  if (name.ends_with(".npy")) return open_npy(path, options);
  if (name.ends_with(".txt") || name.ends_with(".tok") || name.ends_with(".ids"))
    return options.token_stream ? open_token_stream(path, options.tokens) : open_token_lines(path, options.tokens);
  if (!std::filesystem::exists(path, ignored)) return error("'{}' does not exist", printable(path));
  return error(
      "'{}' is no data set: directories, .npz, .npy and .txt files are, and two files with a comma between them (data,labels)",
      printable(path));
}

}  // namespace svengine
