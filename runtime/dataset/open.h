// Opens whatever a path holds: what `--data` of a command line needs.
//
//   a directory with       train-images-*ubyte(.gz)              MNIST and its successors
//                          data_batch_1.bin, or train.bin        CIFAR-10, CIFAR-100
//                          train/ and val/ (or test/)            folders of images by class, in two parts
//                          folders of images                     by class, one part: the split does not matter
//   a file                 .npz .npy                             arrays; of a rank-1 .npy of integers, a stream of tokens
//                          .txt .tok .ids                        tokens, a sequence a line; a stream where options say so
//   two paths, "a,b"       .npy,.npy or images,labels            arrays; IDX
#pragma once
#include "importers/image/image.h"
#include "runtime/dataset/dataset.h"
#include "runtime/dataset/text.h"

namespace svengine {

struct DataSetOptions {
  Split split = Split::train;
  int64_t classes = 0;      // 0: as the format or the labels say
  std::string label = {};   // of arrays: the field of labels
  ImageOptions image = {};  // of folders of images: resizing and cropping
  TokenOptions tokens = {};
  bool token_stream = false;  // text is one stream rather than lines
};

/// The error says what was looked for. `path` as above.
Result<DataSetPtr> open_dataset(const std::string& path, const DataSetOptions& options = {});

}  // namespace svengine
