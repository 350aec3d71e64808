// Which samples make up which batch: a pure function of the options and of the batch's place in training.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "engine/base/status.h"

namespace svengine {

/// A place between two batches: so many whole epochs, and so many batches of the next, are done. It is all that a checkpoint has
/// to keep of a loader.
struct LoaderPosition {
  int64_t epoch = 0, batch = 0;
  friend bool operator==(const LoaderPosition&, const LoaderPosition&) = default;
};

struct OrderOptions {
  int64_t batch = 32;    // samples
  bool shuffle = false;  // each epoch in an order of its own, made of seed and epoch alone
  uint64_t seed = 0;
  bool drop_last = false;  // leaves out the last batch of an epoch if it is not full; otherwise it comes, smaller
};

/// Thread-safe.
class BatchOrder {
 public:
  /// Refuses batches below 1, and data sets smaller than a batch with drop_last: there would be no batch at all.
  static Result<std::shared_ptr<BatchOrder>> create(int64_t samples, const OrderOptions& options);

  int64_t batches_per_epoch() const { return batches_; }
  /// Samples that an epoch delivers.
  int64_t samples_per_epoch() const { return std::min(samples_, batches_ * options_.batch); }
  LoaderPosition after(LoaderPosition at) const;
  /// Refuses places that do not exist: negative ones and batches beyond the epoch.
  Status check(LoaderPosition at) const;
  /// The data set's indices of the batch's samples.
  std::vector<int64_t> samples_of(LoaderPosition at) const;

 private:
  BatchOrder(int64_t samples, const OrderOptions& options, int64_t batches)
      : samples_(samples), options_(options), batches_(batches) {}
  std::shared_ptr<const std::vector<int64_t>> shuffled(int64_t epoch) const;

  struct Epoch {
    int64_t number = -1;
    std::shared_ptr<const std::vector<int64_t>> order;
  };
  int64_t samples_;
  OrderOptions options_;
  int64_t batches_;
  mutable std::mutex mutex_;
  mutable Epoch kept_[2];  // even and odd epochs: loading ahead crosses from one into the next
};

}  // namespace svengine
