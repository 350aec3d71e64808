// Makes one batch row by row; rows may be filled by any threads in any order.
#pragma once
#include <mutex>
#include <optional>

#include "runtime/dataset/loader.h"

namespace svengine {

/// A batch in the making. Rows are disjoint memory, so filling different ones needs no lock.
struct OpenBatch {
  LoaderPosition position;
  std::vector<int64_t> samples;
  std::vector<MutableTensor> tensors;  // [rows, ..]
  std::vector<std::string> problems;   // for each row; empty: good
  std::vector<int64_t> skipped;        // for each row: samples that could not be read
};

/// Full batches' tensors that nobody holds, for later batches. A tensor comes back by itself when its last copy goes, in whatever
/// thread that is; the lock orders what that thread read before what is written next.
class BatchMemory {
 public:
  /// Keeps so many tensors of each field at most.
  BatchMemory(size_t fields, size_t most);

  /// One that came back, or a new one. `fields` and `dims` are always the same for a field.
  static Result<MutableTensor> take(const std::shared_ptr<BatchMemory>& memory, size_t field, DType type, const Dims& dims);

 private:
  void give_back(size_t field, MutableTensor tensor) noexcept;

  std::mutex mutex_;
  const size_t most_;
  std::vector<std::vector<MutableTensor>> free_;  // by field; with room for `most_`, so that giving back takes no memory
};

/// Immutable.
class BatchMaker {
 public:
  static Result<std::shared_ptr<BatchMaker>> create(DataSetPtr set, const LoaderOptions& options);

  const BatchOrder& order() const { return *order_; }
  const std::vector<Field>& fields() const { return fields_; }
  std::string describe() const;

  /// Takes memory for the batch.
  Result<std::unique_ptr<OpenBatch>> open(LoaderPosition at) const;
  /// Reads and transforms one row. Thread-safe for different rows.
  void fill(OpenBatch& batch, size_t row) const;
  /// The finished batch, when every row was filled.
  Result<Batch> close(OpenBatch& batch) const;

 private:
  BatchMaker() = default;
  Result<MutableTensor> take_memory(size_t field, int64_t rows) const;
  Status read(OpenBatch& batch, size_t row, int64_t sample) const;

  DataSetPtr set_;
  LoaderOptions options_;
  std::shared_ptr<BatchOrder> order_;
  std::vector<Field> fields_;
  std::optional<ImageTransform> transform_;
  size_t image_ = 0;                     // which field it is for
  std::shared_ptr<BatchMemory> memory_;  // of full batches
};

}  // namespace svengine
