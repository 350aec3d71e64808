// Weights in files beside the model (TensorProto.external_data), mapped and used in place.
//
// The model says which file; it must not be able to name anybody else's. A location is a relative path of plain names below
// the model's folder; every step is opened with O_NOFOLLOW relative to the one before, so that neither "..", nor a symbolic
// link at any depth, nor a link put there in between leads out; hard links (which cannot be told from the original) and
// everything but regular files are refused.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/memory.h"
#include "importers/onnx/wire.h"

namespace svengine::onnx {

/// Refuses locations that do not name a file in the model's folder by a plain relative path, whether it is there or not.
Status check_location(std::string_view location);

class ExternalFiles {
 public:
  /// `folder`: the model's folder ("" = the current one). Nothing is opened before it is needed.
  explicit ExternalFiles(std::string folder) : folder_(std::move(folder)) {}

  struct Part {
    Bytes bytes;
    std::shared_ptr<const MappedFile> owner;
  };
  /// The bytes that the entries (location, offset, length, checksum; others are ignored, as ONNX has it) describe; they must
  /// be `size` bytes. The checksum is not verified: that would read all weights.
  Result<Part> find(const std::vector<std::pair<std::string_view, std::string_view>>& entries, size_t size);

  /// Accounts for data that must be looked at one by one (bool). The same bytes can be named by any number of tensors, so
  /// the model's size does not bound that work; this does.
  Status charge(size_t bytes);

  /// The file of that location. Mapped once.
  Result<std::shared_ptr<const MappedFile>> open(std::string_view location);

 private:
  std::string folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>, std::less<>> files_;
  size_t charged_ = 0;
};

}  // namespace svengine::onnx
