// A folder of images for each class, as ImageNet is usually kept and as torchvision's ImageFolder reads it:
//
//   <dir>/cat/1.png  <dir>/cat/more/2.jpeg  <dir>/dog/3.jpg      classes: cat 0, dog 1
//
// Classes and files are sorted by their bytes, so the numbers do not depend on the file system.
#pragma once
#include "importers/image/image.h"
#include "runtime/dataset/dataset.h"

namespace svengine {

struct ImageFolderOptions {
  /// Resizing and cropping; channels. What these leave open (no exact size, no crop) the first image decides, and every other
  /// must then have its size. Pixels are delivered as uint8, planes first; scaling is the loader's work.
  ImageOptions image;
};

/// Fields: image uint8 [C, H, W]; label int64 []. Opening reads the directories and one image; the others are read when they are
/// asked for, and one that does not decode is an error of read() that names it. Files that end neither in .png, .jpg nor
/// .jpeg are passed over, and so are names that begin with a dot. Links to files and to class folders are followed, links to
/// folders further down are not. Refused: no class, a class without images, more than 2^27 files, depth above 16.
Result<DataSetPtr> open_image_folder(const std::string& directory, const ImageFolderOptions& options = {});

/// Whether there is at least one folder with at least one image directly in it.
bool is_image_folder(const std::string& directory);

}  // namespace svengine
