#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/manifest.h"
#include "runtime/checkpoint/names.h"

namespace svengine {
namespace {

constexpr uint64_t kMostManifest = uint64_t{1} << 28;
constexpr size_t kReadPiece = size_t{1} << 20;
constexpr int kMostAttempts = 5;  // that find no newer generation than the one before

/// What is wrong with a generation: it may be passed over for an older one, may have been removed meanwhile, or must be refused.
enum class Trouble { none, damaged, gone, refused };

/// A regular file open for reading. Read, not mapped: one that is cut meanwhile is then an error and no SIGBUS.
class InputFile {
 public:
  static Result<InputFile> open(const std::string& path, Trouble& trouble) {
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) {
      trouble = errno == ENOENT ? Trouble::gone : Trouble::damaged;
      return error("cannot open '{}': {}", path, std::strerror(errno));
    }
    InputFile out(std::move(file), path);
    struct stat status{};
    if (fstat(out.file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return error("'{}' is no regular file", path);
    out.size_ = static_cast<uint64_t>(status.st_size);
    return out;
  }

  uint64_t size() const { return size_; }

  Status read(std::span<std::byte> out) {
    Result<size_t> read = read_full(file_.get(), out);
    if (!read.ok()) return error("cannot read '{}': {}", path_, read.error().message());
    if (*read < out.size()) return error("'{}' is cut off", path_);
    return {};
  }

 private:
  InputFile(UniqueFd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  UniqueFd file_;
  uint64_t size_ = 0;
  std::string path_;
};

Result<Manifest> read_manifest(const std::string& path, Trouble& trouble) {
  SV_ASSIGN(InputFile file, InputFile::open(path, trouble));
  if (file.size() > kMostManifest) return error("'{}' has {} bytes; a manifest has at most {}", path, file.size(), kMostManifest);
  std::string text(file.size(), '\0');
  SV_TRY(file.read(std::as_writable_bytes(std::span(text))));
  bool too_new = false;
  Result<Manifest> manifest = parse_manifest(text, &too_new);
  if (too_new) trouble = Trouble::refused;
  if (!manifest.ok()) return std::move(manifest).error().in(fmt::format("'{}'", path));
  return manifest;
}

Result<Tensor> read_tensor(InputFile& file, const ManifestTensor& expected) {
  SV_ASSIGN(MutableTensor tensor, Tensor::allocate(expected.type, expected.dims));
  Hash64 hash;
  std::span<std::byte> rest{tensor.raw(), tensor.byte_size()};
  while (!rest.empty()) {
    const auto piece = rest.first(std::min(kReadPiece, rest.size()));
    SV_TRY(file.read(piece));
    hash.update(piece);
    rest = rest.subspan(piece.size());
  }
  if (hash.value() != expected.hash) return error("tensor '{}' is damaged: its checksum is wrong", expected.name);
  return tensor;
}

Result<Checkpoint> read_generation(const std::string& directory, int64_t generation, const std::string& model, Trouble& trouble) {
  trouble = Trouble::damaged;
  SV_ASSIGN(Manifest manifest,
            read_manifest(directory + "/" + checkpoint_file_name(generation, CheckpointPart::manifest), trouble));
  if (!model.empty() && manifest.model != model) {
    trouble = Trouble::refused;
    return error("it is of the model '{}', not of '{}'", manifest.model, model);
  }
  const std::string path = directory + "/" + checkpoint_file_name(generation, CheckpointPart::data);
  SV_ASSIGN(InputFile file, InputFile::open(path, trouble));
  // Before any memory is taken for what the manifest claims.
  if (file.size() != manifest.data_bytes)
    return error("'{}' has {} bytes, its manifest says {}", path, file.size(), manifest.data_bytes);
  Checkpoint out{manifest.model, std::move(manifest.metadata), {}};
  for (const ManifestTensor& t : manifest.tensors) {
    Result<Tensor> tensor = read_tensor(file, t);
    if (!tensor.ok()) return std::move(tensor).error().in(fmt::format("'{}'", path));
    out.tensors.push_back({t.name, std::move(tensor).value()});
  }
  trouble = Trouble::none;
  return out;
}

Error of_generation(Error problem, const std::string& directory, int64_t generation) {
  return std::move(problem).in(fmt::format("checkpoint {} in '{}' cannot be used", generation, directory));
}

struct Attempt {
  std::optional<LoadedCheckpoint> found;
  std::vector<std::string> notes;
  bool gone = false;  // a generation that was listed was removed before it could be read
  int64_t newest = -1;  // of those that were listed
};

Result<Attempt> try_newest(const std::string& directory, const std::string& model) {
  SV_ASSIGN(const std::vector<int64_t> generations, checkpoint_generations(directory));
  Attempt out;
  if (!generations.empty()) out.newest = generations.back();
  for (size_t i = generations.size(); i-- > 0;) {
    Trouble trouble = Trouble::none;
    Result<Checkpoint> content = read_generation(directory, generations[i], model, trouble);
    if (content.ok()) {
      out.found = LoadedCheckpoint{generations[i], std::move(content).value(), out.notes};
      return out;
    }
    Error problem = of_generation(std::move(content).error(), directory, generations[i]);
    if (trouble == Trouble::refused) return problem;
    out.gone = out.gone || trouble == Trouble::gone;
    out.notes.push_back(problem.message());
  }
  return out;
}

}  // namespace

Result<std::vector<int64_t>> checkpoint_generations(const std::string& directory) {
  SV_ASSIGN(const std::vector<CheckpointFile> files, list_checkpoint_files(directory));
  std::vector<int64_t> out;
  for (const CheckpointFile& f : files)
    if (!f.temporary && f.part == CheckpointPart::manifest) out.push_back(f.generation);
  return out;
}

Result<LoadedCheckpoint> load_checkpoint(const std::string& directory, int64_t generation, const std::string& model) {
  Trouble trouble = Trouble::none;
  Result<Checkpoint> content = read_generation(directory, generation, model, trouble);
  if (!content.ok()) return of_generation(std::move(content).error(), directory, generation);
  return LoadedCheckpoint{generation, std::move(content).value(), {}};
}

Result<std::optional<LoadedCheckpoint>> load_newest_checkpoint(const std::string& directory, const std::string& model) {
  Attempt attempt;
  int64_t newest = -1;
  for (int idle = 0; idle < kMostAttempts;) {
    SV_ASSIGN(attempt, try_newest(directory, model));
    if (attempt.found) return std::move(attempt.found);
    if (!attempt.gone) break;  // otherwise a writer removed the old ones while we read: there are newer ones now
    idle = attempt.newest > newest ? 0 : idle + 1;
    newest = attempt.newest;
  }
  if (attempt.notes.empty()) return std::optional<LoadedCheckpoint>();
  std::string all;
  for (const std::string& note : attempt.notes) all += (all.empty() ? "" : "; ") + note;
  return error("no checkpoint in '{}' is complete: {}", directory, all);
}

}  // namespace svengine
