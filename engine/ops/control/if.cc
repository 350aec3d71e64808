// If: one of two bodies, by a condition that is there when its turn comes. Known conditions leave nothing of it but the branch
// (graph/passes/inline_branches.cc).
#include "engine/ops/control/body_gradient_common.h"
#include "engine/ops/control/control_common.h"

namespace svengine::ops {
namespace {

Status infer_if(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kBool));
  SV_ASSIGN(const Graph* yes, checked_body(c, "then_branch", 0, c.output_count()));
  SV_ASSIGN(const Graph* no, checked_body(c, "else_branch", 0, c.output_count()));
  if (own_input_count(c) != 1) return error("has {} inputs, needs a condition", own_input_count(c));
  for (size_t i = 0; i < c.output_count(); ++i) {
    Result<Type> type = merged(yes->outputs()[i]->type, no->outputs()[i]->type);
    if (!type.ok()) return std::move(type).error().in(fmt::format("output {}", i));
    c.set(i, std::move(type).value());
  }
  return {};
}

Status evaluate_if(EvaluateContext& c) {
  SV_ASSIGN(const bool yes, truth_of(c.input(0), "the condition"));
  std::vector<Tensor> captured;
  for (size_t i = 1; i < c.input_count(); ++i) captured.push_back(c.take_input(i));
  SV_ASSIGN(std::vector<Tensor> outputs, c.run_body(yes ? "then_branch" : "else_branch", std::move(captured)));
  for (size_t i = 0; i < c.output_count(); ++i) c.set(i, std::move(outputs[i]));
  return {};
}

Cost cost_if(const Node& node) {
  const Cost yes = cost_of_body(node, "then_branch"), no = cost_of_body(node, "else_branch");
  return yes.flops > no.flops ? yes : no;
}

}  // namespace

OpDef define_if() {
  return {
      .name = "If",
      .inputs = "cond, captured?...",
      .outputs = {1, kVariadic},
      .attributes = {{"then_branch", AttributeKind::kGraph, true},
                     {"else_branch", AttributeKind::kGraph, true},
                     internal_attribute(kCaptured, AttributeKind::kInt)},
      .infer = infer_if,
      .evaluate = evaluate_if,
      .cost = cost_if,
      .gradient = if_gradient,
      .samples = R"((bool[] 0 to 2, float32[2, 3], float32[2, 3]) {then_branch = graph "branch" {
  input %a: float32[2, 3]
  input %b: float32[2, 3]
  output %a
}, else_branch = graph "branch" {
  input %a: float32[2, 3]
  input %b: float32[2, 3]
  output %b
}, captured = 2})",
  };
}

}  // namespace svengine::ops
