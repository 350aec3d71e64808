#include "importers/onnx/functions.h"

#include <algorithm>

#include "importers/onnx/node_importer.h"
#include "importers/onnx/support_check.h"

namespace svengine::onnx {

Functions::Functions(const onnx_proto::ModelProto& model) {
  for (const auto& f : model.functions()) by_name_.emplace(std::tuple(canonical_domain(f.domain()), f.name(), f.overload()), &f);
}

const onnx_proto::FunctionProto* Functions::find(const onnx_proto::NodeProto& node) const {
  if (by_name_.empty()) return nullptr;
  const auto found = by_name_.find(std::tuple(std::string(canonical_domain(node.domain())), node.op_type(), node.overload()));
  return found == by_name_.end() ? nullptr : found->second;
}

int64_t Functions::expanded_nodes(const onnx_proto::FunctionProto& function, int64_t most) const {
  Counts known{{&function, 0}};
  return count(function.node(), most, 0, known);
}

int64_t Functions::count(const google::protobuf::RepeatedPtrField<onnx_proto::NodeProto>& nodes, int64_t most, int depth, Counts& known) const {
  int64_t sum = 0;
  for (const auto& node : nodes) {
    sum = std::min(most, sum + 1);
    if (depth >= kMostNested) continue;
    for (const auto& a : node.attribute())
      if (a.has_g()) sum = std::min(most, sum + count(a.g().node(), most, depth + 1, known));
    const onnx_proto::FunctionProto* called = find(node);
    if (!called) continue;
    const auto [at, is_new] = known.emplace(called, 0);  // 0 while it is being counted: a circle
    if (is_new) {
      const int64_t inner = count(called->node(), most, depth + 1, known);
      known[called] = inner;
      sum = std::min(most, sum + inner);
    } else {
      sum = std::min(most, sum + at->second);
    }
  }
  return sum;
}

const onnx_proto::AttributeProto* resolved(const onnx_proto::AttributeProto& attribute, const Call* call) {
  if (attribute.ref_attr_name().empty() || !call) return &attribute;
  const auto found = call->attributes.find(attribute.ref_attr_name());
  return found == call->attributes.end() ? nullptr : found->second;
}

Call make_call(const onnx_proto::FunctionProto& function, const onnx_proto::NodeProto& node, const Call* outer) {
  Call call{function};
  for (const auto& a : function.attribute_proto()) call.attributes[a.name()] = &a;
  for (const auto& a : node.attribute())
    if (const auto* given = resolved(a, outer)) call.attributes[a.name()] = given;
  return call;
}

}  // namespace svengine::onnx
