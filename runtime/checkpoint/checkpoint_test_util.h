// Shared by the tests of checkpoints: a directory, contents that say which save they are of, and a file system that fails.
#pragma once
#include <sys/stat.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "runtime/checkpoint/checkpoint.h"
#include "tests/support/must.h"
#include "tests/support/temporary_directory.h"

namespace svengine::tests {

/// Where a run keeps its checkpoints: a directory that the first one makes.
class RunDirectory {
 public:
  std::string path() const { return root_.path() + "/run"; }

 private:
  TemporaryDirectory root_{TemporaryDirectory::Place::memory};  // these tests do thousands of syncs
};

/// Everything in it follows from `step`.
inline Checkpoint checkpoint_of(int64_t step, int64_t elements = 5) {
  Checkpoint out{.model = "tiny net, 3 tensors", .metadata = {}, .tensors = {}};
  out.metadata.set("step", step);
  out.metadata.set("rate", 0.1 * static_cast<double>(step));
  out.metadata.set("seed", uint64_t{0xffffffffffffffff});
  out.metadata.set("a name with\nodd bytes %20", "and a \x01 value, ö");
  MutableTensor weight = Tensor::allocate(DType::f32, {elements}).value();
  for (int64_t i = 0; i < elements; ++i) weight.data<float>()[static_cast<size_t>(i)] = static_cast<float>(step * 1000 + i);
  out.tensors = {{"conv 1/weight", weight}, {"steps", Tensor::scalar<int64_t>(step)}, {"none", Tensor::of<uint8_t>({0, 3}, {})}};
  return out;
}

inline bool same(const Checkpoint& a, const Checkpoint& b) {
  if (a.model != b.model || a.metadata != b.metadata || a.tensors.size() != b.tensors.size()) return false;
  for (size_t i = 0; i < a.tensors.size(); ++i) {
    const Tensor &x = a.tensors[i].tensor, &y = b.tensors[i].tensor;
    if (a.tensors[i].name != b.tensors[i].name || x.type() != y.type() || x.dims() != y.dims()) return false;
    if (x.byte_size() && std::memcmp(x.raw(), y.raw(), x.byte_size()) != 0) return false;
  }
  return true;
}

inline std::unique_ptr<CheckpointWriter> writer(const std::string& directory, const CheckpointOptions& options = {}) {
  return must(CheckpointWriter::open(directory, options));
}

inline LoadedCheckpoint newest(const std::string& directory, const std::string& model = {}) {
  std::optional<LoadedCheckpoint> loaded = must(load_newest_checkpoint(directory, model));
  REQUIRE(loaded);
  return std::move(*loaded);
}

inline void overwrite(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// Passes calls on to the real one until call number `fails_at`, which does half its work and fails; what follows fails too if
/// `dead` (the machine has stopped), and succeeds if not (the disk had a bad moment).
class FailingFileSystem final : public FileSystem {
 public:
  FailingFileSystem(int fails_at, bool dead) : fails_at_(fails_at), dead_(dead) {}
  int calls() const { return calls_; }

  /// What a power cut leaves: of files that were not synced, nothing; names that were given since the directory was synced are
  /// the old ones again: all of them, or, as disks keep no order, only the first.
  void lose_power(bool only_first) {
    for (const std::string& path : unsynced_) std::filesystem::resize_file(path, 0);
    if (only_first && !renamed_.empty()) renamed_.resize(1);
    for (auto it = renamed_.rbegin(); it != renamed_.rend(); ++it) std::filesystem::rename(it->second, it->first);
    unsynced_.clear();
    renamed_.clear();
  }

  Result<int> create(const std::string& path) override {
    if (fails()) return failure();
    unsynced_.insert(path);
    return real_file_system().create(path);
  }
  Status write(int file, const std::string& path, std::span<const std::byte> bytes) override {
    const bool failing = fails();
    if (failing && now_) {
      [[maybe_unused]] const Status half = real_file_system().write(file, path, bytes.first(bytes.size() / 2));
    }
    if (failing) return failure();
    return real_file_system().write(file, path, bytes);
  }
  Status sync(int file, const std::string& path) override {
    if (fails()) return failure();
    unsynced_.erase(path);
    return real_file_system().sync(file, path);
  }
  Status close(int file, const std::string& path) override {
    const bool failing = fails();
    const Status closed = real_file_system().close(file, path);
    return failing ? Status(failure()) : closed;
  }
  Status rename(const std::string& from, const std::string& to) override {
    if (fails()) return failure();
    if (unsynced_.erase(from)) unsynced_.insert(to);
    renamed_.emplace_back(from, to);
    return real_file_system().rename(from, to);
  }
  Status remove(const std::string& path) override {
    if (fails()) return failure();
    unsynced_.erase(path);
    std::erase_if(renamed_, [&](const auto& names) { return names.second == path; });
    return real_file_system().remove(path);
  }
  Status sync_directory(const std::string& path) override {
    if (fails()) return failure();
    renamed_.clear();
    return real_file_system().sync_directory(path);
  }

 private:
  static Error failure() { return error("No space left on device"); }
  bool fails() {
    ++calls_;
    now_ = calls_ == fails_at_;
    return now_ || (dead_ && calls_ > fails_at_ && fails_at_ > 0);
  }

  int fails_at_, calls_ = 0;
  bool dead_, now_ = false;
  std::set<std::string> unsynced_;
  std::vector<std::pair<std::string, std::string>> renamed_;
};

}  // namespace svengine::tests
