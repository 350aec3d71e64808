// What `svengine train` learns from: a data set, which of its fields is which input of the network, and batches in that order.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "importers/image/image.h"
#include "runtime/dataset/loader.h"
#include "runtime/train/run.h"

namespace svengine::tool {

struct DataOptions {
  std::string data;                 // open_dataset()
  std::string validate;             // another path, or "test": the part of `data` that is held out
  double hold_out = 0;              // > 0: this share of `data` instead
  std::vector<std::string> fields;  // INPUT=FIELD; the target's is target=FIELD
  std::string augment;              // crop=4,flip
  std::vector<float> mean, std;     // of pixels
  int64_t batch = 32;
  int64_t tokens = 0;  // > 0: text is one stream, cut into samples of so many tokens
  int64_t resize = 0;  // > 0: of folders of images: to this height and width
  bool drop_last = false, skip_bad = false, in_order = false;
  int threads = 1;  // that load
  uint64_t seed = 1;
};

class TrainingData {
 public:
  /// Opens everything and matches fields with the network's inputs: by --field, by name, and the rest in order. Errors say what
  /// fields and inputs there are, and what would fit.
  static Result<TrainingData> open(const DataOptions& options, const Trainer& trainer);

  Loader& training() { return *training_; }
  /// Null: nothing is held out.
  Loader* held_out() { return held_out_.get(); }
  const DataSet& set() const { return *set_; }

  /// What of the batch is the network's data and target.
  TrainingBatch feed(const Batch& batch) const;
  /// "60000 samples of image uint8[1x28x28], label int64[scalar]".
  std::string describe() const;

 private:
  Status match(const DataOptions& options, const Trainer& trainer);
  DataSetPtr set_;
  std::unique_ptr<Loader> training_, held_out_;
  std::vector<size_t> data_fields_;  // by input of the network
  size_t target_field_ = 0;
};

/// A loader's batches, as a run takes them; `data` and `loader` must outlive it. `bad` says what became of samples that cannot be
/// read.
class LoaderBatches final : public BatchSource {
 public:
  LoaderBatches(const TrainingData& data, Loader& loader, const char* bad) : data_(data), loader_(loader), bad_(bad) {}
  int64_t batches_per_epoch() const override { return loader_.batches_per_epoch(); }
  EpochPosition position() const override;
  Status seek(EpochPosition to) override { return loader_.seek({to.epoch, to.batch}); }
  Result<TrainingBatch> next() override;

 private:
  const TrainingData& data_;
  Loader& loader_;
  const char* bad_;
};

}  // namespace svengine::tool
