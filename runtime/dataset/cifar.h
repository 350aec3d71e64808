// CIFAR-10 and CIFAR-100 in their binary version (cs.toronto.edu/~kriz/cifar.html): records without a header.
//
//   CIFAR-10    label | 3072 pixels                  data_batch_1.bin .. data_batch_5.bin, test_batch.bin
//   CIFAR-100   coarse label, fine label | 3072      train.bin, test.bin
//   pixels: 32 rows of 32, first all red, then green, then blue
#pragma once
#include "runtime/dataset/dataset.h"

namespace svengine {

enum class Cifar { ten, hundred, hundred_coarse };  // the last: the 20 coarse labels

/// Fields: image uint8 [3, 32, 32]; label int64 []. The files one after another, all in memory. Every label is checked.
Result<DataSetPtr> open_cifar(const std::vector<std::string>& files, Cifar kind);

/// The files by their usual names, CIFAR-10's or CIFAR-100's; class names from batches.meta.txt or *_label_names.txt if there.
Result<DataSetPtr> open_cifar_directory(const std::string& directory, Split split, bool coarse = false);

/// Whether files of one of the two are there.
bool is_cifar(const std::string& directory, Split split);

}  // namespace svengine
