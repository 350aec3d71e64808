// NumPy arrays as data sets: every array one field, its first dimension the samples.
#pragma once
#include "runtime/dataset/dataset.h"

namespace svengine {

struct ArrayFile {
  std::string field;  // empty: "data" for the first of several files, "label" for the second, "data3" and so on
  std::string path;   // a .npy file, or any other tensor file of importers/tensor
};

struct ArrayOptions {
  /// The field that holds labels: made int64 [] and checked as in make_labels. Empty: "label", "labels", "y", "target" or
  /// "targets", if one of these is there with integers of rank 1 (or [N, 1]).
  std::string label = {};
  int64_t classes = 0;
};

/// One array a file. Files in this machine's order are mapped, not read.
Result<DataSetPtr> open_arrays(const std::vector<ArrayFile>& files, const ArrayOptions& options = {});

/// All arrays of an archive, in memory; the fields have the arrays' names.
Result<DataSetPtr> open_npz(const std::string& path, const ArrayOptions& options = {});

}  // namespace svengine
