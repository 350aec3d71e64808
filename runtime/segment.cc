#include "runtime/segment.h"

#include <algorithm>
#include <cstring>

#include "engine/base/limits.h"
#include "engine/graph/expand.h"
#include "engine/kernels/contract.h"
#include "runtime/bodies.h"
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

  std::vector<size_t> places;  // inputs of `graph` are this segment's without the constants
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!needs_value_[i]) places.push_back(i);
  Prepared prepared;
  const auto is_shared = [&](const Value* v) { return share_inputs_ && (v->is_constant() || v->is_input()); };
  if (is_plannable(graph) && std::none_of(graph.outputs().begin(), graph.outputs().end(), is_shared)) {
    prepared.run_inputs = std::move(places);
    for (size_t i = 0; i < graph.outputs().size(); ++i) prepared.outputs.push_back({OutputSource::Kind::table, inputs.size() + i});
  } else {
    SV_ASSIGN(graph, split(std::move(graph), places, prepared));
  }
  if (!graph.outputs().empty()) {
    SV_ASSIGN(std::shared_ptr<const Plan> plan, plan_of(std::move(graph)));
    SV_TRY(pack_weights());
    RunMemory* memory = !shared_.memory && shared_.is_behind_cut ? &shared_.data_dependent : shared_.memory;
    SV_ASSIGN(TeamRun run, TeamRun::whole(std::move(plan), shared_.team, memory));
    prepared.run = std::make_unique<TeamRun>(std::move(run));
    find_targets(prepared, inputs.size());
  }
  forget_graph_if_done();
  return prepared;
}

/// Gives what is planned first, and prepares what follows.
Result<Graph> Segment::split(Graph graph, const std::vector<size_t>& input_places, Prepared& prepared) {
  SV_ASSIGN(SplitGraph split, split_graph(graph, input_places, needs_value_.size(), share_inputs_));
  if (!split.host.nodes().empty()) {
    SV_ASSIGN(HostStage host, HostStage::create(std::move(split.host)));
    prepared.host = std::make_unique<HostStage>(std::move(host));
  }
  if (!split.rest.outputs().empty()) {
    Shared shared = shared_;
    shared.is_behind_cut = true;
    prepared.rest = std::make_unique<Segment>(std::move(split.rest), std::move(split.rest_needs_value), shared, share_inputs_);
  }
  prepared.run_inputs = std::move(split.prefix_inputs);
  prepared.host_inputs = std::move(split.host_inputs);
  prepared.rest_inputs = std::move(split.rest_inputs);
  prepared.outputs = std::move(split.outputs);
  for (OutputSource& source : prepared.outputs) {
    if (source.constant.is_aligned()) continue;
    SV_ASSIGN(source.constant, source.constant.aligned_copy());
  }
  return std::move(split.prefix);
}

Result<std::shared_ptr<const Plan>> Segment::plan_rows(const std::vector<Tensor>& inputs, int64_t rows) {
  std::vector<Dims> dims;
  for (size_t i = 0; i < inputs.size(); ++i) {
    dims.push_back(inputs[i].dims());
    if (shared_.batch_parallel->split_inputs[i]) dims.back()[0] = rows;
  }
  SV_ASSIGN(Graph graph, specialize(graph_, dims, {}, pass_context(shared_.kernels)));
  if (!is_plannable(graph))
    return error(
        "shard mode cannot run this network: shapes depend on data, or nodes work on the host (control flow, strings, sequences); run it "
        "without");
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
  for (size_t i = 0; i < inputs.size(); ++i) prepared.run_inputs.push_back(i);
  for (size_t i = 0; i < run.outputs().size(); ++i) prepared.outputs.push_back({OutputSource::Kind::table, inputs.size() + i});
  prepared.run = std::make_unique<TeamRun>(std::move(run));
  find_targets(prepared, inputs.size());
  return prepared;
}

Result<std::shared_ptr<const Plan>> Segment::plan_of(Graph graph, Recompute recompute, WeightStore& weights) const {
  PassContext context = pass_context(shared_.kernels);
  context.recompute = recompute;
  if (shared_.optimize) SV_TRY(run_pipeline(graph, context, Stage::plan));
  else SV_TRY(make_runnable(graph, context));
  return make_plan(graph, shared_.kernels, weights, shared_.lowering);
}

