#include "runtime/segment.h"

#include <algorithm>
#include <cstring>

#include "engine/base/limits.h"
#include "engine/kernels/contract.h"
#include "runtime/batch_parallel.h"

namespace svengine {
namespace {

/// Memory for an output: the caller's, where there is some.
Result<MutableTensor> place_for(const PlanTensor& output, const MutableTensor* given, OutputMemory& memory) {
  if (!given || !given->defined()) {
    SV_ASSIGN(MutableTensor fresh, memory.allocate(output.dtype, output.dims));
    if (kernels::contract_checks) std::memset(fresh.raw(), 0xff, fresh.byte_size());
    return fresh;
  }
  if (given->type() != output.dtype || given->dims() != output.dims)
    return error("output '{}' is {}[{}]; the place given for it is {}[{}]", output.name, name_of(output.dtype), to_string(output.dims),
                 name_of(given->type()), to_string(given->dims()));
  if (!given->is_aligned()) return error("the place given for output '{}' is not aligned to its elements", output.name);
  return *given;
}

/// An output that no plan wrote into the place that the caller gave for it, if any: copied there.
Result<Tensor> put(Tensor output, MutableTensor given) {
  if (!given.defined() || given.raw() == output.raw()) return output;
  if (given.type() != output.type() || given.dims() != output.dims() || is_handle(output.type()))
    return error("an output is {}[{}]; the place given for it is {}[{}]", name_of(output.type()), to_string(output.dims()),
                 name_of(given.type()), to_string(given.dims()));
  std::memcpy(given.raw(), output.raw(), output.byte_size());
  return Tensor(given);
}

}  // namespace

Result<Segment::Prepared> Segment::make(const std::vector<Tensor>& inputs) {
  Prepared prepared;
  SV_ASSIGN(prepared.plan, model_.plan_for(inputs, shared_.team, shared_.batch_parallel));
  const SegmentPlan& plan = *prepared.plan;
  if (shared_.batch_parallel) {
    SV_ASSIGN(TeamRun run, TeamRun::batch_parallel(plan.plans, plan.batch, shared_.team, *shared_.batch_parallel));
    prepared.run = std::make_unique<TeamRun>(std::move(run));
    prepared.own_bytes = plan.run_bytes();
  } else if (!plan.plans.empty()) {
    RunMemory* memory = !shared_.memory && model_.shared().is_behind_cut ? &shared_.data_dependent : shared_.memory;
    SV_ASSIGN(TeamRun run, TeamRun::whole(plan.plans.front(), shared_.team, memory));
    prepared.run = std::make_unique<TeamRun>(std::move(run));
    if (!memory) prepared.own_bytes = plan.run_bytes();
  }
  if (plan.rest) prepared.rest = std::make_unique<Segment>(*plan.rest, shared_);
  return prepared;
}

Result<Segment::Prepared*> Segment::find_or_make(const std::vector<Tensor>& inputs) {
  const std::string key = model_.key_of(inputs, shared_.batch_parallel);
  const auto it = std::find_if(prepared_.begin(), prepared_.end(), [&](const Prepared& p) { return p.plan->key == key; });
  if (it != prepared_.end()) {
    prepared_.splice(prepared_.begin(), prepared_, it);
    return &prepared_.front();
  }
  shared_.outputs.release();  // other shapes: what is free counts in a memory limit
  SV_ASSIGN(Prepared made, make(inputs));
  prepared_.push_front(std::move(made));
  drop_old_plans(prepared_, [](const Prepared& p) { return p.plan->bytes + p.own_bytes; });
  return &prepared_.front();
}

Status Segment::prepare(const std::vector<Tensor>& inputs) {
  SV_ASSIGN(Prepared * prepared, find_or_make(inputs));
  (void)prepared;
  return {};
}

Result<TeamRun*> Segment::single_run(const std::vector<Tensor>& inputs) {
  SV_ASSIGN(Prepared * prepared, find_or_make(inputs));
  const SegmentPlan& plan = *prepared->plan;
  if (!prepared->run || plan.host || plan.rest) return nullptr;
  for (size_t i = 0; i < plan.run_inputs.size(); ++i)
    if (plan.run_inputs[i] != i || plan.run_inputs.size() != inputs.size()) return nullptr;
  for (size_t o = 0; o < plan.outputs.size(); ++o)
    if (plan.outputs[o].kind != OutputSource::Kind::table || plan.outputs[o].index != inputs.size() + o) return nullptr;
  return prepared->run->outputs().size() == plan.outputs.size() ? prepared->run.get() : nullptr;
}

Status Segment::run_plan(Prepared& prepared, Table& table, const Buffers& buffers, bool profile) {
  TeamRun& run = *prepared.run;
  const SegmentPlan& plan = *prepared.plan;
  for (size_t i = 0; i < plan.run_inputs.size(); ++i) run.bind_input(i, table[plan.run_inputs[i]].raw());
  for (size_t i = 0; i < run.outputs().size(); ++i) {
    const size_t target = plan.run_targets[i];
    SV_ASSIGN(MutableTensor t, place_for(run.outputs()[i], target < buffers.size() ? &buffers[target] : nullptr, shared_.outputs));
    run.bind_output(i, t.raw());
    table.push_back(std::move(t));
  }
  return run.run(profile);
}

Status Segment::run_host(Prepared& prepared, Table& table, bool profile) {
  std::vector<Tensor> arguments;
  for (const size_t place : prepared.plan->host_inputs) arguments.push_back(table[place]);
  const auto run_body = [&](const Subgraph& body, std::vector<Tensor> inputs) -> Result<std::vector<Tensor>> {
    SV_ASSIGN(Segment* const segment, shared_.bodies.segment_of(body, model_.shared(), shared_));
    return segment->run(std::move(inputs), profile);
  };
  SV_ASSIGN(const std::vector<Tensor> results, prepared.plan->host->run(std::move(arguments), run_body, profile ? &prepared.host_times : nullptr));
  table.insert(table.end(), results.begin(), results.end());
  return {};
}

Result<std::vector<Tensor>> Segment::run(std::vector<Tensor> inputs, bool profile, const std::vector<MutableTensor>& output_buffers) {
  SV_TRY(check_time_limit());
  SV_ASSIGN(Prepared * prepared, find_or_make(inputs));
  const SegmentPlan& plan = *prepared->plan;
  Table table = std::move(inputs);
  if (prepared->run) SV_TRY(run_plan(*prepared, table, output_buffers, profile));
  if (plan.host) SV_TRY(run_host(*prepared, table, profile));
  const auto given = [&](size_t o) { return o < output_buffers.size() ? output_buffers[o] : MutableTensor(); };
  std::vector<Tensor> outputs(plan.outputs.size()), boundary;
  Buffers rest_buffers;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const OutputSource& source = plan.outputs[o];
    if (source.kind == OutputSource::Kind::rest) {
      if (source.index >= rest_buffers.size()) rest_buffers.resize(source.index + 1);
      rest_buffers[source.index] = given(o);
    } else {
      outputs[o] = source.kind == OutputSource::Kind::table ? table[source.index] : source.constant;
      SV_ASSIGN(outputs[o], put(std::move(outputs[o]), given(o)));
    }
  }
  if (!prepared->rest) return outputs;
  for (const size_t place : plan.rest_inputs) boundary.push_back(table[place]);
  table.clear();  // what the rest does not read may go
  SV_ASSIGN(const std::vector<Tensor> rest, prepared->rest->run(std::move(boundary), profile, rest_buffers));
  for (size_t o = 0; o < outputs.size(); ++o)
    if (const OutputSource& source = plan.outputs[o]; source.kind == OutputSource::Kind::rest) outputs[o] = rest[source.index];
  return outputs;
}

