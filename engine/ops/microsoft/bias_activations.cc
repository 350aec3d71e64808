// Element-wise functions that ONNX Runtime fuses with the bias before them.
#include "engine/ops/broadcast.h"
#include "engine/ops/microsoft/microsoft_common.h"

namespace svengine::ops {
namespace {

Value* runtime_gelu(ExpandContext& c, Value* x, bool fast) {
  return c.op("Gelu", {x}, fast ? make_attributes({{"approximate", std::string("tanh")}}) : Attributes{});
}

Value* with_bias(ExpandContext& c, size_t bias) {
  return c.has_input(bias) ? c.op("Add", {c.input(0), c.input(bias)}) : c.input(0);
}

template <bool kFast>
Status expand_gelu(ExpandContext& c) {
  c.set(0, runtime_gelu(c, with_bias(c, 1), kFast));
  return {};
}

Status expand_quick_gelu(ExpandContext& c) {
  Value *x = c.input(0), *alpha = c.number(c.attributes().get_float("alpha", 1.702f), c.dtype(0));
  c.set(0, c.op("Mul", {x, c.op("Sigmoid", {c.op("Mul", {x, alpha})})}));
  return {};
}

Status infer_with_bias(InferContext& c) {
  SV_TRY(infer_as_first(c));
  return require_last(c, 1);
}

Status infer_bias_add(InferContext& c) {
  SV_TRY(infer_with_bias(c));
  SV_TRY(require_rank(c, 0, 3));
  SV_TRY(require_rank(c, 2, 3));
  return require_same_shape(c, 0, 2);
}

Status expand_bias_add(ExpandContext& c) {
  c.set(0, c.op("Add", {with_bias(c, 1), c.input(2)}));
  return {};
}

Status infer_bias_split(InferContext& c) {
  SV_TRY(infer_with_bias(c));
  SV_TRY(require_rank(c, 0, 3));
  if (!c.shape(0).has_rank()) return c.set(0, c.dtype(0), unknown_dims(3)), Status{};
  std::vector<Dim> dims = c.shape(0).dims();
  if (dims[2].is_static() && dims[2].value() % 2 != 0)
    return error("the last dimension of X {} must be even", to_string(c.shape(0)));
  dims[2] = dims[2].is_static() ? Dim(dims[2].value() / 2) : Dim();
  c.set(0, c.dtype(0), Shape(std::move(dims)));
  return {};
}

Status expand_bias_split(ExpandContext& c) {
  const auto size = c.dim(0, 2);
  if (!size) return {};
  Value* x = with_bias(c, 1);
  c.set(0, c.op("Mul", {c.slice(x, 2, 0, *size / 2), runtime_gelu(c, c.slice(x, 2, *size / 2, *size), false)}));
  return {};
}

Status infer_bias_softmax(InferContext& c) {
  SV_TRY(infer_as_first(c));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return {};
  const int64_t axis = c.attributes().get_int("axis", 1);
  if (axis < -x.rank() || axis >= x.rank()) return error("axis {} is none of data {}", axis, to_string(x));
  SV_TRY(require_broadcast_to(c, 1, x, "data"));
  if (c.attributes().get_int("is_inner_broadcast", 1) == 0 || !c.shape(1).has_rank()) return {};
  return c.shape(1).rank() == x.rank() ? Status{}
                                       : error("bias {} must have the rank of data {}", to_string(c.shape(1)), to_string(x));
}

/// Over all dimensions from `axis` on, as one.
Status expand_bias_softmax(ExpandContext& c) {
  if (!c.shape(0).has_rank() || !c.shape(1).has_rank()) return {};
  const int64_t rank = c.shape(0).rank(), given = c.attributes().get_int("axis", 1), axis = given < 0 ? given + rank : given;
  Value* sum = c.op("Add", {c.input(0), c.input(1)});
  if (axis == rank - 1) return c.set(0, c.op("Softmax", {sum}, make_attributes({{"axis", int64_t{-1}}}))), Status{};
  Value* flat =
      c.op("Softmax", {c.op("Flatten", {sum}, make_attributes({{"axis", axis}}))}, make_attributes({{"axis", int64_t{-1}}}));
  c.set(0, c.reshape_like(flat, c.input(0)));
  return {};
}

Status infer_bias_dropout(InferContext& c) {
  for (size_t i = 0; i < 3; ++i) SV_TRY(require_dtype(c, i, kRealTypes));
  if (c.dtype(1) != c.dtype(0) || (c.has_input(2) && c.dtype(2) != c.dtype(0)))
    return error("data, bias and residual must be of one type");
  SV_TRY(require_broadcast_to(c, 1, c.shape(0), "data"));
  if (c.has_input(2)) SV_TRY(require_same_shape(c, 0, 2));
  c.set(0, c.dtype(0), c.shape(0));
  c.set(1, DType::boolean, c.shape(0));
  return {};
}

Status expand_bias_dropout(ExpandContext& c) {
  std::vector<Value*> inputs{c.op("Add", {c.input(0), c.input(1)})};
  if (c.has_input(3) || c.has_input(4)) inputs.push_back(c.input(3));
  if (c.has_input(4)) inputs.push_back(c.input(4));
  Attributes attributes;
  if (c.attributes().has("seed")) attributes.set("seed", c.attributes().get_int("seed", 0));
  const Node* dropout = c.builder().node("", "Dropout", std::move(inputs), c.has_output(1) ? 2 : 1, std::move(attributes));
  if (!dropout) return {};
  c.set(0, c.has_input(2) ? c.op("Add", {dropout->output(0), c.input(2)}) : dropout->output(0));
  c.set(1, dropout->output(1));
  return {};
}

template <Status (*kExpand)(ExpandContext&)>
OpDef with_bias_op(const char* name, OpInputs inputs, Status (*infer)(InferContext&)) {
  return {.name = name,
          .domain = kMicrosoftDomain,
          .until = 1,
          .inputs = inputs,
          .expand = kExpand,
          .infer = infer,
          .tolerance = {.rtol = 1e-5, .atol = 1e-5},
          .samples = "(float32[2, 3, 18], float32[18])"};
}

}  // namespace

OpDef define_microsoft_gelu() {
  OpDef op = with_bias_op<expand_gelu<false>>("Gelu", "X", infer_as_first);
  op.samples = "(float32[2, 3, 18])"
               "(float32[])";
  return op;
}

OpDef define_microsoft_fast_gelu() {
  OpDef op = with_bias_op<expand_gelu<true>>("FastGelu", "X, bias?", infer_with_bias);
  op.samples += "(float32[1])";
  return op;
}

OpDef define_microsoft_bias_gelu() { return with_bias_op<expand_gelu<false>>("BiasGelu", "A, B", infer_with_bias); }

OpDef define_microsoft_quick_gelu() {
  OpDef op = with_bias_op<expand_quick_gelu>("QuickGelu", "X", infer_as_first);
  op.attributes = {{"alpha", AttributeKind::kFloat, false, 1.702f}};
  op.samples = "(float32[2, 3, 18])"
               "(float32[1]) {alpha = 1.0}";
  return op;
}

OpDef define_microsoft_bias_add() {
  OpDef op = with_bias_op<expand_bias_add>("BiasAdd", "X, bias, skip", infer_bias_add);
  op.samples = "(float32[2, 3, 18], float32[18], float32[2, 3, 18])";
  return op;
}

OpDef define_microsoft_bias_split_gelu() { return with_bias_op<expand_bias_split>("BiasSplitGelu", "X, bias", infer_bias_split); }

OpDef define_microsoft_bias_softmax() {
  OpDef op = with_bias_op<expand_bias_softmax>("BiasSoftmax", "data, bias", infer_bias_softmax);
  op.attributes = {{"axis", AttributeKind::kInt, false, 1}, {"is_inner_broadcast", AttributeKind::kInt, true}};
  op.samples = "(float32[2, 3, 4, 5], float32[2, 1, 1, 5]) {axis = 3, is_inner_broadcast = 1}"
               "(float32[2, 3, 4], float32[3, 4]) {axis = 1, is_inner_broadcast = 0}";
  return op;
}

OpDef define_microsoft_bias_dropout() {
  OpDef op = with_bias_op<expand_bias_dropout>("BiasDropout", "data, bias, residual?, ratio?, training_mode?", infer_bias_dropout);
  op.outputs = {1, 2};
  op.attributes = {{"seed", AttributeKind::kInt}};
  op.samples = "(float32[2, 3, 18], float32[18], float32[2, 3, 18]) 2";
  return op;
}

}  // namespace svengine::ops