Result<int64_t> Segment::planned_bytes(const std::vector<Dims>& inputs, Recompute recompute) const {
  if (forgotten_) {
    const Prepared& only = prepared_.front();
    if (!only.run || only.host || only.rest) return 0;
    if (recompute == shared_.recompute) return only.run->first().plan().arena_bytes;
    return error(
        "the network was planned for its only shapes and given back; ask for another recomputation before the first run");
  }
  SV_ASSIGN(Graph graph, specialize(graph_, inputs, {}, pass_context(shared_.kernels)));
  if (!is_plannable(graph)) return 0;
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

void Segment::find_targets(Prepared& prepared, size_t inputs) {
  prepared.run_targets.assign(prepared.run->outputs().size(), kNone);
  for (size_t o = prepared.outputs.size(); o-- > 0;) {
    const OutputSource& source = prepared.outputs[o];
    if (source.kind != OutputSource::Kind::table || source.index < inputs) continue;
    if (const size_t i = source.index - inputs; i < prepared.run_targets.size()) prepared.run_targets[i] = o;
  }
}

Status Segment::run_plan(Prepared& prepared, Table& table, const Buffers& buffers, bool profile) {
  TeamRun& run = *prepared.run;
  for (size_t i = 0; i < prepared.run_inputs.size(); ++i) run.bind_input(i, table[prepared.run_inputs[i]].raw());
  for (size_t i = 0; i < run.outputs().size(); ++i) {
    const size_t target = prepared.run_targets[i];
    SV_ASSIGN(MutableTensor t, place_for(run.outputs()[i], target < buffers.size() ? &buffers[target] : nullptr));
    run.bind_output(i, t.raw());
    table.push_back(std::move(t));
  }
  return run.run(profile);
}

Status Segment::run_host(Prepared& prepared, Table& table, bool profile) {
  std::vector<Tensor> arguments;
  for (const size_t place : prepared.host_inputs) arguments.push_back(table[place]);
  const auto run_body = [&](const Subgraph& body, std::vector<Tensor> inputs) -> Result<std::vector<Tensor>> {
    SV_ASSIGN(Segment* const segment, shared_.bodies.segment_of(body, shared_));
    return segment->run(std::move(inputs), profile);
  };
  SV_ASSIGN(const std::vector<Tensor> results, prepared.host->run(std::move(arguments), run_body, profile));
  table.insert(table.end(), results.begin(), results.end());
  return {};
}

Result<std::vector<Tensor>> Segment::run(std::vector<Tensor> inputs, bool profile, const std::vector<MutableTensor>& output_buffers) {
  SV_TRY(check_time_limit());
  SV_ASSIGN(Prepared * prepared, find_or_make(inputs));
  Table table = std::move(inputs);
  if (prepared->run) SV_TRY(run_plan(*prepared, table, output_buffers, profile));
  if (prepared->host) SV_TRY(run_host(*prepared, table, profile));
  const auto given = [&](size_t o) { return o < output_buffers.size() ? output_buffers[o] : MutableTensor(); };
  std::vector<Tensor> outputs(prepared->outputs.size()), boundary;
  Buffers rest_buffers;
  for (size_t o = 0; o < outputs.size(); ++o) {
    const OutputSource& source = prepared->outputs[o];
    if (source.kind == OutputSource::Kind::rest) {
      if (source.index >= rest_buffers.size()) rest_buffers.resize(source.index + 1);
      rest_buffers[source.index] = given(o);
    } else {
      outputs[o] = source.kind == OutputSource::Kind::table ? table[source.index] : source.constant;
      SV_ASSIGN(outputs[o], put(std::move(outputs[o]), given(o)));
    }
  }
  if (!prepared->rest) return outputs;
  for (const size_t place : prepared->rest_inputs) boundary.push_back(table[place]);
  table.clear();  // what the rest does not read may go
  SV_ASSIGN(const std::vector<Tensor> rest, prepared->rest->run(std::move(boundary), profile, rest_buffers));
  for (size_t o = 0; o < outputs.size(); ++o)
    if (const OutputSource& source = prepared->outputs[o]; source.kind == OutputSource::Kind::rest) outputs[o] = rest[source.index];
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
    if (p.host) p.host->collect_profile(rows);
    if (p.rest) p.rest->collect_profile(rows);
  }
}

PageKind Segment::page_kind() const {
  return prepared_.empty() || !prepared_.front().run ? PageKind::base : prepared_.front().run->first().page_kind();
}

}  // namespace svengine
