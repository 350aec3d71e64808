// The manifest of one checkpoint: a text file that says what the data file beside it must hold.
//
//   svengine checkpoint 1
//   model resnet50,%20161%20tensors,%200123456789abcdef
//   fact step 1200
//   tensor conv1.weight float32 64x3x7x7 0 37632 8d1c2f0e5b6a7984     name, type, shape, offset, bytes, XXH64
//   data 37632                                                        bytes of the data file
//   end 5f0c6b1d2e3a4958                                              XXH64 of all lines above
//
// Bytes up to the blank, '%' and 0x7f are written %XX. The order of the lines is fixed, tensors lie in the data file one after
// another without gaps, and nothing follows the last line: a manifest has one valid form, and any other is refused.
#pragma once
#include <vector>

#include "engine/base/dtype.h"
#include "engine/base/shape.h"
#include "runtime/checkpoint/metadata.h"

namespace svengine {

struct ManifestTensor {
  std::string name;
  DType type = DType::undefined;
  Dims dims;
  uint64_t offset = 0, bytes = 0, hash = 0;
};

struct Manifest {
  std::string model;
  CheckpointMetadata metadata;
  std::vector<ManifestTensor> tensors;
  uint64_t data_bytes = 0;
};

std::string write_manifest(const Manifest& manifest);

/// The manifest, or an error; `too_new`, if given, is set where the format is a later one.
Result<Manifest> parse_manifest(std::string_view text, bool* too_new = nullptr);

}  // namespace svengine
