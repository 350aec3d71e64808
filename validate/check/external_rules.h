// Data of tensors in files beside the model.
#pragma once
#include <map>
#include <string>

#include "validate/check/context.h"

namespace svengine::validate {

class ExternalRules {
 public:
  explicit ExternalRules(Context& context) : c_(context) {}

  /// Of a tensor whose data are in a file: location, entries, range, checksum. `size`: the bytes of its elements.
  void check(const std::string& where, const onnx::TensorRecord& record, size_t size);

 private:
  void check_file(const std::string& where, const onnx::TensorRecord& record, const std::string& location, size_t size);
  void check_checksum(const std::string& where, const std::string& location, onnx::Bytes file, std::string_view wanted);

  Context& c_;
  std::map<std::string, std::string> digests_;  // of whole files, by location
};

}  // namespace svengine::validate
