// Packed weights: the layouts in which kernels read constants, made once and shared by all plans of a session.
//
//   get() while a plan is made    memory is reserved, nothing is read       pending: [tensor, layout] [tensor, layout] ...
//   pack() by the whole team      thread t fills its share of every layout    reading the model file where it lies
//                                 and then gives the file's pages back      so that weights are in memory once
//
// With a cache, get() first looks for the layout among those that an earlier start has left in a file (packed_file.h). One that is
// there is used where it is mapped. It needs no packing, and the constant is not read; but the team hashes it, and a layout whose
// hash is not the one written down is packed in its place:
//
//   get()  ──found──>  begin_check()  check() by the whole team  end_check()  ──damaged──┐
//          ──missing─────────────────────────────────────────────────────────────────────┴──>  pack()  ──>  take_packed()
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/tensor.h"
#include "engine/ops/lowering.h"
#include "engine/plan/packed_file.h"

namespace svengine {

/// Used by one thread at a time, except check() and pack().
class WeightStore {
 public:
  /// Before the first get(). `file`: layouts made earlier, of the same build and kernel set; may be null. `sources`: the mapped
  /// files whose content the file stands for; a constant in one of them is known by its place, any other by its content.
  void use_cache(std::shared_ptr<const PackedFile> file, std::vector<std::weak_ptr<const void>> sources);

  /// The bytes of `tensor` in a layout; null when memory is out. Their content is there after the next pack().
  std::shared_ptr<const std::byte> get(const Tensor& tensor, Packing packing);

  bool pending() const { return !jobs_.empty(); }

  /// False: no layout from the cache is pending, so there is nothing to check.
  bool begin_check();
  /// Called by every one of `threads` threads at once.
  void check(int thread, int threads) { hashes_.run(thread, threads); }
  /// What was damaged stays pending, to be packed.
  Status end_check();

  /// Before pack(), when everything is checked: memory for intermediate copies. Fails when there is none.
  Status begin_pack();
  /// Called by every one of `threads` threads at once; `barrier` lets all of them meet. Which thread fills what is also who
  /// first touches it: the memory comes from that thread's own node.
  void pack(int thread, int threads, const std::function<void()>& barrier);
  /// Only when pack() has run: until then the layouts stay pending.
  void end_pack();

  /// All of it in the calling thread, for a store without a cache.
  Status pack_alone();

  /// A layout that is not in the cache's file as it should be.
  struct PackedWeight {
    Hash128 key;
    std::shared_ptr<const std::byte> packed;
    size_t bytes;
  };
  /// Those packed since the last call; none without a cache.
  std::vector<PackedWeight> take_packed() { return std::exchange(packed_weights_, {}); }

  /// What became of the layouts that were asked for; zeros without a cache.
  struct CacheCounts {
    int64_t found = 0, found_bytes = 0, packed = 0, damaged = 0;
  };
  const CacheCounts& cache_counts() const { return counts_; }

 private:
  struct Job {
    Tensor tensor;
    Packing packing;
    std::shared_ptr<std::byte> packed;
    Hash128 key;                        // with a cache
    const PackedLayout* found = nullptr;  // there already, to be checked
    bool through_copy() const;
  };
  Hash128 form_key(const Tensor& tensor, const Packing& packing) const;
  struct Entry {
    std::weak_ptr<const void> original;  // expired: the address may since belong to another tensor
    std::shared_ptr<const std::byte> packed;
  };
  std::map<std::pair<const std::byte*, std::string>, Entry> entries_;
  std::vector<Job> jobs_;
  bool caching_ = false;
  std::shared_ptr<const PackedFile> file_;
  std::vector<std::weak_ptr<const void>> sources_;  // weak: they keep no mapping, but nobody else gets the same identity
  HashWork hashes_;
  std::vector<PackedWeight> packed_weights_;
  CacheCounts counts_;
  std::shared_ptr<std::byte> copy_;
};

}  // namespace svengine
