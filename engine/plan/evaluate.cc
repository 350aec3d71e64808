// Constant folding runs a node as a plan of its own, in the calling thread: folding can never disagree with running.
#include <cstring>

#include "engine/graph/evaluate_context.h"
#include "engine/kernels/contract.h"
#include "engine/graph/passes/pass.h"
#include "engine/ops/registry.h"
#include "engine/plan/plan_builder.h"

namespace svengine {
namespace {

/// A node of types that its kernels lack, and the Casts around it, one after the other.
Result<std::vector<Tensor>> evaluate_widened(const Node& node, const kernels::KernelTable& kernels) {
  Graph graph;
  std::vector<Value*> inputs;
  for (const Value* v : node.inputs()) inputs.push_back(v ? graph.add_constant(v->name(), v->constant()) : nullptr);
  Node* copy = graph.add_node(node.op(), node.name(), std::move(inputs), node.outputs().size(), node.attributes);
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    copy->output(i)->type = node.output(i)->type;
    graph.add_output(copy->output(i));
  }
  const PassContext context{all_ops(), kernels.lanes, [&kernels](const Node& n) { return evaluate(n, kernels); }};
  SV_TRY(widen_types(graph, context));
  for (Node* n : graph.snapshot()) {
    SV_ASSIGN(std::vector<Tensor> results, evaluate(*n, kernels));
    const std::vector<Value*> outputs = n->outputs();
    for (size_t i = 0; i < outputs.size(); ++i) graph.make_constant(outputs[i], std::move(results[i]));
  }
  std::vector<Tensor> results;
  for (const Value* v : graph.outputs()) results.push_back(v->constant());
  return results;
}

class FoldingContext final : public EvaluateContext {
 public:
  using EvaluateContext::EvaluateContext;
  Result<std::vector<Tensor>> run_body(std::string_view, std::vector<Tensor>) override {
    return error("a node with a body is not folded");
  }
};

Result<std::vector<Tensor>> evaluate_constants(const Node& node) {
  std::vector<Tensor> inputs;
  for (const Value* v : node.inputs()) {
    inputs.push_back(v ? v->constant() : Tensor());
    if (inputs.back().is_aligned()) continue;
    SV_ASSIGN(inputs.back(), v->constant().aligned_copy());
  }
  FoldingContext context(node, std::move(inputs));
  return evaluate_on_host(context);
}

}  // namespace

Result<std::vector<Tensor>> evaluate(const Node& node, const kernels::KernelTable& kernels) {
  if (runs_on_host(node)) return evaluate_constants(node);
  if (!types_to_widen(node).empty()) return evaluate_widened(node, kernels);
  std::vector<MutableTensor> results;
  for (const Value* v : node.outputs()) {
    if (!v || !v->type.shape.is_static()) return error("{}: output shape is not known", describe(node));
    SV_ASSIGN(MutableTensor t, Tensor::allocate(v->type.dtype, *v->type.shape.concrete()));
    if (kernels::contract_checks) std::memset(t.raw(), 0xff, t.byte_size());
    results.push_back(std::move(t));
  }
  if (node.op().traits.is_view) {
    SV_TRY(check_view(node));
    SV_ASSIGN(const Tensor copy, node.input(0)->constant().aligned_copy());
    return std::vector<Tensor>{copy.reshaped(*node.output()->type.shape.concrete())};
  }
  WeightStore weights;
  PlanBuilder builder(kernels, weights, {.exact_convolution = true});  // done once: no reason to hurry
  for (const Value* v : node.outputs()) builder.add_output(*v);
  SV_TRY(builder.lower(node));
  SV_ASSIGN(std::shared_ptr<const Plan> plan, builder.finish());
  SV_TRY(weights.pack_alone());

  std::shared_ptr<std::byte> arena = allocate_aligned(static_cast<size_t>(plan->arena_bytes));
  std::shared_ptr<std::byte> scratch = allocate_aligned(static_cast<size_t>(plan->scratch_bytes));
  if (!arena || !scratch) return error("{}: no memory to fold a constant", describe(node));
  if (kernels::contract_checks) {
    std::memset(arena.get(), 0xff, static_cast<size_t>(plan->arena_bytes));
    std::memset(scratch.get(), 0xff, static_cast<size_t>(plan->scratch_bytes));
  }
  std::vector<std::byte*> bases;
  for (const Slot& s : plan->slots) {
    if (s.kind == SlotKind::constant) bases.push_back(const_cast<std::byte*>(s.constant));
    else bases.push_back(s.kind == SlotKind::output ? results[s.index].raw() : arena.get() + s.offset);
  }
  const Run run(bases.data(), scratch.get());
  for (const Step& s : plan->steps)
    if (const char* problem = s.run(run.for_step(s.scratch_bytes), 0, s.tasks)) return error("{}: {}", describe(node), problem);
  return std::vector<Tensor>(results.begin(), results.end());
}

}  // namespace svengine
