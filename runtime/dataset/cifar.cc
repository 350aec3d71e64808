#include "runtime/dataset/cifar.h"

#include <filesystem>

#include "importers/io/names.h"
#include "runtime/dataset/file_bytes.h"
#include "runtime/dataset/tensors.h"

namespace svengine {
namespace {

constexpr size_t kPixels = 3 * 32 * 32;
constexpr size_t kMostBytes = size_t{1} << 32;  // of one file; the published ones have 154 MB at most

struct Format {
  const char* name;
  size_t labels;  // bytes before the pixels
  size_t label;   // which of them is ours
  int64_t classes;
};

Format format_of(Cifar kind) {
  switch (kind) {
    case Cifar::ten: return {"CIFAR-10", 1, 0, 10};
    case Cifar::hundred: return {"CIFAR-100", 2, 1, 100};
    default: return {"CIFAR-100", 2, 0, 20};
  }
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::vector<std::string> files_of(const std::string& directory, Split split, Cifar kind) {
  if (kind != Cifar::ten) return {fmt::format("{}/{}.bin", directory, split == Split::train ? "train" : "test")};
  if (split == Split::test) return {directory + "/test_batch.bin"};
  std::vector<std::string> files;
  for (int i = 1; i <= 5; ++i) files.push_back(fmt::format("{}/data_batch_{}.bin", directory, i));
  return files;
}

std::vector<std::string> class_names(const std::string& directory, Cifar kind) {
  const char* file = kind == Cifar::ten       ? "batches.meta.txt"
                     : kind == Cifar::hundred ? "fine_label_names.txt"
                                              : "coarse_label_names.txt";
  Result<std::vector<std::string>> lines = read_lines(fmt::format("{}/{}", directory, file));
  if (!lines.ok()) return {};  // names are a courtesy
  std::erase(*lines, std::string());
  if (lines->size() != static_cast<size_t>(format_of(kind).classes)) return {};
  return std::move(lines).value();
}

/// Appends one file's records.
Status append(const std::string& path, const Format& format, std::vector<std::byte>& pixels, std::vector<int64_t>& labels) {
  SV_ASSIGN(const std::vector<std::byte> bytes, read_file(path, kMostBytes));
  const size_t record = format.labels + kPixels;
  if (bytes.empty()) return error("{}: is empty", printable(path));
  if (bytes.size() % record)
    return error("{}: has {} bytes, not a multiple of {}, the size of a {} record: the last one is cut off", printable(path),
                 bytes.size(), record, format.name);
  for (size_t at = 0; at < bytes.size(); at += record) {
    const auto label = static_cast<int64_t>(bytes[at + format.label]);
    if (label >= format.classes)
      return error("{}: record {} has label {}; {} has labels 0 to {}", printable(path), at / record, label, format.name,
                   format.classes - 1);
    labels.push_back(label);
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at + format.labels);
    pixels.insert(pixels.end(), first, first + kPixels);
  }
  return {};
}

Result<DataSetPtr> open_named(const std::vector<std::string>& files, Cifar kind, std::vector<std::string> names) {
  const Format format = format_of(kind);
  auto pixels = std::make_shared<std::vector<std::byte>>();
  std::vector<int64_t> labels;
  for (const std::string& path : files) SV_TRY(append(path, format, *pixels, labels));
  if (labels.empty()) return error("no {} file is given", format.name);
  const auto count = static_cast<int64_t>(labels.size());
  const Tensor images = Tensor::wrap(DType::u8, {count, 3, 32, 32}, pixels->data(), pixels);
  return make_tensor_data_set({{"image", images}, {"label", Tensor::of<int64_t>({count}, labels)}}, format.classes,
                              std::move(names));
}

}  // namespace

Result<DataSetPtr> open_cifar(const std::vector<std::string>& files, Cifar kind) { return open_named(files, kind, {}); }

Result<DataSetPtr> open_cifar_directory(const std::string& directory, Split split, bool coarse) {
  Cifar kind = coarse ? Cifar::hundred_coarse : Cifar::hundred;
  if (exists(files_of(directory, split, Cifar::ten)[0])) kind = Cifar::ten;
  if (coarse && kind == Cifar::ten) return error("{}: holds CIFAR-10, which has no coarse labels", printable(directory));
  return open_named(files_of(directory, split, kind), kind, class_names(directory, kind));
}

bool is_cifar(const std::string& directory, Split split) {
  return exists(files_of(directory, split, Cifar::ten)[0]) || exists(files_of(directory, split, Cifar::hundred)[0]);
}

}  // namespace svengine
