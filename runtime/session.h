// One caller's context of a network: its threads and memory. What it computes with is compiled_model.h, optimised once, planned once for
// every set of input shapes.
//
//   Graph ──load passes──> Segment ──specialise──> Prepared { plan, memory }      one for every set of input shapes
//                                        └─ shapes that depend on data, nodes that are evaluated on the host: what comes before
//                                           is planned, these nodes follow, and the rest is a Segment of its own, whose needed
//                                           values are constants when its turn comes
//   body of an If, Loop, ... ──────────> Segment of the node
#pragma once
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compiled_model.h"
#include "runtime/executor.h"
#include "runtime/output_memory.h"

namespace svengine {

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

/// What one caller decides for itself; the others are decided with the model. SessionOptions says what they mean.
struct SessionContext {
  Topology topology;
  bool flush_denormals = true;
  bool shard = false;
  std::shared_ptr<RunMemory> memory = nullptr;
};

/// A caller's tensor, as a call sees it: dense, row-major, aligned to its elements.
struct ConstBinding {
  DType type = DType::undefined;
  std::span<const int64_t> dims;
  const void* data = nullptr;
};
struct Binding {
  DType type = DType::undefined;
  std::span<const int64_t> dims;
  void* data = nullptr;
};

class Bodies;
class Segment;
class TeamRun;
struct BatchParallel;

/// Not thread-safe: one run at a time. Independent sessions may run at once.
class Session {
 public:
  /// Takes an imported graph and runs the load passes: a model and its only session.
  static Result<std::unique_ptr<Session>> create(Graph graph, SessionOptions options = {});
  /// Another session of a model. It shares the plans and packed weights, not the arenas; in shard mode every group but the first has copies.
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<CompiledModel> model, SessionContext options = {});
  ~Session();

  using Port = CompiledModel::Port;
  /// Declared inputs and outputs, in order.
  const std::vector<Port>& inputs() const { return model_->inputs(); }
  const std::vector<Port>& outputs() const { return model_->outputs(); }

  /// Refuses tensors that do not fit: wrong count, type, rank, size, or two sizes for one symbol.
  Status check_inputs(const std::vector<Tensor>& inputs) const;

  /// Plans for these inputs (whose values matter only where shapes depend on them); a later run with the same shapes is steady.
  Status prepare(const std::vector<Tensor>& inputs);

  /// Runs; inputs in the order of inputs(), outputs in the order of outputs(). `profile` adds to the session's profile. Memory of outputs that the
  /// caller has let go by the next run is that run's.
  Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs, bool profile = false);

  /// The same; outputs for which `output_buffers` has a tensor, of their type and shape, are written there. A place may be an input's storage
  /// if the node that computes the output works element by element on that input, and no node after it reads that input.
  Result<std::vector<Tensor>> run_into(const std::vector<Tensor>& inputs, const std::vector<MutableTensor>& output_buffers,
                                       bool profile = false);

  /// The call of a program's inner loop: results go where `outputs` says, which has one for every output. One without data gets memory of
  /// this session, its type and shape, good until the next call; where it has a type, these have to be as it says. Again with the types and
  /// shapes of the last call, of a network that is one plan, it costs what the steps cost: it allocates nothing and takes no lock. After an
  /// error the outputs' content is undefined.
  Status call(std::span<const ConstBinding> inputs, std::span<Binding> outputs);

  /// Whether call() fails because of these very arguments: for who has to tell that from a failing node.
  bool refuses(std::span<const ConstBinding> inputs, std::span<const Binding> outputs) const;

  /// Bytes of the arena that a plan for inputs of these shapes would have; 0 where shapes depend on data. Refuses shapes as run()
  /// does; and, of a network of fixed shapes that has run, another recomputation than the session's: its graph is given back by
  /// then.
  Result<int64_t> planned_bytes(const std::vector<Dims>& inputs, Recompute recompute) const;

  /// The plans made so far, the most recent run's first.
  std::vector<std::shared_ptr<const Plan>> plans() const;
  std::vector<ProfileRow> profile() const;
  const kernels::KernelTable& kernels() const { return model_->kernels(); }
  const Team& team() const { return *team_; }
  /// Memory of the session's own in which the last call() left an output.
  bool owns(const void* data) const;
  /// What the run memory got, for `svengine info` and reports.
  std::string page_report() const;
  /// What the cache has done so far: weight_cache.h.
  CacheReport cache_report() const;

 private:
  Session() = default;
  bool is_steady(std::span<const ConstBinding> inputs) const;
  Status make_steady(const std::vector<Tensor>& inputs);
  Status call_steady(std::span<const ConstBinding> inputs, std::span<Binding> outputs);
  Status call_in_parts(const std::vector<Tensor>& inputs, std::span<Binding> outputs);

  /// What the last call found, so that the next one with the same shapes need not look for it.
  struct Steady {
    TeamRun* run = nullptr;  // null: unknown, or no single plan
    std::vector<std::pair<DType, Dims>> inputs;
    std::vector<MutableTensor> own;   // memory for outputs that the caller has none for
    std::vector<Tensor> results;      // of networks that are no single plan
  };

  std::shared_ptr<CompiledModel> model_;
  std::unique_ptr<Team> team_;
  std::shared_ptr<RunMemory> memory_;  // null: none but the plans' own
  std::unique_ptr<BatchParallel> batch_parallel_;
  std::unique_ptr<Bodies> bodies_;
  std::unique_ptr<RunMemory> data_dependent_;  // of plans whose shapes depend on data
  OutputMemory output_memory_;
  std::unique_ptr<Segment> root_;
  Steady steady_;
};

}  // namespace svengine
