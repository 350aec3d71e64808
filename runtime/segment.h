// Part of a network whose shapes can be decided at one time, and what follows it. Internal to the session.
#pragma once
#include <list>
#include <map>
#include <string>

#include "runtime/host_stage.h"
#include "runtime/session.h"
#include "runtime/split.h"
#include "runtime/team_run.h"

namespace svengine {

class Bodies;

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
    Bodies& bodies;
    RunMemory* memory;          // of all plans; null: see below
    RunMemory& data_dependent;  // of plans behind a cut: new ones come with the data, whose pages must not
    bool is_behind_cut = false;
  };

  /// `needs_value[i]`: input i is a constant when this segment is planned. `share_inputs`: outputs that are
  /// inputs or constants are not copied.
  Segment(Graph graph, std::vector<bool> needs_value, Shared shared, bool share_inputs = false)
      : graph_(std::move(graph)), needs_value_(std::move(needs_value)), shared_(shared), share_inputs_(share_inputs) {}

  Status prepare(const std::vector<Tensor>& inputs);
  /// `output_buffers`: as in Session::run_into.
  Result<std::vector<Tensor>> run(std::vector<Tensor> inputs, bool profile, const std::vector<MutableTensor>& output_buffers = {});

  /// Session::planned_bytes.
  Result<int64_t> planned_bytes(const std::vector<Dims>& inputs, Recompute recompute) const;

  void collect_plans(std::vector<std::shared_ptr<const Plan>>& plans) const;
  void collect_profile(std::vector<ProfileRow>& rows) const;
  PageKind page_kind() const;

 private:
  /// A plan, what is evaluated on the host behind it, and what follows; each may be absent. split.h has the table of values.
  struct Prepared {
    std::string key;
    std::unique_ptr<TeamRun> run;
    std::vector<size_t> run_inputs;     // places in the table, by input of the plan
    std::vector<size_t> run_targets;    // which output of the segment each of the plan's is, or kNone
    std::unique_ptr<HostStage> host;
    std::vector<size_t> host_inputs;
    std::unique_ptr<Segment> rest;
    std::vector<size_t> rest_inputs;
    std::vector<OutputSource> outputs;  // of the segment
  };
  static constexpr size_t kNone = SIZE_MAX;
  using Table = std::vector<Tensor>;
  using Buffers = std::vector<MutableTensor>;

  std::string key_of(const std::vector<Tensor>& inputs) const;
  Result<Prepared*> find_or_make(const std::vector<Tensor>& inputs);
  Result<Prepared> make(const std::vector<Tensor>& inputs);
  Result<Graph> split(Graph graph, const std::vector<size_t>& input_places, Prepared& prepared);
  static void find_targets(Prepared& prepared, size_t inputs);
  Status run_plan(Prepared& prepared, Table& table, const Buffers& buffers, bool profile);
  Status run_host(Prepared& prepared, Table& table, bool profile);
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
  bool share_inputs_;
  std::list<Prepared> prepared_;  // most recently used first
};

}  // namespace svengine
