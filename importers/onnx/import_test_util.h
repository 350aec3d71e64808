// For the importer's tests: a few operators, and models made by hand.
#pragma once
#include <catch2/catch.hpp>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "importers/onnx/import.h"
#include "importers/onnx/wire.h"
#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::tests {

using namespace onnx_proto;

inline Status infer_same(InferContext& c) {
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

inline Status infer_add(InferContext& c) {
  if (c.dtype(0) != c.dtype(1)) return error("adds {} and {}", name_of(c.dtype(0)), name_of(c.dtype(1)));
  return infer_same(c);
}

inline Status infer_squeeze(InferContext& c) {
  const auto axes = c.integers(1);
  if (!axes || !c.shape(0).has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  std::vector<Dim> dims = c.shape(0).dims();
  for (int64_t axis : *axes) {
    if (axis < 0 || axis >= static_cast<int64_t>(dims.size())) return error("axis {} is out of range", axis);
    dims.erase(dims.begin() + axis);
  }
  c.set(0, c.dtype(0), Shape(dims));
  return {};
}

inline Status infer_reshape(InferContext& c) {
  const auto wanted = c.integers(1);
  c.set(0, c.dtype(0), wanted ? Shape::of(*wanted) : Shape());
  return {};
}

inline Status infer_constant(InferContext& c) {
  const Tensor* value = c.attributes().get<Tensor>("value");
  c.set(0, value->type(), Shape::of(value->dims()));
  return {};
}

inline Status make_constant(CanonicalizeContext& c) {
  const Tensor* value = c.attributes().get<Tensor>("value");
  if (!value) return error("attribute 'value' is missing");
  c.graph().make_constant(c.node().output(), *value);
  return {};
}

inline Status move_axes(CanonicalizeContext& c) {
  if (c.opset() < 13) c.attribute_to_input("axes", 1);
  return {};
}

/// Squeeze has its axes as an input; the importer's tests need no more of operators than these have.
inline const OpRegistry& test_ops() {
  static const OpRegistry ops({
      {.name = "Relu", .inputs = "x", .infer = infer_same},
      {.name = "Gelu", .domain = "com.microsoft", .inputs = "x", .infer = infer_same},
      {.name = "Secret", .domain = kInternalDomain, .inputs = "x", .infer = infer_same},
      {.name = "Young", .since = 18, .inputs = "x", .infer = infer_same},
      {.name = "Add", .inputs = "a, b", .infer = infer_add},
      {.name = "Real", .inputs = "x", .infer = infer_same, .types = {{"T", {DType::f32, DType::f64}, {0}}}},
      {.name = "Product", .inputs = "a, b", .infer = infer_add, .types = {{"T", {DType::f32, DType::f64}, {0, 1}}}},
      {.name = "Clip", .inputs = "x, min?, max?", .infer = infer_same},
      {.name = "TopK", .inputs = "x", .outputs = {1, 3}, .infer = infer_same},
      {.name = "Reshape", .inputs = "x, shape", .infer = infer_reshape},
      {.name = "Squeeze", .inputs = "x, axes?", .canonicalize = move_axes, .infer = infer_squeeze},
      {.name = "ReduceMean", .inputs = "x, axes?", .infer = infer_squeeze},
      {.name = "Constant",
       .attributes = {{"value", AttributeKind::kTensor}},
       .canonicalize = make_constant,
       .infer = infer_constant},
      {.name = "Scale",
       .inputs = "x",
       .attributes = {{"factor", AttributeKind::kFloat, true},
                      {"mode", AttributeKind::kString},
                      {"pads", AttributeKind::kInts},
                      {"offset", AttributeKind::kInt},
                      {"table", AttributeKind::kTensor}},
       .infer = infer_same},
  });
  return ops;
}

inline ModelProto empty_model(int64_t opset = 17, int64_t ir = 8) {
  ModelProto model;
  model.set_ir_version(ir);
  OperatorSetIdProto* import = model.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  model.mutable_graph()->set_name("g");
  return model;
}

/// Dimensions below 0 are unknown.
inline void set_type(ValueInfoProto* info, const std::string& name, const std::vector<int64_t>& dims, DType type = DType::f32) {
  info->set_name(name);
  info->mutable_type()->mutable_tensor_type()->set_elem_type(static_cast<int>(type));
  TensorShapeProto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int64_t d : dims) {
    auto* dim = shape->add_dim();
    if (d >= 0) dim->set_dim_value(d);
  }
}

inline void add_input(ModelProto& model, const std::string& name, const std::vector<int64_t>& dims, DType type = DType::f32) {
  set_type(model.mutable_graph()->add_input(), name, dims, type);
}

inline void add_output(ModelProto& model, const std::string& name) { model.mutable_graph()->add_output()->set_name(name); }

inline NodeProto* add_node(ModelProto& model, const std::string& op, const std::vector<std::string>& inputs,
                           const std::vector<std::string>& outputs, const std::string& name = {}) {
  NodeProto* node = model.mutable_graph()->add_node();
  node->set_op_type(op);
  if (!name.empty()) node->set_name(name);
  for (const std::string& i : inputs) node->add_input(i);
  for (const std::string& o : outputs) node->add_output(o);
  return node;
}

inline AttributeProto* add_attribute(NodeProto* node, const std::string& name, AttributeProto::AttributeType type) {
  AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

inline void fill_raw(TensorProto* tensor, const std::vector<int64_t>& dims, const std::vector<float>& values) {
  tensor->set_data_type(TensorProto::FLOAT);
  for (int64_t d : dims) tensor->add_dims(d);
  tensor->set_raw_data(values.data(), values.size() * sizeof(float));
}

inline TensorProto* add_initializer(ModelProto& model, const std::string& name, const std::vector<int64_t>& dims,
                                    const std::vector<float>& values) {
  TensorProto* tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  fill_raw(tensor, dims, values);
  return tensor;
}

/// x -> Relu -> y.
inline ModelProto relu_model(int64_t opset = 17, int64_t ir = 8) {
  ModelProto model = empty_model(opset, ir);
  add_input(model, "x", {1, 3});
  add_node(model, "Relu", {"x"}, {"y"}, "relu");
  add_output(model, "y");
  return model;
}

inline Result<Model> import_text(const std::string& bytes, ImportOptions options = {}) {
  if (!options.ops) options.ops = &test_ops();
  const auto owner = std::make_shared<std::string>(bytes);
  return import_onnx(std::as_bytes(std::span(owner->data(), owner->size())), owner, "m.onnx", options);
}

inline Result<Model> import_proto(const ModelProto& model, ImportOptions options = {}) {
  return import_text(model.SerializeAsString(), std::move(options));
}

/// The message of a failed import; fails the test if it succeeded.
inline std::string problem_of(const Result<Model>& result) {
  if (result.ok()) {
    FAIL_CHECK("import succeeded");
    return {};
  }
  return result.error().message();
}

inline std::string problem_of(const ModelProto& model) { return problem_of(import_proto(model)); }

inline const Value* find_value(const Graph& graph, const std::string& name) {
  const Value* found = nullptr;
  graph.for_each_value([&](Value& v) {
    if (v.name() == name) found = &v;
  });
  return found;
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  std::vector<T> out(static_cast<size_t>(tensor.count()));
  if (!out.empty()) std::memcpy(out.data(), tensor.raw(), tensor.byte_size());
  return out;
}

}  // namespace svengine::tests
