// The names of a checkpoint's files.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace svengine {

enum class CheckpointPart { data, manifest };

struct CheckpointFile {
  std::string name;
  int64_t generation = 0;
  CheckpointPart part = CheckpointPart::data;
  bool temporary = false;
};

/// "checkpoint-00000012.data"
std::string checkpoint_file_name(int64_t generation, CheckpointPart part);

/// What a name says, if it is exactly one that this program gives.
std::optional<CheckpointFile> parse_checkpoint_file_name(const std::string& name);

/// The checkpoint files in a directory, generations rising; none if there is no such directory.
Result<std::vector<CheckpointFile>> list_checkpoint_files(const std::string& directory);

}  // namespace svengine
