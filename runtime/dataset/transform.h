// What happens to an image between the data set and the network: crop, flip, normalise.
//
//   [C, H, W] uint8 or float32                           float32 [C, crop height, crop width]
//   +-----------------+   0 0 0 0 0 0    crop at a
//   |                 |   0 +-----+ 0    random place     y = (x * scale - mean[c]) / std[c]
//   |      image      | > 0 |     | 0 >  of the padded  > left and right exchanged with probability 1/2
//   |                 |   0 +-----+ 0    image
//   +-----------------+   0 0 0 0 0 0
//
// The padding is zero before normalisation, as in torchvision's RandomCrop before ToTensor and Normalize.
#pragma once
#include "engine/base/random.h"
#include "runtime/dataset/dataset.h"

namespace svengine {

struct ImageTransformOptions {
  std::string field = "image";
  int64_t pad = 0;                          // pixels on each of the four sides
  int64_t crop_height = 0, crop_width = 0;  // 0: as large as the image without padding
  bool random_crop = false;                 // false: from the centre, rounded towards the top left
  bool random_flip = false;
  float scale = 0;                         // 0: 1/255 for uint8, 1 for float32
  std::vector<float> mean = {}, std = {};  // after scaling; one for each channel, one for all, or none: 0 and 1
};

/// Immutable; any number of threads may apply one.
class ImageTransform {
 public:
  /// `input` is the data set's field. Refuses other types and ranks, crops that do not fit, and deviations not above 0.
  static Result<ImageTransform> create(const ImageTransformOptions& options, const Field& input);

  /// float32, with the shape after cropping.
  const Field& output() const { return output_; }

  /// `random` belongs to this sample in this epoch alone; equal streams make equal choices. Neither pointer needs alignment.
  void apply(const std::byte* in, const RandomStream& random, std::byte* out) const;

 private:
  struct Window {
    int64_t top, left;  // of the crop, in the unpadded image: may be negative
    bool flip;
  };
  Window choose(const RandomStream& random) const;
  template <class T>
  void copy(const std::byte* in, const Window& window, std::byte* out) const;

  ImageTransformOptions options_;
  Field input_, output_;
  std::vector<float> table_;  // of uint8 input: [C, 256], the normalised values
};

}  // namespace svengine
