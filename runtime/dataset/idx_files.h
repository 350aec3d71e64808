// MNIST and its successors: IDX files of images and labels, plain or gzipped.
//
//   <dir>/train-images-idx3-ubyte(.gz)  <dir>/train-labels-idx1-ubyte(.gz)  and the same with t10k for the test images
#pragma once
#include "runtime/dataset/dataset.h"

namespace svengine {

/// Fields: image [1, H, W] from [N, H, W], or [C, H, W] from [N, C, H, W], of the file's type; label int64 []. `classes` as in
/// make_labels. The whole set is in memory.
Result<DataSetPtr> open_idx(const std::string& images, const std::string& labels, int64_t classes = 0);

/// The four files of MNIST by their usual names ("-idx3-ubyte" or ".idx3-ubyte", with or without .gz); 10 classes unless told.
Result<DataSetPtr> open_mnist(const std::string& directory, Split split, int64_t classes = 10);

/// Whether the images of that part are there.
bool is_mnist(const std::string& directory, Split split);

}  // namespace svengine
