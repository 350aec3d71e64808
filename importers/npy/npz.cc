#include "importers/npy/npz.h"

#include <fmt/ranges.h>

#include "engine/base/memory.h"
#include "importers/io/names.h"
#include "importers/io/zip.h"
#include "importers/npy/npy.h"

namespace svengine {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string array_name(const ZipEntry& entry) {
  std::string name = entry.name;
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

class Archive {
 public:
  static Result<Archive> open(const std::string& path) {
    Archive archive;
    SV_ASSIGN(archive.file_, MappedFile::open(path));
    Result<std::vector<ZipEntry>> entries = read_zip_directory(archive.file_->bytes());
    if (!entries.ok()) return std::move(entries).error().in(path);
    archive.entries_ = std::move(entries).value();
    archive.path_ = path;
    return archive;
  }

  const std::vector<ZipEntry>& entries() const { return entries_; }

  Result<Tensor> load(const ZipEntry& entry) const {
    Result<Tensor> tensor = parse(entry);
    if (!tensor.ok()) return std::move(tensor).error().in(fmt::format("{}: array '{}'", path_, printable(array_name(entry))));
    return tensor;
  }

 private:
  Result<Tensor> parse(const ZipEntry& entry) const {
    SV_TRY(check_zip_entry(entry));
    SV_TRY(find_zip_data(file_->bytes(), entry));  // before memory is taken for what it claims
    SV_ASSIGN(MutableTensor unpacked, Tensor::allocate(DType::u8, {static_cast<int64_t>(entry.size)}));
    SV_TRY(unpack_zip_entry(file_->bytes(), entry, std::as_writable_bytes(unpacked.data<uint8_t>())));
    return parse_npy({unpacked.raw(), unpacked.byte_size()}, unpacked.owner());
  }

  std::string path_;
  std::shared_ptr<const MappedFile> file_;
  std::vector<ZipEntry> entries_;
};

std::vector<std::string> names_of(const std::vector<ZipEntry>& entries) {
  std::vector<std::string> names;
  for (const ZipEntry& e : entries) names.push_back(array_name(e));
  return names;
}

}  // namespace

Result<std::vector<std::string>> npz_names(const std::string& path) {
  SV_ASSIGN(const Archive archive, Archive::open(path));
  return names_of(archive.entries());
}

Result<Tensor> load_npz(const std::string& path, const std::string& name) {
  SV_ASSIGN(const Archive archive, Archive::open(path));
  if (name.empty() && archive.entries().size() == 1) return archive.load(archive.entries()[0]);
  for (const ZipEntry& entry : archive.entries())
    if (!name.empty() && array_name(entry) == name) return archive.load(entry);
  return error("{}: {}; it has: {}", path, name.empty() ? "one array must be named" : fmt::format("no array '{}'", name),
               printable(fmt::format("{}", fmt::join(names_of(archive.entries()), ", ")), 1000));
}

Result<std::vector<NamedTensor>> load_npz_all(const std::string& path) {
  SV_ASSIGN(const Archive archive, Archive::open(path));
  std::vector<NamedTensor> out;
  for (const ZipEntry& entry : archive.entries()) {
    SV_ASSIGN(Tensor tensor, archive.load(entry));
    out.push_back({array_name(entry), std::move(tensor)});
  }
  return out;
}

}  // namespace svengine
