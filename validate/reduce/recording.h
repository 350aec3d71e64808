// What every value of a network was in one run, in files: as many as there is disk for, and little memory.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/tensor.h"
#include "onnx_proto/svengine_onnx.pb.h"
#include "runtime/session.h"

namespace svengine::validate {

class Recording {
 public:
  /// Runs the model, node by node as it stands in the file, and keeps the values of `names` in `folder`, which must exist. Those that are no
  /// tensors, or that import has made something else of, are left out. `inputs` in the order of the imported model's. Several runs are
  /// made where the values together need more than kMostAtOnce.
  static Result<Recording> make(const std::string& model, const std::vector<std::string>& names, const std::vector<Tensor>& inputs,
                                SessionOptions options, const std::string& folder);
  static constexpr int64_t kMostAtOnce = int64_t{256} << 20;

  /// A tensor that is there without a run; any number of names for the same one.
  Status add(const std::string& name, const Tensor& tensor);

  void forget(const std::string& name) { files_.erase(name); }
  /// Values of another recording; those that it has not are left out.
  void take(const Recording& other, const std::vector<std::string>& names);

  bool has(const std::string& name) const { return files_.contains(name); }
  /// Mapped from its file.
  Result<Tensor> tensor(const std::string& name) const;
  /// The tensor's type and shape as an input or output of a model has it; null: it was not recorded.
  std::optional<onnx_proto::ValueInfoProto> type(const std::string& name) const;
  /// Writes it as a TensorProto of that name.
  Status save(const std::string& name, const std::string& path) const;
  /// The same values under other names: new name -> name here.
  Recording renamed(const std::unordered_map<std::string, std::string>& names) const;

 private:
  struct Entry {
    std::string path, name;  // what the file calls it
    DType type = DType::undefined;
    Dims dims;
  };

  std::string folder_;
  int next_ = 0;
  std::map<std::string, Entry, std::less<>> files_;
};

}  // namespace svengine::validate
