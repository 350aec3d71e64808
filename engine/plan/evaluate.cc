// Constant folding runs a node as a plan of its own, in the calling thread: folding can never disagree with running.
#include <cstring>

#include "engine/kernels/contract.h"
#include "engine/plan/plan_builder.h"

namespace svengine {

Result<std::vector<Tensor>> evaluate(const Node& node, const kernels::KernelTable& kernels) {
  std::vector<MutableTensor> results;
  for (const Value* v : node.outputs()) {
    if (!v || !v->type.shape.is_static()) return error("{}: output shape is not known", describe(node));
    SV_ASSIGN(MutableTensor t, Tensor::allocate(v->type.dtype, *v->type.shape.concrete()));
    results.push_back(std::move(t));
  }
  if (node.op().traits.is_view) {
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
    if (const char* problem = s.run(run, 0, s.tasks)) return error("{}: {}", describe(node), problem);
  return std::vector<Tensor>(results.begin(), results.end());
}

}  // namespace svengine