void Segment::collect_plans(std::vector<std::shared_ptr<const Plan>>& plans) const {
  for (const Prepared& p : prepared_) {
    if (p.run)
      for (const std::shared_ptr<const Plan>& plan : p.run->plans()) plans.push_back(plan);
    if (p.rest) p.rest->collect_plans(plans);
  }
}

void Segment::collect_profile(std::vector<ProfileRow>& rows) const {
  for (const Prepared& p : prepared_) {
    if (p.run) {
      const std::vector<int64_t>& times = p.run->times().nanoseconds;
      for (size_t i = 0; i < times.size(); ++i) {
        const Step& s = p.run->first().plan().steps[i];
        rows.push_back({s.node, s.op, s.kernel, s.tasks, times[i], s.cost});
      }
    }
    if (p.plan->host) p.plan->host->collect_profile(p.host_times, rows);
    if (p.rest) p.rest->collect_profile(rows);
  }
}

PageKind Segment::page_kind() const {
  return prepared_.empty() || !prepared_.front().run ? PageKind::base : prepared_.front().run->first().page_kind();
}

Result<Segment*> Bodies::segment_of(const Subgraph& body, const SegmentModel::Shared& network, const Segment::Shared& context) {
  SV_ASSIGN(SegmentModel* const model, models_.model_of(body, network));
  std::unique_ptr<Segment>& segment = segments_[model];
  if (!segment) {
    Segment::Shared own = context;
    own.batch_parallel = nullptr;
    if (!own.memory) own.memory = &own.data_dependent;  // shapes change from trip to trip: a decoder's caches grow
    segment = std::make_unique<Segment>(*model, own);
    in_order_.push_back(segment.get());
  }
  return segment.get();
}

}  // namespace svengine
