#include "runtime/segment.h"

#include <algorithm>

namespace svengine {

std::string Segment::key_of(const std::vector<Tensor>& inputs) const {
  std::string key;
  for (size_t i = 0; i < inputs.size(); ++i) {
    key += to_string(inputs[i].dims()) + ';';
    if (needs_value_[i]) key.append(reinterpret_cast<const char*>(inputs[i].raw()), inputs[i].byte_size());
  }
  return key;
}

Result<Segment::Prepared> Segment::make(const std::vector<Tensor>& inputs) {
  std::vector<Dims> dims;
  std::vector<Tensor> constants(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    dims.push_back(inputs[i].dims());
    if (needs_value_[i]) {
      SV_ASSIGN(constants[i], inputs[i].aligned_copy());
    }
  }
  const PassContext context = pass_context(shared_.kernels);
  SV_ASSIGN(Graph graph, specialize(graph_, dims, constants, context));

  Prepared prepared;
  for (bool constant : needs_value_) prepared.bound_inputs.push_back(!constant);
  if (!all_shapes_known(graph)) {
    SV_ASSIGN(SplitGraph split, split_at_unknown_shapes(graph));
    // Inputs of `graph` are this segment's without the constants; the rest speaks of the segment's own numbering.
    std::vector<size_t> original;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!needs_value_[i]) original.push_back(i);
    for (BoundarySource& s : split.sources)
      if (s.from_input) s.index = original[s.index];
    prepared.rest = std::make_unique<Segment>(std::move(split.rest), std::move(split.rest_needs_value), shared_);
    prepared.sources = std::move(split.sources);
    graph = std::move(split.prefix);
  }
  SV_TRY(run_pipeline(graph, context, Stage::plan));
  SV_ASSIGN(std::shared_ptr<const Plan> plan, make_plan(graph, shared_.kernels, shared_.weights));
  SV_ASSIGN(prepared.state, RunState::create(std::move(plan), shared_.team));
  return prepared;
}

Result<Segment::Prepared*> Segment::find_or_make(const std::vector<Tensor>& inputs) {
  std::string key = key_of(inputs);
  const auto it = std::find_if(prepared_.begin(), prepared_.end(), [&](const Prepared& p) { return p.key == key; });
  if (it != prepared_.end()) {
    prepared_.splice(prepared_.begin(), prepared_, it);
    return &prepared_.front();
  }
  SV_ASSIGN(Prepared made, make(inputs));
  made.key = std::move(key);
  prepared_.push_front(std::move(made));
  if (prepared_.size() > kMostPlans) prepared_.pop_back();
  return &prepared_.front();
}

Status Segment::prepare(const std::vector<Tensor>& inputs) {
  SV_ASSIGN(Prepared * prepared, find_or_make(inputs));
  (void)prepared;
  return {};
}

Result<std::vector<Tensor>> Segment::run(const std::vector<Tensor>& inputs, bool profile) {
  SV_ASSIGN(Prepared * prepared, find_or_make(inputs));
  RunState& state = *prepared->state;
  size_t bound = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (prepared->bound_inputs[i]) state.bind_input(bound++, inputs[i].raw());
  std::vector<Tensor> outputs;
  for (const PlanTensor& o : state.plan().outputs) {
    SV_ASSIGN(Tensor t, Tensor::allocate(o.dtype, o.dims));
    state.bind_output(outputs.size(), t.raw());
    outputs.push_back(std::move(t));
  }
  SV_TRY(state.run(shared_.team, profile ? &prepared->times : nullptr));
  if (!prepared->rest) return outputs;
  std::vector<Tensor> boundary;
  for (const BoundarySource& s : prepared->sources) boundary.push_back(s.from_input ? inputs[s.index] : outputs[s.index]);
  return prepared->rest->run(boundary, profile);
}

void Segment::collect_plans(std::vector<std::shared_ptr<const Plan>>& plans) const {
  for (const Prepared& p : prepared_) {
    plans.push_back(p.state->shared_plan());
    if (p.rest) p.rest->collect_plans(plans);
  }
}

void Segment::collect_profile(std::vector<ProfileRow>& rows) const {
  for (const Prepared& p : prepared_) {
    for (size_t i = 0; i < p.times.nanoseconds.size(); ++i) {
      const Step& s = p.state->plan().steps[i];
      rows.push_back({s.node, s.op, s.kernel, s.tasks, p.times.nanoseconds[i], s.cost});
    }
    if (p.rest) p.rest->collect_profile(rows);
  }
}

PageKind Segment::page_kind() const { return prepared_.empty() ? PageKind::base : prepared_.front().state->page_kind(); }

}  // namespace svengine
