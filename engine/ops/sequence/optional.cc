// Optional, OptionalHasElement, OptionalGetElement. Where a value that is no optional is given, it counts as one that is there.
#include "engine/ops/sequence/sequence_common.h"

namespace svengine::ops {
namespace {

/// The type that attribute `type` says by a value of it: a tensor without elements, or a sequence or optional of one such.
Type type_of_example(const Tensor& example) {
  Type out{example.type(), Shape()};
  if (!is_container(example.type())) return out;
  return handle_type(example.type(), example.items().empty() ? Type{} : type_of_example(example.items()[0]));
}

/// Without an input the type is attribute `type`.
Status infer_optional(InferContext& c) {
  Type element;
  if (const Tensor* example = c.attributes().get<Tensor>("type")) element = type_of_example(*example);
  if (c.has_input(0)) {
    if (element.dtype != DType::undefined && c.dtype(0) != DType::undefined && element.dtype != c.dtype(0))
      return error("attribute 'type' says {}, but the input is {}", name_of(element.dtype), to_string(c.type(0)));
    element = c.type(0);
  } else if (!c.attributes().has("type")) {
    return error("has neither an input nor attribute 'type', and needs one of them");
  }
  element.block = 0;
  c.set(0, handle_type(DType::optional, std::move(element)));
  return {};
}

Status evaluate_optional(EvaluateContext& c) {
  std::vector<Tensor> items;
  if (c.has_input(0)) items.push_back(c.input(0));
  c.set(0, Tensor::of_items(DType::optional, std::move(items)));
  return {};
}

Status infer_optional_has_element(InferContext& c) {
  c.set(0, DType::boolean, Shape(std::vector<Dim>{}));
  return {};
}

/// What is no optional is there, what is absent is not: known when the file is read.
Status canonicalize_optional_has_element(CanonicalizeContext& c) {
  const Value* x = c.node().input(0);
  if (x && (x->type.dtype == DType::optional || x->type.dtype == DType::undefined)) return {};
  c.graph().make_constant(c.node().output(), Tensor::scalar(x != nullptr));
  return {};
}

Status evaluate_optional_has_element(EvaluateContext& c) {
  const bool there = c.has_input(0) && (c.input(0).type() != DType::optional || !c.input(0).items().empty());
  c.set(0, Tensor::scalar(there));
  return {};
}

Status infer_optional_get_element(InferContext& c) {
  if (!c.has_input(0)) return error("the optional is absent: it has no element to get");
  Type out = c.dtype(0) == DType::optional ? element_type(c.type(0)) : c.type(0);
  out.block = 0;
  c.set(0, std::move(out));
  return {};
}

bool is_no_optional(const Node& node) {
  const DType type = node.input(0) ? node.input(0)->type.dtype : DType::optional;
  return type != DType::optional && type != DType::undefined;
}

Status evaluate_optional_get_element(EvaluateContext& c) {
  const Tensor& x = c.input(0);
  if (x.type() != DType::optional) {
    c.set(0, x);
    return {};
  }
  if (x.items().empty()) return error("the optional is empty: it has no element to get");
  c.set(0, x.items()[0]);
  return {};
}

}  // namespace

OpDef define_optional() {
  return {
      .name = "Optional",
      .since = 15,
      .inputs = "input?",
      .attributes = {{"type", AttributeKind::kTensor}},
      .infer = infer_optional,
      .evaluate = evaluate_optional,
      .samples = "(float32[2, 3])"
                 "(float32[2, 3]) {type = float32[0]{}}",
  };
}

OpDef define_optional_has_element() {
  return {
      .name = "OptionalHasElement",
      .since = 15,
      .inputs = "input?",
      .canonicalize = canonicalize_optional_has_element,
      .infer = infer_optional_has_element,
      .evaluate = evaluate_optional_has_element,
      .samples = "(float32[2, 3])",
  };
}

OpDef define_optional_get_element() {
  return {
      .name = "OptionalGetElement",
      .since = 15,
      .inputs = "input",
      .infer = infer_optional_get_element,
      .evaluate = evaluate_optional_get_element,
      .traits = {.is_identity = is_no_optional},
      .samples = "(float32[2, 3])",
  };
}

}  // namespace svengine::ops
