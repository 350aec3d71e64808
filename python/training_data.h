// What svengine.train() learns from: arrays, or a data set that a path holds.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/dataset/loader.h"
#include "runtime/train/run.h"
#include "runtime/train/trainer.h"

namespace svengine::python {

/// Pairs of an input of the network, or "target", and the data's field for it.
using FieldNames = std::vector<std::pair<std::string, std::string>>;

/// `data`: a dict of arrays by name, row i of each being sample i, or a path as `svengine train --data` takes it, of which `split` is
/// meant. Labels that are integers of any width become int64. The arrays are borrowed, not copied, where they are contiguous.
DataSetPtr open_data(nanobind::handle data, Split split, const std::string& what);

struct BatchOptions {
  int64_t batch = 32;
  bool shuffle = true, drop_last = false;
  uint64_t seed = 1;
  int threads = 1;  // that load
  std::vector<float> mean, std;  // of pixels; images of bytes become float32 in any case
};

/// A data set's batches as a run takes them.
class DataBatches final : public BatchSource {
 public:
  /// Fields are found by `names`, then by the inputs' own names, and the target as "target", "label", "labels", "targets" or "y". The error
  /// says what fields and inputs there are.
  static Result<std::unique_ptr<DataBatches>> create(DataSetPtr set, const BatchOptions& options, const FieldNames& names, const Trainer& trainer);

  int64_t batches_per_epoch() const override { return loader_->batches_per_epoch(); }
  EpochPosition position() const override;
  Status seek(EpochPosition to) override { return loader_->seek({to.epoch, to.batch}); }
  Result<TrainingBatch> next() override;
  std::string describe() const { return loader_->describe(); }

 private:
  Status match(const FieldNames& names, const Trainer& trainer);

  std::unique_ptr<Loader> loader_;
  std::vector<size_t> data_fields_;  // by input of the network
  size_t target_field_ = 0;
};

}  // namespace svengine::python
