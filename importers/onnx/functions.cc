#include "importers/onnx/functions.h"

#include "importers/onnx/support_check.h"

namespace svengine::onnx {

Functions::Functions(const onnx_proto::ModelProto& model) {
  for (const auto& f : model.functions()) by_name_.emplace(std::tuple(canonical_domain(f.domain()), f.name(), f.overload()), &f);
}

const onnx_proto::FunctionProto* Functions::find(const onnx_proto::NodeProto& node) const {
  if (by_name_.empty()) return nullptr;
  const auto found = by_name_.find(std::tuple(canonical_domain(node.domain()), node.op_type(), node.overload()));
  return found == by_name_.end() ? nullptr : found->second;
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
