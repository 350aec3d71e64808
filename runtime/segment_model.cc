#include "runtime/segment_model.h"

#include <algorithm>
#include <map>

#include "engine/graph/expand.h"
#include "runtime/batch_parallel.h"
#include "runtime/float_mode.h"
#include "runtime/session.h"

namespace svengine {

namespace {

/// What a plan holds that nobody else does. The graph that it was made of must be gone.
int64_t own_bytes(const Plan& plan) {
  constexpr int64_t kBytesOfStep = 4096;
  return plan.own_constant_bytes() + kBytesOfStep * static_cast<int64_t>(plan.steps.size());
}

}  // namespace

int64_t SegmentPlan::run_bytes() const {
  int64_t sum = 0;
  for (const std::shared_ptr<const Plan>& plan : plans)
    if (plan) sum += plan->arena_bytes + plan->scratch_bytes;
  return sum;
}

std::string SegmentModel::key_of(const std::vector<Tensor>& inputs, const BatchParallel* batch_parallel) const {
  std::string key;
  for (size_t i = 0; i < inputs.size(); ++i) {
    key += to_string(inputs[i].dims()) + ';';
    if (needs_value_[i]) key.append(reinterpret_cast<const char*>(inputs[i].raw()), inputs[i].byte_size());
  }
  if (batch_parallel) key += fmt::format("in {}", batch_parallel->groups.size());
  return key;
}

Result<SegmentPlan> SegmentModel::make(const std::vector<Tensor>& inputs, Team& team) {
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
  SegmentPlan prepared;
  const auto is_shared = [&](const Value* v) { return share_inputs_ && (v->is_constant() || v->is_input()); };
  if (is_plannable(graph) && std::none_of(graph.outputs().begin(), graph.outputs().end(), is_shared)) {
    prepared.run_inputs = std::move(places);
    for (size_t i = 0; i < graph.outputs().size(); ++i) prepared.outputs.push_back({OutputSource::Kind::table, inputs.size() + i});
  } else {
    SV_ASSIGN(graph, split(std::move(graph), places, prepared));
  }
  if (!graph.outputs().empty()) {
    SV_ASSIGN(std::shared_ptr<const Plan> plan, plan_of(std::move(graph)));
    SV_TRY(pack_weights(team, team));
    prepared.plans.push_back(std::move(plan));
    find_targets(prepared, inputs.size());
  }
  forget_graph_if_done();
  return prepared;
}

/// Gives what is planned first, and prepares what follows.
Result<Graph> SegmentModel::split(Graph graph, const std::vector<size_t>& input_places, SegmentPlan& prepared) {
  SV_ASSIGN(SplitGraph split, split_graph(graph, input_places, needs_value_.size(), share_inputs_));
  if (!split.host.nodes().empty()) {
    SV_ASSIGN(HostStage host, HostStage::create(std::move(split.host)));
    prepared.host = std::make_shared<const HostStage>(std::move(host));
  }
  if (!split.rest.outputs().empty()) {
    Shared shared = shared_;
    shared.is_behind_cut = true;
    prepared.rest = std::make_shared<SegmentModel>(std::move(split.rest), std::move(split.rest_needs_value), shared, share_inputs_);
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

Result<std::shared_ptr<const Plan>> SegmentModel::plan_rows(const std::vector<Tensor>& inputs, int64_t rows,
                                                            const BatchParallel& batch_parallel) {
  std::vector<Dims> dims;
  for (size_t i = 0; i < inputs.size(); ++i) {
    dims.push_back(inputs[i].dims());
    if (batch_parallel.split_inputs[i]) dims.back()[0] = rows;
  }
  SV_ASSIGN(Graph graph, specialize(graph_, dims, {}, pass_context(shared_.kernels)));
  if (!is_plannable(graph))
    return error(
        "shard mode cannot run this network: shapes depend on data, or nodes work on the host (control flow, strings, sequences); run it "
        "without");
  return plan_of(std::move(graph));
}

Result<SegmentPlan> SegmentModel::make_sharded(const std::vector<Tensor>& inputs, Team& team, BatchParallel& batch_parallel) {
  SegmentPlan prepared;
  prepared.batch = batch_parallel.batch_of(inputs);
  std::map<int64_t, std::shared_ptr<const Plan>> plan_of_rows{{0, nullptr}};  // two at most: counts differ by one
  for (size_t g = 0; g < batch_parallel.groups.size(); ++g) {
    const int64_t rows = rows_of(prepared.batch, g, batch_parallel.groups.size()).count();
    if (g == 0 || !plan_of_rows.count(rows)) {  // an empty batch is the first group's
      SV_ASSIGN(plan_of_rows[rows], plan_rows(inputs, rows, batch_parallel));
    }
    prepared.plans.push_back(plan_of_rows[rows]);
  }
  SV_TRY(pack_weights(team, batch_parallel.groups.front().team));
  for (size_t i = 0; i < inputs.size(); ++i) prepared.run_inputs.push_back(i);
  for (size_t i = 0; i < prepared.plans[0]->outputs.size(); ++i)
    prepared.outputs.push_back({OutputSource::Kind::table, inputs.size() + i});
  find_targets(prepared, inputs.size());
  return prepared;
}

Result<std::shared_ptr<const Plan>> SegmentModel::plan_of(Graph graph, Recompute recompute, WeightStore& weights) const {
  PassContext context = pass_context(shared_.kernels);
  context.recompute = recompute;
  if (shared_.optimize) SV_TRY(run_pipeline(graph, context, Stage::plan));
  else SV_TRY(make_runnable(graph, context));
  return make_plan(graph, shared_.kernels, weights, shared_.lowering);
}

Result<int64_t> SegmentModel::planned_bytes(const std::vector<Dims>& inputs, Recompute recompute) const {
  const std::lock_guard lock(shared_.planning);
  if (forgotten_) {
    const SegmentPlan& only = *plans_.front();
    if (only.plans.empty() || only.host || only.rest) return 0;
    if (recompute == shared_.recompute) return only.plans.front()->arena_bytes;
    return error(
        "the network was planned for its only shapes and given back; ask for another recomputation before the first run");
  }
  SV_ASSIGN(Graph graph, specialize(graph_, inputs, {}, pass_context(shared_.kernels)));
  if (!is_plannable(graph)) return 0;
  WeightStore weights;  // nothing is packed
  SV_ASSIGN(const std::shared_ptr<const Plan> plan, plan_of(std::move(graph), recompute, weights));
  return plan->arena_bytes;
}

/// Who packs is who first touches: `packing` are the first threads of `all`, and in shard mode the others copy from them.
Status SegmentModel::pack_weights(Team& all, Team& packing) {
  WeightStore& weights = shared_.weights;
  if (!weights.pending()) return {};
  const auto run = [&](const auto& body) {
    return all.run([&](int thread) {
      if (thread < packing.threads()) body(thread);
    });
  };
  if (weights.begin_check()) {
    SV_TRY(run([&](int thread) { weights.check(thread, packing.threads()); }));
    SV_TRY(weights.end_check());
  }
  SV_TRY(weights.begin_pack());
  SV_TRY(run([&](int thread) {
    const FloatMode exact(false);  // equal forms whatever the caller's mode
    weights.pack(thread, packing.threads(), [&] { packing.barrier().wait(thread); });
  }));
  weights.end_pack();
  if (shared_.cache) shared_.cache->save(all);
  return {};
}

void SegmentModel::forget_graph_if_done() {
  const auto fixed = [](const Value* v) { return v->type.shape.is_static(); };
  const bool by_shape_only = std::none_of(needs_value_.begin(), needs_value_.end(), [](bool needs) { return needs; });
  // What is left of the weights then is what the plan reads.
  if (by_shape_only && std::all_of(graph_.inputs().begin(), graph_.inputs().end(), fixed)) {
    graph_ = Graph();
    forgotten_ = true;
  }
}

Result<std::shared_ptr<const SegmentPlan>> SegmentModel::plan_for(const std::vector<Tensor>& inputs, Team& team,
                                                                  BatchParallel* batch_parallel) {
  std::string key = key_of(inputs, batch_parallel);
  const std::lock_guard lock(shared_.planning);
  const auto it = std::find_if(plans_.begin(), plans_.end(), [&](const auto& p) { return p->key == key; });
  if (it != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, it);
    return plans_.front();
  }
  SV_ASSIGN(SegmentPlan made, batch_parallel ? make_sharded(inputs, team, *batch_parallel) : make(inputs, team));
  made.key = std::move(key);
  for (const std::shared_ptr<const Plan>& plan : made.plans)
    if (plan) made.bytes += own_bytes(*plan);
  plans_.push_front(std::make_shared<const SegmentPlan>(std::move(made)));
  drop_old_plans(plans_, [](const auto& p) { return p->bytes; });
  return plans_.front();
}

void SegmentModel::find_targets(SegmentPlan& prepared, size_t inputs) {
  prepared.run_targets.assign(prepared.plans.front()->outputs.size(), SegmentPlan::kNone);
  for (size_t o = prepared.outputs.size(); o-- > 0;) {
    const OutputSource& source = prepared.outputs[o];
    if (source.kind != OutputSource::Kind::table || source.index < inputs) continue;
    if (const size_t i = source.index - inputs; i < prepared.run_targets.size()) prepared.run_targets[i] = o;
  }
}

Result<SegmentModel*> BodyModels::model_of(const Subgraph& body, const SegmentModel::Shared& shared) {
  const std::lock_guard lock(mutex_);
  if (const auto known = bodies_.find(body.get()); known != bodies_.end()) return known->second.model.get();
  Graph graph = body->clone();
  if (!shared.optimize) SV_TRY(round_every_node(graph, pass_context(shared.kernels)));  // the load stage has not been there
  std::vector<bool> needs_value(body->inputs().size(), false);
  auto model = std::make_unique<SegmentModel>(std::move(graph), std::move(needs_value), shared, true);
  return bodies_.emplace(body.get(), Body{body, std::move(model)}).first->second.model.get();
}

}  // namespace svengine
