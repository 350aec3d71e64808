// The functions of a model: nodes of an operator that the file itself defines.
#pragma once
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::onnx {

class Functions {
 public:
  explicit Functions(const onnx_proto::ModelProto& model);
  /// The function that a node calls; null: it calls none. They go before operators of the same name, as ONNX wants.
  const onnx_proto::FunctionProto* find(const onnx_proto::NodeProto& node) const;
  /// How many nodes a call of the function stands for, with those of calls and bodies within; `most` where there are more. Where functions call
  /// each other in a circle, or too deeply, what lies beyond is not counted.
  int64_t expanded_nodes(const onnx_proto::FunctionProto& function, int64_t most) const;

 private:
  using Counts = std::unordered_map<const onnx_proto::FunctionProto*, int64_t>;
  int64_t count(const google::protobuf::RepeatedPtrField<onnx_proto::NodeProto>& nodes, int64_t most, int depth, Counts& known) const;

  std::map<std::tuple<std::string, std::string, std::string>, const onnx_proto::FunctionProto*> by_name_;  // domain, name, overload
};

/// One call of a function: its attributes, as the call gives them or by default.
struct Call {
  const onnx_proto::FunctionProto& function;
  std::unordered_map<std::string, const onnx_proto::AttributeProto*> attributes = {};
};

/// `outer`: the call that this one stands in, or null; attributes that refer to its attributes become what these are.
Call make_call(const onnx_proto::FunctionProto& function, const onnx_proto::NodeProto& node, const Call* outer);

/// The attribute itself, or what it refers to; null where that is not given, so that the operator's default counts.
const onnx_proto::AttributeProto* resolved(const onnx_proto::AttributeProto& attribute, const Call* call);

}  // namespace svengine::onnx
