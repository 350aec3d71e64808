// SequenceMap: a body for every tensor of a sequence, with the same tensors besides or those at the same place of other sequences;
// each output of the body becomes a sequence.
#include "engine/ops/control/control_common.h"

namespace svengine::ops {
namespace {

/// What the body gets of an input.
Type item_of(const Type& type) {
  if (type.dtype != DType::sequence) return type;
  return type.element ? *type.element : Type{};
}

Status infer_sequence_map(InferContext& c) {
  if (c.dtype(0) != DType::sequence && c.dtype(0) != DType::undefined)
    return error("{} is {}, needs a sequence", c.described(0), to_string(c.type(0)));
  const size_t own = own_input_count(c);
  SV_ASSIGN(const Graph* body, checked_body(c, "body", own, c.output_count()));
  for (size_t i = 0; i < own; ++i) {
    if (!c.has_input(i)) return error("{} is absent", c.described(i));
    SV_TRY(check_body_input(*body, i, item_of(c.type(i))));
  }
  for (size_t i = 0; i < c.output_count(); ++i) {
    Type type{DType::sequence, Shape(std::vector<Dim>{})};
    type.element = std::make_shared<const Type>(body->outputs()[i]->type);
    c.set(i, std::move(type));
  }
  return {};
}

Status evaluate_sequence_map(EvaluateContext& c) {
  const size_t own = own_input_count(c), length = c.input(0).items().size();
  for (size_t i = 1; i < own; ++i)
    if (c.input(i).type() == DType::sequence && c.input(i).items().size() != length)
      return error("{} is a sequence of {}, the first one of {}", c.node().op().inputs.described(i), c.input(i).items().size(), length);
  const std::vector<Tensor> captured = captured_inputs(c);
  std::vector<std::vector<Tensor>> outputs(c.output_count());
  for (size_t at = 0; at < length; ++at) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < own; ++i) inputs.push_back(c.input(i).type() == DType::sequence ? c.input(i).items()[at] : c.input(i));
    inputs.insert(inputs.end(), captured.begin(), captured.end());
    Result<std::vector<Tensor>> given = c.run_body("body", std::move(inputs));
    if (!given.ok()) return std::move(given).error().in(fmt::format("item {}", at));
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].push_back(std::move((*given)[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) c.set(i, Tensor::of_items(DType::sequence, std::move(outputs[i])));
  return {};
}

}  // namespace

OpDef define_sequence_map() {
  return {
      .name = "SequenceMap",
      .since = 17,
      .inputs = "input_sequence, additional_inputs?...",
      .outputs = {1, kVariadic},
      .attributes = {{"body", AttributeKind::kGraph, true}, internal_attribute(kCaptured, AttributeKind::kInt)},
      .infer = infer_sequence_map,
      .evaluate = evaluate_sequence_map,
      .cost = [](const Node& node) { return cost_of_body(node, "body"); },
      .samples = R"((sequence{float32[2]{1.0, 2.0}, float32[1, 1]{3.0}}, float32[2]) {body = graph "body" {
  input %item: float32[*]
  input %beside: float32[2]
  output %beside
  output %item
}} 2)",
  };
}

}  // namespace svengine::ops
