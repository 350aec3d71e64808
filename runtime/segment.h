// One context's side of a segment: the memory and times of its runs. What it shares with other contexts is in segment_model.h.
// Internal to the session.
#pragma once
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/output_memory.h"
#include "runtime/segment_model.h"
#include "runtime/session.h"
#include "runtime/team_run.h"

namespace svengine {

class Bodies;

/// One run at a time.
class Segment {
 public:
  struct Shared {  // the context's
    Team& team;
    BatchParallel* batch_parallel;  // null: all threads share every step
    Bodies& bodies;
    RunMemory* memory;          // of all plans; null: see below
    RunMemory& data_dependent;  // of plans behind a cut and in bodies: new ones come with the data, whose pages must not
    OutputMemory& outputs;
  };

  /// The model must outlive this.
  Segment(SegmentModel& model, Shared shared) : model_(model), shared_(shared) {}

  Status prepare(const std::vector<Tensor>& inputs);
  /// `output_buffers`: as in Session::run_into.
  Result<std::vector<Tensor>> run(std::vector<Tensor> inputs, bool profile, const std::vector<MutableTensor>& output_buffers = {});

  /// The run of a network that is one plan, output by output, when it is prepared for these inputs; else null. It is good until the next
  /// call of run() or prepare().
  Result<TeamRun*> single_run(const std::vector<Tensor>& inputs);

  void collect_plans(std::vector<std::shared_ptr<const Plan>>& plans) const;
  void collect_profile(std::vector<ProfileRow>& rows) const;
  PageKind page_kind() const;

 private:
  struct Prepared {
    std::shared_ptr<const SegmentPlan> plan;
    std::unique_ptr<TeamRun> run;      // null: nothing is planned
    int64_t own_bytes = 0;             // of an arena that no other plan uses
    std::vector<int64_t> host_times;
    std::unique_ptr<Segment> rest;     // null: nothing follows
  };
  using Table = std::vector<Tensor>;
  using Buffers = std::vector<MutableTensor>;

  Result<Prepared*> find_or_make(const std::vector<Tensor>& inputs);
  Result<Prepared> make(const std::vector<Tensor>& inputs);
  Status run_plan(Prepared& prepared, Table& table, const Buffers& buffers, bool profile);
  Status run_host(Prepared& prepared, Table& table, bool profile);

  SegmentModel& model_;
  Shared shared_;
  std::list<Prepared> prepared_;  // most recently used first
};

/// The bodies of control flow that a context has run.
class Bodies {
 public:
  explicit Bodies(BodyModels& models) : models_(models) {}
  Result<Segment*> segment_of(const Subgraph& body, const SegmentModel::Shared& network, const Segment::Shared& context);

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Segment* s : in_order_) visit(*s);
  }

 private:
  BodyModels& models_;
  std::unordered_map<const SegmentModel*, std::unique_ptr<Segment>> segments_;
  std::vector<const Segment*> in_order_;  // of their first runs
};

}  // namespace svengine
