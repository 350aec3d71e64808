// com.microsoft's QLinear operators that are a float32 operator between DequantizeLinear and QuantizeLinear: Sigmoid, LeakyRelu, Softmax,
// AveragePool, GlobalAveragePool, ReduceMean, Concat, Where. They become these three, as a file of the other form has them.
#include <algorithm>

#include "engine/graph/expand.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/quantized/integer_product_common.h"
#include "engine/ops/reduce/reduce_common.h"
#include "engine/ops/registry.h"

namespace svengine::ops {
namespace {

/// Inputs [at], [at + 1], [at + 2]: value, scale, zero point.
Value* dequantize_input(ExpandContext& c, size_t at) { return c.op("DequantizeLinear", {c.input(at), c.input(at + 1), c.input(at + 2)}); }

/// The node is the QuantizeLinear of `value`. Without a zero point the type is that of `like`.
Status quantize_result(ExpandContext& c, Value* value, Value* scale, Value* zero, const Value* like) {
  Attributes attributes;
  if (!zero) attributes.set("output_dtype", static_cast<int64_t>(like->type.dtype));
  std::vector<Value*> inputs{value, scale};
  if (zero) inputs.push_back(zero);
  c.set(0, c.op("QuantizeLinear", std::move(inputs), std::move(attributes)));
  return {};
}

/// Some attributes of the node, under their names.
Attributes keep(const Attributes& from, std::initializer_list<const char*> names) {
  Attributes out;
  for (const char* name : names)
    if (const Attribute* a = from.find(name)) out.set(name, *a);
  return out;
}

/// X, X_scale, X_zero_point, Y_scale, Y_zero_point.
Status around(ExpandContext& c, const char* op, Attributes attributes) {
  const Node& node = c.node();
  Value *x = node.input(0), *scale = node.input(3), *zero = node.input(4);
  Value* y = c.op(op, {dequantize_input(c, 0)}, std::move(attributes));
  return quantize_result(c, y, scale, zero, x);
}

Status expand_q_sigmoid(ExpandContext& c) { return around(c, "Sigmoid", {}); }
Status expand_q_leaky_relu(ExpandContext& c) { return around(c, "LeakyRelu", keep(c.attributes(), {"alpha"})); }

/// Before opset 13 the dimensions from the axis on were one.
Status expand_q_softmax(ExpandContext& c) {
  constexpr int64_t kOneAxis = 13;
  const int64_t rank = c.node().input(0)->type.shape.rank(), axis = c.attributes().get_int("axis", -1);
  if (c.attributes().get_int("opset") < kOneAxis && axis != -1 && axis != rank - 1)
    return unimplemented("axis {} with opset {} softens several dimensions at once; supported is the last one, or opset 13", axis,
                         c.attributes().get_int("opset"));
  return around(c, "Softmax", make_attributes({{"axis", axis}}));
}

/// A pooling operator, whose image may be channels last.
Status pool_around(ExpandContext& c, const char* op, Attributes attributes) {
  if (!c.attributes().get_int("channels_last")) return around(c, op, std::move(attributes));
  const Node& node = c.node();
  const int64_t rank = node.input(0)->type.shape.rank();
  if (rank < 3) return error("X {} is not of a known rank from 3 on", to_string(node.input(0)->type));
  std::vector<int64_t> first{0, rank - 1}, last{0};
  for (int64_t i = 1; i < rank - 1; ++i) first.push_back(i), last.push_back(i + 1);
  last.push_back(1);
  Value *x = node.input(0), *scale = node.input(3), *zero = node.input(4);
  Value* image = c.op("Transpose", {dequantize_input(c, 0)}, make_attributes({{"perm", first}}));
  Value* y = c.op("Transpose", {c.op(op, {image}, std::move(attributes))}, make_attributes({{"perm", last}}));
  return quantize_result(c, y, scale, zero, x);
}

/// The mean of bytes takes channels last as they are.
Status expand_q_global_pool(ExpandContext& c) {
  const Node& node = c.node();
  Value *x = node.input(0), *scale = node.input(3), *zero = node.input(4);
  const int64_t rank = x->type.shape.rank();
  if (!c.attributes().get_int("channels_last") || rank < 3) return pool_around(c, "GlobalAveragePool", {});
  std::vector<int64_t> axes;
  for (int64_t i = 1; i < rank - 1; ++i) axes.push_back(i);
  Value* over = c.builder().constant(Tensor::of<int64_t>({rank - 2}, std::span<const int64_t>(axes)));
  return quantize_result(c, c.op("ReduceMean", {dequantize_input(c, 0), over}), scale, zero, x);
}

Attributes pool_attributes(const Attributes& from) {
  return keep(from, {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"});
}

Status expand_q_average_pool(ExpandContext& c) { return pool_around(c, "AveragePool", pool_attributes(c.attributes())); }

Status expand_q_reduce_mean(ExpandContext& c) {
  const Node& node = c.node();
  Value *x = node.input(0), *scale = node.input(3), *zero = node.input(4);
  std::vector<Value*> inputs{dequantize_input(c, 0)};
  const std::vector<int64_t> axes = c.attributes().get_ints("axes");
  if (!axes.empty())
    inputs.push_back(c.builder().constant(Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, std::span<const int64_t>(axes))));
  return quantize_result(c, c.op("ReduceMean", std::move(inputs), keep(c.attributes(), {"keepdims"})), scale, zero, x);
}

/// Y_scale, Y_zero_point, and three for every input.
Status expand_q_concat(ExpandContext& c) {
  const Node& node = c.node();
  Value *scale = node.input(0), *zero = node.input(1), *like = node.input(2);
  std::vector<Value*> values;
  for (size_t i = 2; i < node.inputs().size(); i += 3) values.push_back(dequantize_input(c, i));
  return quantize_result(c, c.op("Concat", std::move(values), keep(c.attributes(), {"axis"})), scale, zero, like);
}

/// condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale, z_zero_point.
Status expand_q_where(ExpandContext& c) {
  const Node& node = c.node();
  Value *condition = node.input(0), *x = node.input(1), *scale = node.input(7), *zero = node.input(8);
  Value* chosen = c.op("Where", {condition, dequantize_input(c, 1), dequantize_input(c, 4)});
  return quantize_result(c, chosen, scale, zero, x);
}

/// The shape that ai.onnx's `op` gives for inputs of the shapes of this node's inputs `slots`, numbers and conditions.
Result<Shape> shape_between(const InferContext& c, const char* op, const std::vector<size_t>& slots, Attributes attributes,
                            bool channels_last = false) {
  Graph graph;
  std::vector<Value*> inputs;
  for (const size_t slot : slots) {
    Type type{c.dtype(slot) == DType::boolean ? DType::boolean : DType::f32, c.shape(slot)};
    if (channels_last) {
      if (!type.shape.has_rank()) return Shape();
      std::vector<Dim> dims = type.shape.dims();
      if (dims.size() > 1) std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
      type.shape = Shape(std::move(dims));
    }
    inputs.push_back(graph.add_input("x", std::move(type)));
  }
  Node* node = graph.add_node(*all_ops().find("", op), {}, std::move(inputs), 1, std::move(attributes));
  InferContext plain(*node);
  SV_TRY(node->op().infer(plain));
  Shape shape = node->output()->type.shape;
  if (!channels_last || !shape.has_rank()) return shape;
  std::vector<Dim> dims = shape.dims();
  if (dims.size() > 1) std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  return Shape(std::move(dims));
}

/// Of the zero point's type, or of that of the first value.
Status infer_composite(InferContext& c, size_t like, size_t zero, const Result<Shape>& shape) {
  SV_TRY(require_bytes(c, like));
  SV_TRY(require_bytes(c, zero));
  SV_ASSIGN(Shape known, shape);
  c.set(0, c.dtype(c.has_input(zero) ? zero : like), std::move(known));
  return {};
}

/// X, X_scale, X_zero_point (or none), Y_scale, Y_zero_point (or none, but for some).
Status infer_around(InferContext& c, const Result<Shape>& shape) { return infer_composite(c, 0, 4, shape); }

Status infer_q_same(InferContext& c) { return infer_around(c, c.shape(0)); }

Status infer_q_global_pool(InferContext& c) {
  return infer_around(c, shape_between(c, "GlobalAveragePool", {0}, {}, c.attributes().get_int("channels_last") != 0));
}

Status infer_q_average_pool(InferContext& c) {
  return infer_around(c, shape_between(c, "AveragePool", {0}, pool_attributes(c.attributes()), c.attributes().get_int("channels_last") != 0));
}

Status infer_q_reduce_mean(InferContext& c) {
  const Shape& x = c.shape(0);
  return infer_around(c, x.has_rank() ? reduced_shape(c.attributes(), x, c.attributes().get_ints("axes")) : Shape());
}

Status infer_q_concat(InferContext& c) {
  SV_TRY(require_dtype(c, 0, {DType::f32}));
  for (size_t i = 2; i < c.input_count(); ++i) SV_TRY(require_dtype(c, i, i % 3 == 0 ? DTypeSet{DType::f32} : kBytes));
  if ((c.input_count() - 2) % 3 != 0) return error("has {} inputs, needs two and three for each value", c.input_count());
  std::vector<size_t> values;
  for (size_t i = 2; i < c.input_count(); i += 3) values.push_back(i);
  return infer_composite(c, 2, 1, shape_between(c, "Concat", values, keep(c.attributes(), {"axis"})));
}

Status infer_q_where(InferContext& c) {
  return infer_composite(c, 1, 8, shape_between(c, "Where", {0, 1, 4}, {}));
}

OpDef composite(const char* name, OpInputs inputs, std::vector<AttributeDef> attributes, Status (*infer)(InferContext&),
                Status (*expand)(ExpandContext&), std::string samples) {
  OpDef op{.name = name, .domain = kMicrosoftDomain, .until = 1, .inputs = inputs, .attributes = std::move(attributes)};
  op.infer = infer;
  op.expand = expand;
  op.samples = std::move(samples);
  return op;
}

OpDef around_composite(const char* name, OpInputs inputs, std::vector<AttributeDef> attributes, Status (*infer)(InferContext&),
                       Status (*expand)(ExpandContext&), std::string samples) {
  OpDef op = composite(name, inputs, std::move(attributes), infer, expand, std::move(samples));
  op.types = quantized_types({0, 2, 4}, {1, 3});
  return op;
}

/// X, X_scale, X_zero_point, Y_scale, Y_zero_point; as uint8, and as int8 without the last.
std::string around_samples(const char* dims, const char* attributes = "", bool needs_zero = false) {
  return fmt::format("(uint8{0} 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256) {1}"
                     "(int8{0} -128 to 128, float32[] 0.01 to 0.1, int8[] -128 to 128, float32[] 0.01 to 0.1{2}) {1}",
                     dims, attributes, needs_zero ? ", int8[] -128 to 128" : "");
}

}  // namespace

OpDef define_q_linear_sigmoid() {
  return around_composite("QLinearSigmoid", "X, X_scale, X_zero_point?, Y_scale, Y_zero_point?", {}, infer_q_same, expand_q_sigmoid,
                          around_samples("[3, 7]"));
}

OpDef define_q_linear_leaky_relu() {
  return around_composite("QLinearLeakyRelu", "X, X_scale, X_zero_point?, Y_scale, Y_zero_point?",
                          {{"alpha", AttributeKind::kFloat, false, 0.01f}}, infer_q_same, expand_q_leaky_relu,
                          around_samples("[3, 7]", "{alpha = 0.2}"));
}

OpDef define_q_linear_softmax() {
  return around_composite("QLinearSoftmax", "X, X_scale, x_zero_point?, y_scale, y_zero_point",
                          {{"axis", AttributeKind::kInt, false, -1}, {"opset", AttributeKind::kInt, true}}, infer_q_same, expand_q_softmax,
                          around_samples("[3, 7]", "{opset = 13}", true));
}

OpDef define_q_linear_global_average_pool() {
  return around_composite("QLinearGlobalAveragePool", "X, x_scale, x_zero_point, y_scale, y_zero_point",
                          {{"channels_last", AttributeKind::kInt, false, 0}}, infer_q_global_pool, expand_q_global_pool,
                          around_samples("[2, 5, 4, 3]", "{channels_last = 1}", true));
}

OpDef define_q_linear_average_pool() {
  return around_composite("QLinearAveragePool", "X, x_scale, x_zero_point?, y_scale, y_zero_point?",
                          {{"auto_pad", AttributeKind::kString, false, "NOTSET"},
                           {"ceil_mode", AttributeKind::kInt, false, 0},
                           {"channels_last", AttributeKind::kInt, false, 0},
                           {"count_include_pad", AttributeKind::kInt, false, 0},
                           {"kernel_shape", AttributeKind::kInts, true},
                           {"pads", AttributeKind::kInts},
                           {"strides", AttributeKind::kInts}},
                          infer_q_average_pool, expand_q_average_pool, around_samples("[2, 3, 7, 6]", "{kernel_shape = [3, 2]}"));
}

OpDef define_q_linear_reduce_mean() {
  return around_composite("QLinearReduceMean", "data, data_scale, data_zero_point?, reduced_scale, reduced_zero_point?",
                          {{"axes", AttributeKind::kInts, true}, {"keepdims", AttributeKind::kInt, true}}, infer_q_reduce_mean,
                          expand_q_reduce_mean, around_samples("[2, 3, 5]", "{axes = [1, 2], keepdims = 1}"));
}

OpDef define_q_linear_concat() {
  return composite(
      "QLinearConcat", "Y_scale, Y_zero_point, inputs...", {{"axis", AttributeKind::kInt, true}}, infer_q_concat, expand_q_concat,
      "(float32[] 0.01 to 0.1, uint8[] 0 to 256, uint8[2, 3] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, uint8[2, 5] 0 to 256, "
      "float32[] 0.01 to 0.1, uint8[] 0 to 256) {axis = 1}");
}

OpDef define_q_linear_where() {
  OpDef op = composite("QLinearWhere", "condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale, z_zero_point", {},
                       infer_q_where, expand_q_where,
                       "(bool[2, 3] 0 to 2, uint8[2, 3] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256, uint8[3] 0 to 256, "
                       "float32[] 0.01 to 0.1, uint8[] 0 to 256, float32[] 0.01 to 0.1, uint8[] 0 to 256)");
  op.types = quantized_types({1, 3, 4, 6, 8}, {2, 5, 7});
  op.types.push_back({"B", kBool, {0}});
  return op;
}

}  // namespace svengine::ops
