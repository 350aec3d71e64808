// An ONNX file as it stands, for what looks at a model or writes it again: the whole structure as protobuf's objects, which may be changed, and
// the weights where they lie, which are not even read. (What runs a model wants its graph: import.h.)
//
//   ModelProto  graph{ node.. initializer{ name raw_data[place] } }      a TensorProto is a placeholder, wherever it stands: the
//                                               │                        name, and the place of the tensor itself:
//                                               ├── in the file          as it stands in it, docs, external entries and all
//                                               └── among new tensors    what add() was given: a tensor, or what makes one while it is written
//
// Placeholders may be copied, moved to other nodes, renamed and dropped; write_model.h puts the tensors back in. A TensorProto with a data type,
// which no placeholder has, is complete in itself.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "importers/onnx/tensor_proto.h"
#include "importers/onnx/tensor_source.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

/// Takes bytes that follow those before.
using ByteSink = std::function<Status(Bytes)>;

/// A tensor that is nowhere yet: its elements are made when it is written, a part at a time.
struct LateTensor {
  DType type = DType::undefined;  // of elements of whole bytes
  Dims dims;
  /// Gives `sink` all elements, row-major, as many bytes as type and dims say.
  std::function<Status(const ByteSink& sink)> make;

  size_t byte_size() const { return static_cast<size_t>(element_count(dims)) * size_of(type); }
};

/// Not thread-safe. The file must not be changed while this is alive (it is mapped).
class OnnxFile {
 public:
  /// Errors name the file.
  static Result<OnnxFile> open(const std::string& path);
  /// From memory, which `owner` keeps alive; `name` stands for the path in errors. External data are in `external_folder`; empty: refused.
  static Result<OnnxFile> parse(Bytes bytes, std::shared_ptr<const void> owner, const std::string& name, const std::string& external_folder = {});

  /// A model that is in no file: its tensors are complete, or come from add().
  static OnnxFile of(onnx_proto::ModelProto model);

  const std::string& path() const { return path_; }
  onnx_proto::ModelProto& model() { return model_; }
  const onnx_proto::ModelProto& model() const { return model_; }

  /// What the file says of a tensor: type, dimensions, where the data are. Fails where it is not in the file.
  Result<TensorRecord> record(const onnx_proto::TensorProto& placeholder) const;
  /// The TensorProto as it stands in the file.
  Result<Bytes> message(const onnx_proto::TensorProto& placeholder) const;
  /// Its value: of the file (in place where it is laid out so) or a new one. Fails on types the engine has not, and on data that do not fit.
  Result<Tensor> tensor(const onnx_proto::TensorProto& placeholder) const;
  /// Tensors of the file, dense and sparse, for what reads them by itself (node_importer.h). Does not know the others; must not outlive the file.
  TensorSource source() const { return {bytes_, owner_, external_.get()}; }
  /// The files beside the model; null where external data are refused.
  ExternalFiles* external() const { return external_.get(); }

  /// The placeholder of a tensor that the file has not.
  onnx_proto::TensorProto add(const std::string& name, Tensor tensor);
  onnx_proto::TensorProto add(const std::string& name, LateTensor tensor);
  bool has_added() const { return !added_.empty() || !late_.empty(); }
  /// The tensor behind such a placeholder; null: it is one of the file.
  const Tensor* added(const onnx_proto::TensorProto& placeholder) const;
  /// Likewise; tensor() makes it, whole.
  const LateTensor* late(const onnx_proto::TensorProto& placeholder) const;

 private:
  OnnxFile() = default;

  std::string path_;
  Bytes bytes_;
  std::shared_ptr<const void> owner_;
  std::unique_ptr<ExternalFiles> external_;  // null: refused
  onnx_proto::ModelProto model_;
  std::vector<Tensor> added_;
  std::vector<LateTensor> late_;
};

}  // namespace svengine::onnx
