#include "runtime/segment.h"

#include <algorithm>
#include <cstring>

#include "engine/kernels/contract.h"
#include "runtime/denormals.h"
#include "runtime/weight_cache.h"

namespace svengine {
namespace {

/// Memory for an output: the caller's, where there is some.
Result<MutableTensor> place_for(const PlanTensor& output, const MutableTensor* given) {
  if (!given || !given->defined()) {
    SV_ASSIGN(MutableTensor fresh, Tensor::allocate(output.dtype, output.dims));
    if (kernels::contract_checks) std::memset(fresh.raw(), 0xff, fresh.byte_size());
    return fresh;
  }
  if (given->type() != output.dtype || given->dims() != output.dims)
    return error("output '{}' is {}[{}]; the place given for it is {}[{}]", output.name, name_of(output.dtype), to_string(output.dims),
                 name_of(given->type()), to_string(given->dims()));
  return *given;
}

}  // namespace

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
  SV_ASSIGN(std::shared_ptr<const Plan> plan, plan_of(std::move(graph)));
  SV_TRY(pack_weights());
  SV_ASSIGN(TeamRun run, TeamRun::whole(std::move(plan), shared_.team));
  prepared.run = std::make_unique<TeamRun>(std::move(run));
  forget_graph_if_done();
  return prepared;
}

Result<std::shared_ptr<const Plan>> Segment::plan_rows(const std::vector<Tensor>& inputs, int64_t rows) {
  std::vector<Dims> dims;
  for (size_t i = 0; i < inputs.size(); ++i) {
    dims.push_back(inputs[i].dims());
    if (shared_.batch_parallel->split_inputs[i]) dims.back()[0] = rows;
  }
  SV_ASSIGN(Graph graph, specialize(graph_, dims, {}, pass_context(shared_.kernels)));
  if (!all_shapes_known(graph)) return error("shard mode cannot run this network, whose shapes depend on data");
  return plan_of(std::move(graph));
}

Result<Segment::Prepared> Segment::make_sharded(const std::vector<Tensor>& inputs) {
  BatchParallel& batch_parallel = *shared_.batch_parallel;
  const int64_t batch = batch_parallel.batch_of(inputs);
  std::map<int64_t, std::shared_ptr<const Plan>> plan_of_rows{{0, nullptr}};  // two at most: counts differ by one
  std::vector<std::shared_ptr<const Plan>> plans;
  for (size_t g = 0; g < batch_parallel.groups.size(); ++g) {
    const int64_t rows = rows_of(batch, g, batch_parallel.groups.size()).count();
    if (g == 0 || !plan_of_rows.count(rows)) {  // an empty batch is the first group's
      SV_ASSIGN(plan_of_rows[rows], plan_rows(inputs, rows));
    }
    plans.push_back(plan_of_rows[rows]);
  }
  SV_TRY(pack_weights());
  SV_ASSIGN(TeamRun run, TeamRun::batch_parallel(plans, batch, shared_.team, batch_parallel));
  Prepared prepared;
  prepared.bound_inputs.assign(inputs.size(), true);
  prepared.run = std::make_unique<TeamRun>(std::move(run));
  return prepared;
}

Result<std::shared_ptr<const Plan>> Segment::plan_of(Graph graph, Recompute recompute, WeightStore& weights) const {
  PassContext context = pass_context(shared_.kernels);
  context.recompute = recompute;
  if (shared_.optimize) SV_TRY(run_pipeline(graph, context, Stage::plan));
  return make_plan(graph, shared_.kernels, weights, shared_.lowering);
}

Result<int64_t> Segment::planned_bytes(const std::vector<Dims>& inputs, Recompute recompute) const {
  if (forgotten_) {
    if (recompute == shared_.recompute) return prepared_.front().run->first().plan().arena_bytes;
    return error(
        "the network was planned for its only shapes and given back; ask for another recomputation before the first run");
  }
  SV_ASSIGN(Graph graph, specialize(graph_, inputs, {}, pass_context(shared_.kernels)));
  if (!all_shapes_known(graph)) return 0;
  WeightStore weights;  // nothing is packed
  SV_ASSIGN(const std::shared_ptr<const Plan> plan, plan_of(std::move(graph), recompute, weights));
  return plan->arena_bytes;
}

