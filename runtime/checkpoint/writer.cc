#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "engine/base/hash.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/names.h"

namespace svengine {
namespace {

/// Hashed and written in pieces that stay in a cache in between.
constexpr size_t kWritePiece = size_t{1} << 20;

Status check(const Checkpoint& checkpoint) {
  std::set<std::string_view> names;
  for (const CheckpointTensor& t : checkpoint.tensors) {
    if (t.name.empty()) return error("a tensor of a checkpoint needs a name");
    if (!names.insert(t.name).second) return error("a checkpoint cannot hold two tensors '{}'", t.name);
    if (size_of(t.tensor.type()) == 0)
      return error("tensor '{}' of a checkpoint has type {}, which has no storage", t.name, name_of(t.tensor.type()));
  }
  for (const auto& [name, value] : checkpoint.metadata.values())
    if (name.empty()) return error("a fact of a checkpoint needs a name");
  return {};
}

Result<Manifest> write_data(FileSystem& system, const std::string& path, const Checkpoint& checkpoint) {
  SV_ASSIGN(DurableFile file, DurableFile::create(system, path));
  Manifest manifest{checkpoint.model, checkpoint.metadata, {}, 0};
  for (const CheckpointTensor& t : checkpoint.tensors) {
    Hash64 hash;
    std::span<const std::byte> rest{t.tensor.raw(), t.tensor.byte_size()};
    while (!rest.empty()) {
      const auto piece = rest.first(std::min(kWritePiece, rest.size()));
      hash.update(piece);
      SV_TRY(file.write(piece));
      rest = rest.subspan(piece.size());
    }
    manifest.tensors.push_back(
        {t.name, t.tensor.type(), t.tensor.dims(), manifest.data_bytes, t.tensor.byte_size(), hash.value()});
    manifest.data_bytes += t.tensor.byte_size();
  }
  SV_TRY(file.finish());
  return manifest;
}

Status write_text(FileSystem& system, const std::string& path, const std::string& text) {
  SV_ASSIGN(DurableFile file, DurableFile::create(system, path));
  SV_TRY(file.write(std::as_bytes(std::span(text))));
  return file.finish();
}

std::string parent_of(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

std::string model_identity(std::string_view name, const std::vector<CheckpointTensor>& tensors) {
  std::vector<std::string> lines;
  for (const CheckpointTensor& t : tensors)
    lines.push_back(fmt::format("{}\n{}[{}]\n", t.name, name_of(t.tensor.type()), to_string(t.tensor.dims())));
  std::ranges::sort(lines);
  Hash64 hash;
  for (const std::string& line : lines) hash.update(line);
  return fmt::format("{}, {} tensors, {:016x}", name, tensors.size(), hash.value());
}

CheckpointWriter::CheckpointWriter(std::string directory, const CheckpointOptions& options, std::optional<DirectoryLock> lock)
    : directory_(std::move(directory)),
      options_(options),
      system_(options.system ? *options.system : real_file_system()),
      lock_(std::move(lock)) {}

Result<std::unique_ptr<CheckpointWriter>> CheckpointWriter::open(const std::string& directory, const CheckpointOptions& options) {
  if (options.keep < 1) return error("{} checkpoints to keep; at least 1 is", options.keep);
  if (directory.empty()) return error("checkpoints need a directory");
  FileSystem& system = options.system ? *options.system : real_file_system();
  if (::mkdir(directory.c_str(), 0777) == 0)
    SV_TRY(system.sync_directory(parent_of(directory)));
  else if (errno != EEXIST)
    return error("cannot make the directory '{}': {}", directory, std::strerror(errno));
  std::optional<DirectoryLock> lock;
  if (options.lock) {
    SV_ASSIGN(DirectoryLock taken, DirectoryLock::take(directory));
    lock.emplace(std::move(taken));
  }
  std::unique_ptr<CheckpointWriter> writer(new CheckpointWriter(directory, options, std::move(lock)));
  SV_TRY(writer->remove_leftovers());
  return writer;
}

/// Temporary files, and data whose manifest never came.
Status CheckpointWriter::remove_leftovers() {
  SV_ASSIGN(const std::vector<CheckpointFile> files, list_checkpoint_files(directory_));
  std::set<int64_t> whole;
  for (const CheckpointFile& f : files)
    if (!f.temporary && f.part == CheckpointPart::manifest) whole.insert(f.generation);
  for (const CheckpointFile& f : files)
    if (f.temporary || !whole.contains(f.generation)) SV_TRY(system_.remove(directory_ + "/" + f.name));
  return {};
}

Status CheckpointWriter::write_generation(const Checkpoint& checkpoint, int64_t generation) {
  const std::string data = directory_ + "/" + checkpoint_file_name(generation, CheckpointPart::data);
  const std::string manifest = directory_ + "/" + checkpoint_file_name(generation, CheckpointPart::manifest);
  SV_ASSIGN(const Manifest content, write_data(system_, data + ".tmp", checkpoint));
  SV_TRY(system_.rename(data + ".tmp", data));
  SV_TRY(write_text(system_, manifest + ".tmp", write_manifest(content)));
  SV_TRY(system_.sync_directory(directory_));  // the data's name is on the disk before the manifest's
  SV_TRY(system_.rename(manifest + ".tmp", manifest));
  return system_.sync_directory(directory_);
}

Result<SavedCheckpoint> CheckpointWriter::save(const Checkpoint& checkpoint) {
  SV_TRY(check(checkpoint));
  SV_ASSIGN(const std::vector<CheckpointFile> files, list_checkpoint_files(directory_));
  SavedCheckpoint saved{files.empty() ? 1 : files.back().generation + 1, {}};
  Status written = write_generation(checkpoint, saved.generation);
  if (!written.ok()) {
    // The manifest first: without it the rest is nothing. Whatever stays is removed by the next writer.
    for (CheckpointPart part : {CheckpointPart::manifest, CheckpointPart::data})
      for (const char* suffix : {"", ".tmp"}) {
        [[maybe_unused]] const Status ignored =
            system_.remove(directory_ + "/" + checkpoint_file_name(saved.generation, part) + suffix);
      }
    return std::move(written).error().in(fmt::format("checkpoint {} is not saved", saved.generation));
  }
  remove_old(saved.generation, saved.notes);
  return saved;
}

void CheckpointWriter::remove_old(int64_t newest, std::vector<std::string>& notes) {
  const Result<std::vector<CheckpointFile>> files = list_checkpoint_files(directory_);
  if (!files.ok()) {
    notes.push_back(files.error().message());
    return;
  }
  std::vector<int64_t> kept;
  for (const CheckpointFile& f : *files)
    if (!f.temporary && f.part == CheckpointPart::manifest && f.generation <= newest) kept.push_back(f.generation);
  const auto keep = static_cast<size_t>(options_.keep);
  if (kept.size() <= keep) return;
  const int64_t oldest = kept[kept.size() - keep];
  for (CheckpointPart part : {CheckpointPart::manifest, CheckpointPart::data})
    for (const CheckpointFile& f : *files) {
      if (f.part != part || f.generation >= oldest) continue;
      const Status removed = system_.remove(directory_ + "/" + f.name);
      if (!removed.ok()) notes.push_back(removed.error().message());
    }
}

}  // namespace svengine
