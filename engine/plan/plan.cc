#include "engine/plan/plan.h"

#include "engine/plan/plan_builder.h"

namespace svengine {

Result<std::shared_ptr<const Plan>> make_plan(const Graph& graph, const kernels::KernelTable& kernels, WeightStore& weights,
                                              const LowerOptions& options) {
  PlanBuilder builder(kernels, weights, options);
  for (const Value* v : graph.inputs()) builder.add_input(*v);
  for (const Value* v : graph.outputs()) builder.add_output(*v);
  builder.concat_aliasing(graph);
  for (const auto& node : graph.nodes()) SV_TRY(builder.lower(*node));
  return builder.finish();
}

int64_t Plan::own_constant_bytes() const {
  int64_t bytes = 0;
  auto owner = owners.begin();
  for (const Slot& s : slots)
    if (s.kind == SlotKind::constant && (owner++)->use_count() == 1) bytes += s.bytes;
  return bytes;
}

std::string to_string(const Plan& plan) {
  static constexpr const char* kinds[] = {"arena", "constant", "input", "output"};
  std::string out = fmt::format("plan: kernels {}, {} steps, arena {} bytes, constants {} bytes\n", plan.kernel_set,
                                plan.steps.size(), plan.arena_bytes, plan.constant_bytes);
  for (size_t i = 0; i < plan.slots.size(); ++i) {
    const Slot& s = plan.slots[i];
    out += fmt::format("slot %{} {} {}", i, kinds[static_cast<size_t>(s.kind)], s.name);
    if (s.kind == SlotKind::arena) out += fmt::format(" offset {} bytes {} steps {}..{}", s.offset, s.bytes, s.first_step, s.last_step);
    out += '\n';
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& s = plan.steps[i];
    out += fmt::format("step {} {} tasks {} node '{}' ({})\n", i, s.kernel, s.tasks, s.node, s.op);
  }
  return out;
}

}  // namespace svengine