Status Segment::pack_weights() {
  WeightStore& weights = shared_.weights;
  if (!weights.pending()) return {};
  // Who packs is who first touches. In shard mode these are the first group's weights; the others copy them.
  Team& team = shared_.batch_parallel ? shared_.batch_parallel->groups.front().team : shared_.team;
  const auto run = [&](const auto& body) {
    return shared_.team.run([&](int thread) {
      if (thread < team.threads()) body(thread);
    });
  };
  if (weights.begin_check()) {
    SV_TRY(run([&](int thread) { weights.check(thread, team.threads()); }));
    SV_TRY(weights.end_check());
  }
  SV_TRY(weights.begin_pack());
  SV_TRY(run([&](int thread) {
    const DenormalMode exact(false);  // equal forms whatever the caller's mode
    weights.pack(thread, team.threads(), [&] { team.barrier().wait(thread); });
  }));
  weights.end_pack();
  if (shared_.cache) shared_.cache->save();
  return {};
}

void Segment::forget_graph_if_done() {
  const auto fixed = [](const Value* v) { return v->type.shape.is_static(); };
  const bool by_shape_only = std::none_of(needs_value_.begin(), needs_value_.end(), [](bool needs) { return needs; });
  // What is left of the weights then is what the plan reads.
  if (by_shape_only && std::all_of(graph_.inputs().begin(), graph_.inputs().end(), fixed)) {
    graph_ = Graph();
    forgotten_ = true;
  }
}

Result<Segment::Prepared*> Segment::find_or_make(const std::vector<Tensor>& inputs) {
  std::string key = key_of(inputs);
  const auto it = std::find_if(prepared_.begin(), prepared_.end(), [&](const Prepared& p) { return p.key == key; });
  if (it != prepared_.end()) {
    prepared_.splice(prepared_.begin(), prepared_, it);
    return &prepared_.front();
  }
  SV_ASSIGN(Prepared made, shared_.batch_parallel ? make_sharded(inputs) : make(inputs));
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

Result<std::vector<Tensor>> Segment::run(const std::vector<Tensor>& inputs, bool profile,
                                         const std::vector<MutableTensor>& output_buffers) {
  SV_ASSIGN(Prepared * prepared, find_or_make(inputs));
  TeamRun& run = *prepared->run;
  size_t bound = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (prepared->bound_inputs[i]) run.bind_input(bound++, inputs[i].raw());
  std::vector<Tensor> outputs;
  for (const PlanTensor& o : run.outputs()) {
    const bool given = !prepared->rest && outputs.size() < output_buffers.size();
    SV_ASSIGN(MutableTensor t, place_for(o, given ? &output_buffers[outputs.size()] : nullptr));
    run.bind_output(outputs.size(), t.raw());
    outputs.push_back(std::move(t));
  }
  SV_TRY(run.run(profile));
  if (!prepared->rest) return outputs;
  std::vector<Tensor> boundary;
  for (const BoundarySource& s : prepared->sources) boundary.push_back(s.from_input ? inputs[s.index] : outputs[s.index]);
  return prepared->rest->run(boundary, profile, output_buffers);
}

void Segment::collect_plans(std::vector<std::shared_ptr<const Plan>>& plans) const {
  for (const Prepared& p : prepared_) {
    for (const std::shared_ptr<const Plan>& plan : p.run->plans()) plans.push_back(plan);
    if (p.rest) p.rest->collect_plans(plans);
  }
}

void Segment::collect_profile(std::vector<ProfileRow>& rows) const {
  for (const Prepared& p : prepared_) {
    const std::vector<int64_t>& times = p.run->times().nanoseconds;
    for (size_t i = 0; i < times.size(); ++i) {
      const Step& s = p.run->first().plan().steps[i];
      rows.push_back({s.node, s.op, s.kernel, s.tasks, times[i], s.cost});
    }
    if (p.rest) p.rest->collect_profile(rows);
  }
}

PageKind Segment::page_kind() const { return prepared_.empty() ? PageKind::base : prepared_.front().run->first().page_kind(); }

}  // namespace svengine
