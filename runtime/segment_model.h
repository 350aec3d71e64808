// What all contexts share of a segment: a part of a network whose shapes can be decided at one time, and the plans made of it.
// Internal to the session.
//
//     SegmentModel    graph, plans by input shapes, packed weights      one of a network, whoever runs it
//     Segment         arenas, bindings, times: segment.h                one of every context
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/graph/passes/pass.h"
#include "engine/plan/plan.h"
#include "runtime/host_stage.h"
#include "runtime/split.h"
#include "runtime/weight_cache.h"

namespace svengine {

struct BatchParallel;
class BodyModels;
class SegmentModel;

/// A plan, what is evaluated on the host behind it, and what follows; each may be absent. split.h has the table of values. Immutable.
struct SegmentPlan {
  std::string key;
  std::vector<std::shared_ptr<const Plan>> plans;  // none, one, or in shard mode one for every group; null: it has no rows
  int64_t batch = 0;                               // of shard mode
  std::vector<size_t> run_inputs;                  // places in the table, by input of the plan
  std::vector<size_t> run_targets;                 // which output of the segment each of the plan's is, or kNone
  std::shared_ptr<const HostStage> host;
  std::vector<size_t> host_inputs;
  std::shared_ptr<SegmentModel> rest;
  std::vector<size_t> rest_inputs;
  std::vector<OutputSource> outputs;  // of the segment
  static constexpr size_t kNone = SIZE_MAX;

  int64_t bytes = 0;  // about what it holds: steps, tables, and constants that only its shapes have

  /// Of the arenas that contexts run it on.
  int64_t run_bytes() const;
};

/// How many plans are kept, most recently used ones first, `bytes_of` each. Sentences of any length, and the trips of a loop whose number
/// decides a shape, come again and again in the same order: with one plan too few all of them are made anew each time, which takes ten
/// times as long as running them. So small plans are many; large ones, of which each holds an arena of its own, are few.
template <class Plans, class BytesOf>
void drop_old_plans(Plans& plans, const BytesOf& bytes_of) {
  constexpr size_t kAlways = 16, kMost = 512;
  constexpr int64_t kMostBytes = int64_t{64} << 20;
  int64_t bytes = 0;
  for (const auto& plan : plans) bytes += bytes_of(plan);
  while (plans.size() > kAlways && (plans.size() > kMost || bytes > kMostBytes)) {
    bytes -= bytes_of(plans.back());
    plans.pop_back();
  }
}

/// Thread-safe. Making a plan takes the network's lock; who keeps the SegmentPlan needs none.
class SegmentModel {
 public:
  struct Shared {  // the network's
    const kernels::KernelTable& kernels;
    WeightStore& weights;
    LowerOptions lowering;
    bool optimize;       // false: the plan stage of the passes is left out
    Recompute recompute;
    WeightCache* cache;  // null: none
    BodyModels& bodies;
    std::mutex& planning;  // held while plans are made and weights packed
    bool is_behind_cut = false;
  };

  /// `needs_value[i]`: input i is a constant when this segment is planned. `share_inputs`: outputs that are inputs or constants are not copied.
  SegmentModel(Graph graph, std::vector<bool> needs_value, Shared shared, bool share_inputs = false)
      : graph_(std::move(graph)), needs_value_(std::move(needs_value)), shared_(shared), share_inputs_(share_inputs) {}

  /// The plan for these inputs. `team` packs what weights it needs first. `batch_parallel`: of shard mode, else null.
  Result<std::shared_ptr<const SegmentPlan>> plan_for(const std::vector<Tensor>& inputs, Team& team, BatchParallel* batch_parallel);

  /// What tells plans for these inputs from others.
  std::string key_of(const std::vector<Tensor>& inputs, const BatchParallel* batch_parallel) const;

  /// Session::planned_bytes.
  Result<int64_t> planned_bytes(const std::vector<Dims>& inputs, Recompute recompute) const;

  const Shared& shared() const { return shared_; }

 private:
  Result<SegmentPlan> make(const std::vector<Tensor>& inputs, Team& team);
  Result<Graph> split(Graph graph, const std::vector<size_t>& input_places, SegmentPlan& prepared);
  static void find_targets(SegmentPlan& prepared, size_t inputs);
  Result<SegmentPlan> make_sharded(const std::vector<Tensor>& inputs, Team& team, BatchParallel& batch_parallel);
  Result<std::shared_ptr<const Plan>> plan_rows(const std::vector<Tensor>& inputs, int64_t rows, const BatchParallel& batch_parallel);
  Result<std::shared_ptr<const Plan>> plan_of(Graph graph) const { return plan_of(std::move(graph), shared_.recompute, shared_.weights); }
  Result<std::shared_ptr<const Plan>> plan_of(Graph graph, Recompute recompute, WeightStore& weights) const;
  Status pack_weights(Team& all, Team& packing);
  void forget_graph_if_done();

  Graph graph_;             // empty when no other plan can ever be asked for
  bool forgotten_ = false;  // it is, and the only plan is plans_'s
  std::vector<bool> needs_value_;
  Shared shared_;
  bool share_inputs_;
  std::list<std::shared_ptr<const SegmentPlan>> plans_;  // most recently used first
};

/// The bodies of control flow, each a segment that is made when it is first run and kept with the network. Thread-safe.
class BodyModels {
 public:
  /// The one segment of a body, whatever copies of its node there are in plans for different shapes.
  Result<SegmentModel*> model_of(const Subgraph& body, const SegmentModel::Shared& shared);

 private:
  struct Body {
    Subgraph graph;  // keeps its address from being another body's
    std::unique_ptr<SegmentModel> model;
  };
  std::mutex mutex_;
  std::unordered_map<const Graph*, Body> bodies_;
};

}  // namespace svengine
