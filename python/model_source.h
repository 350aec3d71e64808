// What Python gives as a model.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <span>
#include <string>

#include "importers/onnx/import.h"

namespace svengine::python {

/// Of a str, bytes or os.PathLike.
std::string path_from_python(nanobind::handle path);

/// A path (str or os.PathLike), bytes and what else lends a buffer (copied unless it is bytes, which never change), or a
/// message like onnx.ModelProto, which can serialise itself.
class ModelSource {
 public:
  explicit ModelSource(nanobind::handle model);

  /// The path, or "model" for one from memory: what errors begin with.
  const std::string& name() const { return name_; }
  bool is_path() const { return is_path_; }
  /// Of one from memory.
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  /// With or without the interpreter's lock.
  Result<Model> read(const ImportOptions& options) const;

 private:
  void take(const nanobind::bytes& bytes);

  std::string name_ = "model";
  bool is_path_ = false;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

}  // namespace svengine::python
