// Data sets that are in memory: every field one tensor of all samples.
#pragma once
#include "engine/base/tensor.h"
#include "runtime/dataset/dataset.h"

namespace svengine {

struct FieldTensor {
  std::string name;
  Tensor tensor;  // [samples, ..]; shared, and not to be changed while the data set lives
};

/// Sample i is row i of every tensor. Refuses no tensors, no rows, numbers of rows that do not agree, and two of one name.
Result<DataSetPtr> make_tensor_data_set(const std::vector<FieldTensor>& fields, int64_t classes = 0,
                                        std::vector<std::string> class_names = {});

struct Labels {
  Tensor tensor;  // int64[samples]
  int64_t classes = 0;
};

/// Integers of any width and rank 1 (or [N, 1]) as labels. They must be in 0 .. classes-1; with classes 0, none may be negative
/// and the largest says how many classes there are. The error names the first sample that is wrong.
Result<Labels> make_labels(const Tensor& tensor, int64_t classes);

}  // namespace svengine
