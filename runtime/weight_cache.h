// The cache of packed weights on disk (--cache DIR, SessionOptions::cache): a second start maps what the first one packed.
//
//   DIR/<model>-<kernel set>-<build>.packed    the layouts of one model's constants: engine/plan/packed_file.h
//   DIR/<the same>.part                        one being written
//   DIR/seen                                   identities of model files that were read: runtime/file_hash_cache.h
//
// <model> is the hash of the content of every file that weights are mapped from, and of all other constants; <build> that of the
// engine's sources, compiler and flags (cmake/SvengineBuildId.cmake). So another model, another kernel set, another build is another
// file. A layout in the file is known by its constant (place in the model's file, or content), kind, sizes and scale, so that other
// options (--exact-convolution) and shapes ask for other layouts. What a session packs because the file lacks it is added.
//
// A wrong weight would be the worst that can happen:
//   - The model's file is read and hashed, unless its identity proves that it is the one hashed before: seen_files.h says when.
//   - Before layouts are written, the model's files are hashed once more: they may have changed while they were packed.
//   - Every layout is hashed before it is used, by all threads; a damaged one is packed again in its place and written anew.
//   - A file is written under its .part name, flushed, and renamed: nobody sees a part of one. The .part file is also the lock: who
//     cannot create it leaves the work to its owner, so of a thousand processes that start together one writes. A writer that
//     died leaves it behind; after 10 minutes without a write it counts for nothing.
//   - Nothing is ever changed in a file that others may have mapped, and nothing is listed: two files are opened by name.
//
// The cache never makes a run fail: what goes wrong with it is said in the report. It is proof against accidents, not malice: who
// may write to DIR decides what networks compute; and hashes tell models from each other that nobody has built to be mixed up.
// Everything in DIR may be deleted at any time, also while it is in use; files of models and programs that are no more stay until
// somebody does. A file that is cut off or written over while it is mapped has its users die or compute nonsense, as with any
// mapped file, the model's own included; the cache itself never does that.
//
// Mapped weights lie where the page cache has them: in base pages, on the memory node of the thread that first read them since the
// file left memory, or that wrote them. Packed ones lie in huge pages, each on the node of a thread that packed it. On one node
// that is no difference to speak of. With four core groups (A64FX) and one team for all, the weights of a cached start may all come
// from one group's memory, so what runs long should start without the cache, or in shard mode: there every group has its own copy
// in its own memory, made at the start from the cached layouts instead of the packed ones.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "runtime/executor.h"

namespace svengine {

struct CacheReport {
  std::string file;           // empty: no cache is in use
  std::string problem;        // what is wrong with the cache, in one line; empty: nothing
  bool model_read = false;    // its file had to be read to know its content
  bool written = false;       // the file is new, or has been added to
  WeightStore::CacheCounts layouts;
};

class WeightCache {
 public:
  /// Looks for what there is on the constants of `graph` and gives it to `store`. `folder` is made when it is missing. `team` hashes.
  WeightCache(const std::string& folder, const Graph& graph, std::string_view kernel_set, Team& team, WeightStore& store);

  /// Writes what the store has packed since the last call, if anything. A failure is the last attempt.
  void save(Team& team);

  CacheReport report() const;

 private:
  Status open(const std::string& folder, const Graph& graph, std::string_view kernel_set, Team& team);
  Status identify(const std::string& seen_path, const Graph& graph, Team& team);
  Result<std::vector<Hash128>> read_sources(const std::vector<size_t>& which, Team& team) const;
  Status write(const std::vector<WeightStore::PackedWeight>& made, Team& team);

  WeightStore& store_;
  std::vector<std::shared_ptr<const void>> sources_;  // the model's files
  std::vector<Hash128> contents_;                     // of them, when they were opened
  Hash128 model_, key_;
  int64_t repaired_ = 0;  // damaged layouts that are right again in the file
  CacheReport report_;
  bool usable_ = false;
};

}  // namespace svengine
