// Packed weights: the forms in which kernels read constants, made once and shared by all plans of a session.
//
//   get() while a plan is made    memory is reserved, nothing is read       pending: [tensor, form] [tensor, form] ...
//   pack() by the whole team      thread t fills its share of every form    reading the model file where it lies
//                                 and then gives the file's pages back      so that weights are in memory once
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/tensor.h"
#include "engine/ops/lowering.h"

namespace svengine {

/// Used by one thread at a time, except pack().
class WeightStore {
 public:
  /// The bytes of `tensor` in a form; null when memory is out. Their content is there after the next pack().
  std::shared_ptr<const std::byte> get(const Tensor& tensor, Packing packing);

  bool pending() const { return !jobs_.empty(); }

  /// Before pack(): memory for intermediate copies. Fails when there is none.
  Status begin_pack();
  /// Called by every one of `threads` threads at once; `barrier` lets all of them meet. Which thread fills what is also who
  /// first touches it: the memory comes from that thread's own node.
  void pack(int thread, int threads, const std::function<void()>& barrier);
  /// Only when pack() has run: until then the forms stay pending.
  void end_pack();

  /// All of it in the calling thread.
  Status pack_alone();

 private:
  struct Job {
    Tensor tensor;
    Packing packing;
    std::shared_ptr<std::byte> packed;
    bool through_copy() const;
  };
  struct Entry {
    std::weak_ptr<const void> original;  // expired: the address may since belong to another tensor
    std::shared_ptr<const std::byte> packed;
  };
  std::map<std::pair<const std::byte*, std::string>, Entry> entries_;
  std::vector<Job> jobs_;
  std::shared_ptr<std::byte> copy_;
};

}  // namespace svengine
