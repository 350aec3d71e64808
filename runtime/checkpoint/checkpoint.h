// Checkpoints: numbered generations of named tensors and scalars in one directory, complete or as if they were not there.
//
//   <dir>/lock                           held by the one writer
//   <dir>/checkpoint-00000012.data       the tensors' bytes, one after another
//   <dir>/checkpoint-00000012.manifest   what they are, with checksums (manifest.h); a generation is there when this is
//
// A generation is written under temporary names. In this order:
//
//   data.tmp written, synced > renamed to data > manifest.tmp written, synced > directory synced > renamed to manifest >
//   directory synced > generations beyond the number to keep removed, manifests before data
//
// So whenever the process is killed, the machine stops or the disk is full, what was saved before is untouched, and the new
// generation is either complete or has no manifest. Reading trusts nothing all the same: sizes, order and XXH64 of every tensor
// are checked, and what fails is passed over for the generation before.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/tensor.h"
#include "runtime/checkpoint/metadata.h"
#include "runtime/checkpoint/file_system.h"
#include "runtime/checkpoint/lock.h"

namespace svengine {

struct CheckpointTensor {
  std::string name;
  Tensor tensor;
};

struct Checkpoint {
  std::string model;  // what the tensors belong to; see model_identity
  CheckpointMetadata metadata;
  std::vector<CheckpointTensor> tensors;  // in any order, names not empty and all different
};

/// "resnet50, 161 tensors, 0123456789abcdef": a name, and a hash of names, types and shapes (not values) of the tensors, in any
/// order. Two networks with the same are the same for a checkpoint.
std::string model_identity(std::string_view name, const std::vector<CheckpointTensor>& tensors);

struct CheckpointOptions {
  int keep = 3;      // generations, at least 1; the disk must have room for one more, the one being written
  bool lock = true;  // false only where the file system has no locks: then it is the caller who lets no second writer in
  FileSystem* system = nullptr;  // null: the real one
};

struct SavedCheckpoint {
  int64_t generation = 0;
  std::vector<std::string> notes;  // old generations that could not be removed
};

/// The one writer of a directory. Not thread-safe.
class CheckpointWriter {
 public:
  /// Makes the directory (its parent must be there), takes the lock, and removes what a killed writer has left half-written.
  static Result<std::unique_ptr<CheckpointWriter>> open(const std::string& directory, const CheckpointOptions& options = {});

  /// Returns when the generation is on the disk. After an error the directory holds what it held before, and another attempt may
  /// be made. Numbers rise by one from the highest ever seen in the directory.
  Result<SavedCheckpoint> save(const Checkpoint& checkpoint);

  const std::string& directory() const { return directory_; }

 private:
  CheckpointWriter(std::string directory, const CheckpointOptions& options, std::optional<DirectoryLock> lock);
  Status write_generation(const Checkpoint& checkpoint, int64_t generation);
  void remove_old(int64_t newest, std::vector<std::string>& notes);
  Status remove_leftovers();

  std::string directory_;
  CheckpointOptions options_;
  FileSystem& system_;
  std::optional<DirectoryLock> lock_;
};

struct LoadedCheckpoint {
  int64_t generation = 0;
  Checkpoint content;
  std::vector<std::string> notes;  // newer generations that were passed over, and why
};

/// The newest complete generation; nothing where the directory is not there or no generation was ever saved in it. An error:
/// there are generations, but none is complete; the newest is of another model than `model` (unless that is empty), with both
/// named; or it is of a later format. Needs no lock: a writer may be at work. Memory is bounded by the size of the data file.
Result<std::optional<LoadedCheckpoint>> load_newest_checkpoint(const std::string& directory, const std::string& model = {});

/// One generation.
Result<LoadedCheckpoint> load_checkpoint(const std::string& directory, int64_t generation, const std::string& model = {});

/// Numbers of the generations that have a manifest, complete or not, rising. A directory that is not there has none.
Result<std::vector<int64_t>> checkpoint_generations(const std::string& directory);

}  // namespace svengine
