// ImageDecoder: the bytes of an image file as pixels [height, width, channels]. What stb cannot decode (TIFF, WebP, JPEG 2000) is
// refused. Pixels of a JPEG are rounded as stb does, which is not bit for bit as libjpeg-turbo.
#include <algorithm>

#include "engine/base/image_decode.h"
#include "engine/graph/evaluate_context.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

Status infer_image_decoder(InferContext& c) {
  SV_TRY(require_dtype(c, 0, {DType::u8}));
  SV_TRY(require_rank(c, 0, 1));
  const std::string format = c.attributes().get_string("pixel_format", "RGB");
  if (format != "RGB" && format != "BGR" && format != "Grayscale")
    return error("pixel_format is '{}', needs RGB, BGR or Grayscale", format);
  c.set(0, DType::u8, Shape{Dim(), Dim(), Dim(format == "Grayscale" ? 1 : 3)});
  return {};
}

Status evaluate_image_decoder(EvaluateContext& c) {
  const std::string format = c.attributes().get_string("pixel_format", "RGB");
  Result<Pixels> decoded =
      decode_image({c.input(0).raw(), c.input(0).byte_size()}, format == "Grayscale" ? 1 : 3, ImageFormats::all);
  if (!decoded.ok()) return std::move(decoded).error().in("the encoded stream");
  Pixels& pixels = *decoded;
  if (format == "BGR")
    for (size_t i = 0; i + 2 < pixels.data.size(); i += 3) std::swap(pixels.data[i], pixels.data[i + 2]);
  c.set(0, Tensor::of<uint8_t>({pixels.height, pixels.width, pixels.channels}, std::span<const uint8_t>(pixels.data)));
  return {};
}

}  // namespace

OpDef define_image_decoder() {
  return {
      .name = "ImageDecoder",
      .since = 20,
      .inputs = "encoded_stream",
      .attributes = {{"pixel_format", AttributeKind::kString, false, "RGB"}},
      .infer = infer_image_decoder,
      .evaluate = evaluate_image_decoder,
  };
}

}  // namespace svengine::ops
