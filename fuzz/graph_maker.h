// Makes ONNX graphs of bytes: nodes of a few simple operators around nested If, Loop and Scan, mostly of types that fit, with names of
// any
// scope, of none, or twice. Every sequence of bytes is a model.
#pragma once
#include <string>
#include <vector>

#include "fuzz/support.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::fuzz {

class GraphMaker {
 public:
  explicit GraphMaker(Reader& in) : in_(in) {}

  /// Inputs x float32[2, 3], n int64, c bool, constant l int64[2]; every value of the graph's own nodes is an output.
  onnx_proto::ModelProto model();

 private:
  enum class Kind { real, integer, truth, list };  // a list: integers of rank 1
  struct Known {
    std::string name;
    Kind kind;
  };
  using Scope = std::vector<Known>;  // what can be seen, the innermost last

  void fill(onnx_proto::GraphProto& graph, Scope scope, int depth, const std::vector<Kind>& wanted);
  void add_node(onnx_proto::GraphProto& graph, Scope& scope, int depth);
  void add_if(onnx_proto::GraphProto& graph, Scope& scope, int depth);
  void add_loop(onnx_proto::GraphProto& graph, Scope& scope, int depth);
  void add_scan(onnx_proto::GraphProto& graph, Scope& scope, int depth);
  void add_simple(onnx_proto::GraphProto& graph, Scope& scope);
  void add_constant(onnx_proto::GraphProto& graph, Scope& scope);

  std::string pick(const Scope& scope, Kind kind);
  std::string new_name(const Scope& scope);
  Kind kind();
  void declare(onnx_proto::ValueInfoProto* info, const std::string& name, Kind kind);
  onnx_proto::GraphProto* body(onnx_proto::NodeProto* node, const char* name);

  Reader& in_;
  int names_ = 0, nodes_ = 0;
};

}  // namespace svengine::fuzz
