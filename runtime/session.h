// A network ready to run: optimised once, planned once for every set of input shapes.
//
//   Graph ──load passes──> Segment ──specialise──> Prepared { plan, memory }      one for every set of input shapes
//                                        └─ shapes that depend on data, nodes that are evaluated on the host: what comes before
//                                           is planned, these nodes follow, and the rest is a Segment of its own, whose needed
//                                           values are constants when its turn comes
//   body of an If, Loop, ... ──────────> Segment of the node
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/graph/passes/pass.h"
#include "engine/plan/plan.h"
#include "runtime/executor.h"
#include "runtime/topology.h"

namespace svengine {

struct RunMemory;

struct SessionOptions {
  Topology topology;                               // default: detect_topology(0)
  const kernels::KernelTable* kernels = nullptr;   // default: the best this processor can run
  bool flush_denormals = true;
  /// Convolutions sum the products themselves, never by Winograd's algorithm, which is faster and whose rounding errors are about
  /// ten times larger (kernels/conv.h).
  bool exact_convolution = false;
  /// False: no pass runs but what settles shapes, so that every node is computed by itself, as it stands in the file. Slow; for
  /// finding out which of the two a surprising result comes from, the network or its optimisation.
  bool optimize = true;
  /// The batch is cut and every core group computes its rows on its own copy of the weights: for throughput. The network has to
  /// treat the samples of a batch independently. Without effect on a machine of one group.
  bool shard = false;
  /// For graphs with a backward pass.
  Recompute recompute = Recompute::none;
  /// A folder for packed weights, which a later start then need not pack: weight_cache.h. Empty: none is kept.
  std::string cache;
  /// Pages for all plans of sessions of which no two run at the same time: for who makes many, one after the other. Null: each has its own.
  std::shared_ptr<RunMemory> memory = nullptr;
};

/// Memory for SessionOptions::memory. It grows to what the largest plan needs, and lives as long as this pointer or a session with it.
std::shared_ptr<RunMemory> keep_run_memory();

/// One step of a profile: times are sums over all runs, of the slowest thread (barrier included); in shard mode the first
/// group's, on its rows.
struct ProfileRow {
  std::string node, op, kernel;
  int64_t tasks = 0;
  int64_t nanoseconds = 0;
  Cost cost;
};

class Bodies;
class Segment;
class WeightCache;
struct CacheReport;
struct BatchParallel;

/// Not thread-safe: one run at a time. Independent sessions may run at once.
class Session {
 public:
  /// Takes an imported graph and runs the load passes.
  static Result<std::unique_ptr<Session>> create(Graph graph, SessionOptions options = {});
  ~Session();

  /// Declared inputs and outputs, in order; dimensions may be symbolic.
  struct Port {
    std::string name;
    Type type;
  };
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }

  /// Refuses tensors that do not fit: wrong count, type, rank, size, or two sizes for one symbol.
  Status check_inputs(const std::vector<Tensor>& inputs) const;

  /// Plans for these inputs (whose values matter only where shapes depend on them); a later run with the same shapes is steady.
  Status prepare(const std::vector<Tensor>& inputs);

  /// Runs; inputs in the order of inputs(), outputs in the order of outputs(). `profile` adds to the session's profile.
  Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs, bool profile = false);

  /// The same; outputs for which `output_buffers` has a tensor, of their type and shape, are written there. A place may be an input's storage
  /// if the node that computes the output works element by element on that input, and no node after it reads that input.
  Result<std::vector<Tensor>> run_into(const std::vector<Tensor>& inputs, const std::vector<MutableTensor>& output_buffers,
                                       bool profile = false);

  /// Bytes of the arena that a plan for inputs of these shapes would have; 0 where shapes depend on data. Refuses shapes as run()
  /// does; and, of a network of fixed shapes that has run, another recomputation than the session's: its graph is given back by
  /// then.
  Result<int64_t> planned_bytes(const std::vector<Dims>& inputs, Recompute recompute) const;

  /// The plans made so far, the most recent run's first.
  std::vector<std::shared_ptr<const Plan>> plans() const;
  std::vector<ProfileRow> profile() const;
  const kernels::KernelTable& kernels() const { return *options_.kernels; }
  const Team& team() const { return *team_; }
  /// What the run memory got, for `svengine info` and reports.
  std::string page_report() const;
  /// What the cache has done so far: weight_cache.h.
  CacheReport cache_report() const;

 private:
  Session() = default;
  std::vector<Port> inputs_, outputs_;
  SessionOptions options_;
  std::unique_ptr<Team> team_;
  std::unique_ptr<WeightStore> weights_;
  std::unique_ptr<WeightCache> cache_;  // null: none
  std::unique_ptr<BatchParallel> batch_parallel_;
  std::unique_ptr<Bodies> bodies_;
  std::unique_ptr<RunMemory> data_dependent_;  // of plans whose shapes depend on data
  std::unique_ptr<Segment> root_;
};

/// Fills in the best kernel set there is where none is chosen; an error where the processor runs none.
Status choose_kernels(SessionOptions& options);

/// The context in which a kernel set's passes run.
PassContext pass_context(const kernels::KernelTable& kernels);

/// A copy of the graph for concrete input shapes: types set, inferred and folded, no further pass run. Inputs named in
/// `constants` (may be empty tensors: not constant) become constants.
Result<Graph> specialize(const Graph& graph, const std::vector<Dims>& dims, const std::vector<Tensor>& constants,
                         const PassContext& context);

}  // namespace svengine
