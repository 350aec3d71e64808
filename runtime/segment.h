// Part of a network whose shapes can be decided at one time, and what follows it. Internal to the session.
#pragma once
#include <list>
#include <map>
#include <string>

#include "runtime/session.h"
#include "runtime/team_run.h"

namespace svengine {

/// Where an input of the following segment comes from: an input of this one, or an output of this one's plan.
struct BoundarySource {
  bool from_input = false;
  size_t index = 0;
};

struct SplitGraph {
  Graph prefix;                          // all shapes concrete
  Graph rest;
  std::vector<BoundarySource> sources;   // one for every input of rest
  std::vector<bool> rest_needs_value;    // which of them decide shapes
};

/// Cuts a graph whose shapes are not all concrete. Fails when no progress is possible, naming the node in the way.
Result<SplitGraph> split_at_unknown_shapes(const Graph& graph);

bool all_shapes_known(const Graph& graph);

class Segment {
 public:
  struct Shared {  // the session's
    Team& team;
    const kernels::KernelTable& kernels;
    WeightStore& weights;
    LowerOptions lowering;
    bool optimize;       // false: the plan stage of the passes is left out
    Recompute recompute;
    BatchParallel* batch_parallel;      // null: all threads share every step
    WeightCache* cache;  // null: none
  };

  /// `needs_value[i]`: input i is a constant when this segment is planned.
  Segment(Graph graph, std::vector<bool> needs_value, Shared shared)
      : graph_(std::move(graph)), needs_value_(std::move(needs_value)), shared_(shared) {}

  Status prepare(const std::vector<Tensor>& inputs);
  /// `output_buffers`: as in Session::run_into.
  Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs, bool profile, const std::vector<MutableTensor>& output_buffers = {});

  /// Session::planned_bytes.
  Result<int64_t> planned_bytes(const std::vector<Dims>& inputs, Recompute recompute) const;

  void collect_plans(std::vector<std::shared_ptr<const Plan>>& plans) const;
  void collect_profile(std::vector<ProfileRow>& rows) const;
  PageKind page_kind() const;

 private:
  struct Prepared {
    std::string key;
    std::unique_ptr<TeamRun> run;
    std::unique_ptr<Segment> rest;        // null: this plan's outputs are the segment's
    std::vector<BoundarySource> sources;
    std::vector<bool> bound_inputs;       // plan inputs by segment input (constants are not plan inputs)
  };

  std::string key_of(const std::vector<Tensor>& inputs) const;
  Result<Prepared*> find_or_make(const std::vector<Tensor>& inputs);
  Result<Prepared> make(const std::vector<Tensor>& inputs);
  Result<Prepared> make_sharded(const std::vector<Tensor>& inputs);
  Result<std::shared_ptr<const Plan>> plan_rows(const std::vector<Tensor>& inputs, int64_t rows);
  Result<std::shared_ptr<const Plan>> plan_of(Graph graph) const {
    return plan_of(std::move(graph), shared_.recompute, shared_.weights);
  }
  Result<std::shared_ptr<const Plan>> plan_of(Graph graph, Recompute recompute, WeightStore& weights) const;
  Status pack_weights();
  void forget_graph_if_done();

  static constexpr size_t kMostPlans = 16;  // least recently used ones go: each holds an arena

  Graph graph_;  // empty when no other plan can ever be asked for
  bool forgotten_ = false;  // it is, and the only plan is prepared_'s
  std::vector<bool> needs_value_;
  Shared shared_;
  std::list<Prepared> prepared_;  // most recently used first
};

}  // namespace svengine
