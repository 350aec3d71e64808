#include "runtime/dataset/image_folder.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "importers/io/names.h"
#include "runtime/dataset/file_bytes.h"

namespace svengine {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostImageBytes = size_t{1} << 28;
constexpr size_t kMostFiles = size_t{1} << 27;
constexpr int kMostDepth = 16;

struct ImageSample {
  std::string path;  // below the data set's directory
  int32_t label;
};

bool is_hidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

bool is_image_name(const fs::path& path) {
  std::string suffix = path.extension().native();
  std::ranges::transform(suffix, suffix.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return suffix == ".png" || suffix == ".jpg" || suffix == ".jpeg";
}

Result<std::vector<fs::directory_entry>> entries_of(const fs::path& directory) {
  std::error_code failed;
  std::vector<fs::directory_entry> entries;
  fs::directory_iterator it(directory, failed);
  for (; !failed && it != fs::directory_iterator(); it.increment(failed)) {
    if (!is_hidden(it->path())) entries.push_back(*it);
    if (entries.size() > kMostFiles) return error("'{}' holds more than {} files", printable(directory.native()), kMostFiles);
  }
  if (failed) return error("cannot list '{}': {}", printable(directory.native()), failed.message());
  return entries;
}

/// All images below a class's folder, in any order.
Status collect(const fs::path& directory, int depth, std::vector<std::string>& files) {
  if (depth > kMostDepth) return error("'{}' is more than {} folders deep", printable(directory.native()), kMostDepth);
  SV_ASSIGN(const std::vector<fs::directory_entry> entries, entries_of(directory));
  for (const fs::directory_entry& entry : entries) {
    std::error_code ignored;
    if (entry.is_directory(ignored)) {
      if (!entry.is_symlink(ignored)) SV_TRY(collect(entry.path(), depth + 1, files));
    } else if (is_image_name(entry.path())) {
      files.push_back(entry.path().native());
    }
    if (files.size() > kMostFiles) return error("'{}' holds more than {} images", printable(directory.native()), kMostFiles);
  }
  return {};
}

Result<std::vector<std::string>> find_classes(const std::string& directory) {
  SV_ASSIGN(const std::vector<fs::directory_entry> entries, entries_of(directory));
  std::vector<std::string> classes;
  for (const fs::directory_entry& entry : entries) {
    std::error_code ignored;
    if (entry.is_directory(ignored)) classes.push_back(entry.path().filename().native());
  }
  std::ranges::sort(classes);
  if (classes.empty())
    return error("'{}' has no folders: images are expected in one folder for each class", printable(directory));
  return classes;
}

Result<Tensor> load_pixels(const std::string& path, const ImageOptions& options) {
  SV_ASSIGN(const std::vector<std::byte> bytes, read_file(path, kMostImageBytes));
  Result<Tensor> pixels = parse_image(bytes, options);
  if (!pixels.ok()) return std::move(pixels).error().in(printable(path));
  return pixels;
}

class ImageFolder final : public DataSet {
 public:
  ImageFolder(std::string root, std::vector<ImageSample> samples, const Dims& image, const ImageOptions& options,
              std::vector<std::string> classes)
      : DataSet(static_cast<int64_t>(samples.size()), {{"image", DType::u8, image}, {"label", DType::i64, {}}},
                static_cast<int64_t>(classes.size()), std::move(classes)),
        root_(std::move(root)),
        samples_(std::move(samples)),
        options_(options) {}

 private:
  Status read_sample(int64_t index, std::span<std::byte* const> destination) const override {
    const ImageSample& sample = samples_[static_cast<size_t>(index)];
    const std::string path = root_ + sample.path;
    SV_ASSIGN(const Tensor pixels, load_pixels(path, options_));
    const Field& field = fields()[0];
    if (Dims(pixels.dims().begin() + 1, pixels.dims().end()) != field.dims)
      return error("{}: is {}x{} pixels, the others are {}x{}; give a size to resize or crop to", printable(path),
                   pixels.dims()[3], pixels.dims()[2], field.dims[2], field.dims[1]);
    std::memcpy(destination[0], pixels.raw(), field.bytes());
    const int64_t label = sample.label;
    std::memcpy(destination[1], &label, sizeof label);
    return {};
  }

  std::string root_;
  std::vector<ImageSample> samples_;
  ImageOptions options_;
};

/// The size all images have: that of the first that decodes, if the options do not say.
Result<Dims> image_dims(const std::string& root, const std::vector<ImageSample>& samples, const ImageOptions& o) {
  if (o.crop_width > 0) return Dims{o.channels, o.crop_height, o.crop_width};
  if (o.width > 0) return Dims{o.channels, o.height, o.width};
  constexpr size_t kMostTries = 100;
  Result<Tensor> pixels = error("no image");
  for (size_t i = 0; i < std::min(samples.size(), kMostTries); ++i) {
    pixels = load_pixels(root + samples[i].path, o);
    if (pixels.ok()) return Dims(pixels->dims().begin() + 1, pixels->dims().end());
  }
  return std::move(pixels).error();
}

}  // namespace

Result<DataSetPtr> open_image_folder(const std::string& directory, const ImageFolderOptions& options) {
  ImageOptions image = options.image;
  image.type = DType::u8;
  image.channels_last = false;
  SV_TRY(check_image_options(image));
  SV_ASSIGN(std::vector<std::string> classes, find_classes(directory));
  const std::string root = directory + "/";
  std::vector<ImageSample> samples;
  for (size_t c = 0; c < classes.size(); ++c) {
    std::vector<std::string> files;
    SV_TRY(collect(root + classes[c], 1, files));
    if (files.empty()) return error("'{}' has no .png, .jpg or .jpeg file", printable(root + classes[c]));
    std::ranges::sort(files);
    for (const std::string& file : files) samples.push_back({file.substr(root.size()), static_cast<int32_t>(c)});
  }
  SV_ASSIGN(const Dims dims, image_dims(root, samples, image));
  for (std::string& name : classes) name = printable(name);
  return DataSetPtr(std::make_shared<ImageFolder>(root, std::move(samples), dims, image, std::move(classes)));
}

bool is_image_folder(const std::string& directory) {
  const Result<std::vector<std::string>> classes = find_classes(directory);
  if (!classes.ok()) return false;
  for (const std::string& name : *classes) {
    const Result<std::vector<fs::directory_entry>> entries = entries_of(directory + "/" + name);
    if (entries.ok() && std::ranges::any_of(*entries, [](const fs::directory_entry& e) { return is_image_name(e.path()); }))
      return true;
  }
  return false;
}

}  // namespace svengine
