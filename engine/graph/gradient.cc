#include "engine/graph/gradient.h"

namespace svengine {
namespace {

/// A rank-0 constant of a floating-point type. Types that C++ has no name for are cast from float32, which folds.
Value* number(Builder& builder, double value, DType type) {
  if (type == DType::f64) return builder.constant(Tensor::scalar(value));
  Value* single = builder.constant(Tensor::scalar(static_cast<float>(value)));
  if (type == DType::f32) return single;
  return builder.add("Cast", {single}, make_attributes({{"to", static_cast<int64_t>(type)}}));
}

/// Known to be equal, be it by name.
bool same_shape(const Value* a, const Value* b) {
  const Shape &x = a->type.shape, &y = b->type.shape;
  if (!x.has_rank() || !y.has_rank() || x.rank() != y.rank()) return false;
  for (size_t i = 0; i < x.dims().size(); ++i)
    if (!x[i].same(y[i])) return false;
  return true;
}

}  // namespace

Value* GradientContext::output(size_t i) {
  if (i >= node_.outputs().size()) {
    builder_.graph().grow_outputs(&node_, i + 1);
    builder_.note(infer_types(node_));
  }
  return node_.output(i);
}

Value* GradientContext::op(std::string_view name, std::vector<Value*> inputs, Attributes attributes) {
  return add("", name, std::move(inputs), std::move(attributes));
}

Value* GradientContext::internal(std::string_view name, std::vector<Value*> inputs, Attributes attributes) {
  return add(kInternalDomain, name, std::move(inputs), std::move(attributes));
}

Value* GradientContext::add(std::string_view domain, std::string_view name, std::vector<Value*> inputs, Attributes attributes) {
  Value* instead = !inputs.empty() && inputs[0] ? inputs[0] : node_.output(0);
  Node* node = builder_.node(domain, name, std::move(inputs), 1, std::move(attributes));
  return node ? node->output() : instead;
}

Value* GradientContext::sum_to(Value* value, Value* like) {
  if (!value || same_shape(value, like)) return value;
  return internal("SumTo", {value, like});
}

Value* GradientContext::expand_to(Value* value, Value* like, bool mean) {
  if (!value || same_shape(value, like)) return value;
  return internal("ExpandLike", {value, like}, make_attributes({{"mean", int64_t{mean}}}));
}

Value* GradientContext::reshape_to(Value* value, Value* like) {
  if (!value || same_shape(value, like)) return value;
  return internal("ReshapeLike", {value, like});
}

Value* GradientContext::zeros_like(Value* like) { return filled_like(builder_, like, 0); }

Value* GradientContext::scalar(double value, const Value* like) { return number(builder_, value, like->type.dtype); }

Value* filled_like(Builder& builder, Value* like, double value) {
  Node* node = builder.node(kInternalDomain, "ExpandLike", {number(builder, value, like->type.dtype), like}, 1);
  return node ? node->output() : nullptr;
}

Status zero_gradient(GradientContext&) { return {}; }

}  // namespace svengine
