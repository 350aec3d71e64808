// A network that any number of sessions run at once: optimised, its weights packed, its plans kept by the shapes they are for.
//
//     CompiledModel   graph, plans, packed weights      made once; whoever runs it reads the same bytes
//        │  │  └──── Session   team, arenas, bindings   one of every caller: session.h
//        │  └─────── Session
//        └────────── Session
//
// The first session that brings new shapes plans for them, and packs what weights are new; the others find the plan. That is the only
// time at which sessions wait for each other: what runs again with shapes that it has seen takes no lock.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/graph/passes/pass.h"
#include "engine/plan/plan.h"
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
  /// Of nodes that draw numbers and have no seed of their own: a session of the same model, kernels and inputs draws the same numbers, run by run,
  /// where no other runs beside it. None: no two sessions do.
  std::optional<uint64_t> seed = {};
  /// For graphs with a backward pass.
  Recompute recompute = Recompute::none;
  /// A folder for packed weights, which a later start then need not pack: weight_cache.h. Empty: none is kept.
  std::string cache;
  /// Pages for all plans of sessions of which no two run at the same time: for who makes many, one after the other. Null: each has its own.
  std::shared_ptr<RunMemory> memory = nullptr;
};

class BodyModels;
class SegmentModel;
class WeightCache;
struct CacheReport;

/// Thread-safe.
class CompiledModel {
 public:
  /// Takes an imported graph and runs the load passes. Of `options` those of the context (topology, flush_denormals, shard, memory) only say
  /// with how many threads the files of a cache are read.
  static Result<std::shared_ptr<CompiledModel>> create(Graph graph, SessionOptions options);
  ~CompiledModel();

  /// A declared input or output; dimensions may be symbolic.
  struct Port {
    std::string name;
    Type type;
  };
  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  const kernels::KernelTable& kernels() const { return *kernels_; }
  /// What the cache has done so far: weight_cache.h.
  CacheReport cache_report() const;

  // For sessions.
  SegmentModel& root() const { return *root_; }
  BodyModels& bodies() const { return *bodies_; }

 private:
  CompiledModel() = default;
  std::vector<Port> inputs_, outputs_;
  const kernels::KernelTable* kernels_ = nullptr;
  mutable std::mutex planning_;
  std::unique_ptr<WeightStore> weights_;
  std::unique_ptr<WeightCache> cache_;  // null: none
  std::unique_ptr<BodyModels> bodies_;
  std::unique_ptr<SegmentModel> root_;
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
