// com.microsoft's QLinear operators that are a float32 operator between DequantizeLinear and QuantizeLinear: Sigmoid, LeakyRelu, Softmax,
// AveragePool, GlobalAveragePool, ReduceMean, Concat, Where. They become these three when a file is read, so that the passes see
// what they see in a file of the other form.
#include "engine/graph/builder.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/quantized/integer_product_common.h"

namespace svengine::ops {
namespace {

/// Inputs [at], [at + 1], [at + 2]: value, scale, zero point.
Value* dequantize_input(CanonicalizeContext& c, Builder& b, size_t at) {
  return b.add("DequantizeLinear", {c.node().input(at), c.node().input(at + 1), c.node().input(at + 2)});
}

/// The node becomes the QuantizeLinear of `value`. Without a zero point the type is that of `like`.
Status quantize_result(CanonicalizeContext& c, const Builder& b, Value* value, Value* scale, Value* zero, const Value* like) {
  SV_TRY(Status(b.status()));
  Node& node = c.node();
  c.graph().resize_inputs(&node, zero ? 3 : 2);
  c.graph().set_input(&node, 0, value);
  c.graph().set_input(&node, 1, scale);
  if (zero) c.graph().set_input(&node, 2, zero);
  node.attributes = {};
  if (!zero) node.attributes.set("output_dtype", static_cast<int64_t>(like->type.dtype));
  c.graph().set_op(&node, *c.ops().find("", "QuantizeLinear"));
  return {};
}

Builder builder_before(CanonicalizeContext& c) {
  Builder b(c.graph(), c.ops());
  b.set_position(&c.node());
  b.set_node_name(c.node().name());
  return b;
}

/// Some attributes of the node, under their names.
Attributes keep(const Attributes& from, std::initializer_list<const char*> names) {
  Attributes out;
  for (const char* name : names)
    if (const Attribute* a = from.find(name)) out.set(name, *a);
  return out;
}

/// X, X_scale, X_zero_point, Y_scale, Y_zero_point.
Status around(CanonicalizeContext& c, const char* op, Attributes attributes) {
  Builder b = builder_before(c);
  Node& node = c.node();
  Value *x = node.input(0), *scale = node.input(3), *zero = node.input(4);
  Value* y = b.add(op, {dequantize_input(c, b, 0)}, std::move(attributes));
  return quantize_result(c, b, y, scale, zero, x);
}

Status canonicalize_q_sigmoid(CanonicalizeContext& c) { return around(c, "Sigmoid", {}); }
Status canonicalize_q_leaky_relu(CanonicalizeContext& c) { return around(c, "LeakyRelu", keep(c.attributes(), {"alpha"})); }

/// Before opset 13 the dimensions from the axis on were one.
Status canonicalize_q_softmax(CanonicalizeContext& c) {
  constexpr int64_t kOneAxis = 13;
  const int64_t rank = c.node().input(0)->type.shape.rank(), axis = c.attributes().get_int("axis", -1);
  if (c.attributes().get_int("opset") < kOneAxis && axis != -1 && axis != rank - 1)
    return error("axis {} with opset {} softens several dimensions at once; supported is the last one, or opset 13", axis,
                 c.attributes().get_int("opset"));
  return around(c, "Softmax", make_attributes({{"axis", axis}}));
}

/// A pooling operator, whose image may be channels last.
Status pool_around(CanonicalizeContext& c, const char* op, Attributes attributes) {
  if (!c.attributes().get_int("channels_last")) return around(c, op, std::move(attributes));
  Builder b = builder_before(c);
  Node& node = c.node();
  const int64_t rank = node.input(0)->type.shape.rank();
  if (rank < 3) return error("X {} is not of a known rank from 3 on", to_string(node.input(0)->type));
  std::vector<int64_t> first{0, rank - 1}, last{0};
  for (int64_t i = 1; i < rank - 1; ++i) first.push_back(i), last.push_back(i + 1);
  last.push_back(1);
  Value *x = node.input(0), *scale = node.input(3), *zero = node.input(4);
  Value* image = b.add("Transpose", {dequantize_input(c, b, 0)}, make_attributes({{"perm", first}}));
  Value* y = b.add("Transpose", {b.add(op, {image}, std::move(attributes))}, make_attributes({{"perm", last}}));
  return quantize_result(c, b, y, scale, zero, x);
}

Status canonicalize_q_global_pool(CanonicalizeContext& c) { return pool_around(c, "GlobalAveragePool", {}); }
Status canonicalize_q_average_pool(CanonicalizeContext& c) {
  return pool_around(c, "AveragePool",
                     keep(c.attributes(), {"auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides"}));
}

Status canonicalize_q_reduce_mean(CanonicalizeContext& c) {
  Builder b = builder_before(c);
  Node& node = c.node();
  Value *x = node.input(0), *scale = node.input(3), *zero = node.input(4);
  std::vector<Value*> inputs{dequantize_input(c, b, 0)};
  const std::vector<int64_t> axes = c.attributes().get_ints("axes");
  if (!axes.empty()) inputs.push_back(b.constant(Tensor::of<int64_t>({static_cast<int64_t>(axes.size())}, std::span<const int64_t>(axes))));
  return quantize_result(c, b, b.add("ReduceMean", std::move(inputs), keep(c.attributes(), {"keepdims"})), scale, zero, x);
}

/// Y_scale, Y_zero_point, and three for every input.
Status canonicalize_q_concat(CanonicalizeContext& c) {
  Builder b = builder_before(c);
  Node& node = c.node();
  if (node.inputs().size() < 5 || (node.inputs().size() - 2) % 3 != 0)
    return error("has {} inputs, needs two and three for each value", node.inputs().size());
  Value *scale = node.input(0), *zero = node.input(1), *like = node.input(2);
  std::vector<Value*> values;
  for (size_t i = 2; i < node.inputs().size(); i += 3) values.push_back(dequantize_input(c, b, i));
  return quantize_result(c, b, b.add("Concat", std::move(values), keep(c.attributes(), {"axis"})), scale, zero, like);
}

/// condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale, z_zero_point.
Status canonicalize_q_where(CanonicalizeContext& c) {
  Builder b = builder_before(c);
  Node& node = c.node();
  Value *condition = node.input(0), *x = node.input(1), *scale = node.input(7), *zero = node.input(8);
  Value* chosen = b.add("Where", {condition, dequantize_input(c, b, 1), dequantize_input(c, b, 4)});
  return quantize_result(c, b, chosen, scale, zero, x);
}

/// What is inferred before the node is in its canonical form: nothing.
Status infer_composite(InferContext& c) {
  c.set(0, c.has_input(1) && c.node().op().inputs.min > 5 ? c.dtype(1) : c.dtype(0), Shape());
  return {};
}

OpDef composite(const char* name, Arity inputs, std::vector<AttributeDef> attributes, Status (*canonicalize)(CanonicalizeContext&)) {
  return {.name = name,
          .domain = kMicrosoftDomain,
          .until = 1,
          .inputs = inputs,
          .attributes = std::move(attributes),
          .canonicalize = canonicalize,
          .infer = infer_composite};
}

constexpr Arity kAround{4, 5};

}  // namespace

OpDef define_q_linear_sigmoid() { return composite("QLinearSigmoid", kAround, {}, canonicalize_q_sigmoid); }

OpDef define_q_linear_leaky_relu() {
  return composite("QLinearLeakyRelu", kAround, {{"alpha", AttributeKind::kFloat, false, 0.01f}}, canonicalize_q_leaky_relu);
}

OpDef define_q_linear_softmax() {
  return composite("QLinearSoftmax", kAround, {{"axis", AttributeKind::kInt, false, int64_t{-1}}, {"opset", AttributeKind::kInt, true}},
                   canonicalize_q_softmax);
}

OpDef define_q_linear_global_average_pool() {
  return composite("QLinearGlobalAveragePool", kAround, {{"channels_last", AttributeKind::kInt, false, int64_t{0}}},
                   canonicalize_q_global_pool);
}

OpDef define_q_linear_average_pool() {
  return composite("QLinearAveragePool", kAround,
                   {{"auto_pad", AttributeKind::kString, false, std::string("NOTSET")},
                    {"ceil_mode", AttributeKind::kInt, false, int64_t{0}},
                    {"channels_last", AttributeKind::kInt, false, int64_t{0}},
                    {"count_include_pad", AttributeKind::kInt, false, int64_t{0}},
                    {"kernel_shape", AttributeKind::kInts, true},
                    {"pads", AttributeKind::kInts},
                    {"strides", AttributeKind::kInts}},
                   canonicalize_q_average_pool);
}

OpDef define_q_linear_reduce_mean() {
  return composite("QLinearReduceMean", kAround, {{"axes", AttributeKind::kInts}, {"keepdims", AttributeKind::kInt, false, int64_t{1}}},
                   canonicalize_q_reduce_mean);
}

OpDef define_q_linear_concat() {
  return composite("QLinearConcat", {5, kVariadic}, {{"axis", AttributeKind::kInt, true}}, canonicalize_q_concat);
}

OpDef define_q_linear_where() { return composite("QLinearWhere", {8, 9}, {}, canonicalize_q_where); }

}  // namespace svengine::ops
