// Makes one batch row by row; rows may be filled by any threads in any order.
#pragma once
#include <optional>

#include "runtime/dataset/loader.h"

namespace svengine {

/// A batch in the making. Rows are disjoint memory, so filling different ones needs no lock.
struct OpenBatch {
  LoaderPosition position;
  std::vector<int64_t> samples;
  std::vector<Tensor> tensors;        // [rows, ..]
  std::vector<std::string> problems;  // for each row; empty: good
  std::vector<int64_t> skipped;       // for each row: samples that could not be read
};

/// Immutable but for the memory it keeps for later batches, which open() and the caller of it guard.
class BatchMaker {
 public:
  static Result<std::shared_ptr<BatchMaker>> create(DataSetPtr set, const LoaderOptions& options);

  const BatchOrder& order() const { return *order_; }
  const std::vector<Field>& fields() const { return fields_; }
  std::string describe() const;

  /// Takes memory for the batch; not thread-safe.
  Result<std::unique_ptr<OpenBatch>> open(LoaderPosition at);
  /// Reads and transforms one row. Thread-safe for different rows.
  void fill(OpenBatch& batch, size_t row) const;
  /// The finished batch, when every row was filled.
  Result<Batch> close(OpenBatch& batch) const;

 private:
  BatchMaker() = default;
  Result<Tensor> take_memory(size_t field, int64_t rows);
  Status read(const OpenBatch& batch, size_t row, int64_t sample) const;

  DataSetPtr set_;
  LoaderOptions options_;
  std::shared_ptr<BatchOrder> order_;
  std::vector<Field> fields_;
  std::optional<ImageTransform> transform_;
  size_t image_ = 0;                         // which field it is for
  std::vector<std::vector<Tensor>> memory_;  // by field: full batches' tensors, free when nobody else holds them
};

}  // namespace svengine
