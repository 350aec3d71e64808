#include "engine/ops/vision/roi_common.h"


namespace svengine::ops {

std::vector<AttributeDef> roi_align_attributes() {
  return {{"mode", AttributeKind::kString, false, "avg"},
          {"coordinate_transformation_mode", AttributeKind::kString, false, "half_pixel"},
          {"output_height", AttributeKind::kInt, false, 1},
          {"output_width", AttributeKind::kInt, false, 1},
          {"sampling_ratio", AttributeKind::kInt, false, 0},
          {"spatial_scale", AttributeKind::kFloat, false, 1.0f}};
}

Result<RoiRules> roi_rules(const Attributes& attributes) {
  constexpr int64_t kMostBins = 1 << 14;
  RoiRules rules;
  rules.rows = attributes.get_int("output_height", 1);
  rules.columns = attributes.get_int("output_width", 1);
  rules.sampling_ratio = attributes.get_int("sampling_ratio", 0);
  rules.scale = attributes.get_float("spatial_scale", 1);
  for (const auto& [name, value] : {std::pair("output_height", rules.rows), {"output_width", rules.columns}})
    if (value < 1 || value > kMostBins) return error("{} is {}, needs 1 to {}", name, value, kMostBins);
  if (rules.sampling_ratio < 0 || static_cast<double>(rules.sampling_ratio) > kMostBinSamples)
    return error("sampling_ratio is {}, needs 0 to {}", rules.sampling_ratio, kMostBinSamples);
  const std::string mode = attributes.get_string("mode", "avg"),
                    coordinates = attributes.get_string("coordinate_transformation_mode", "half_pixel");
  if (mode != "avg" && mode != "max") return error("mode is '{}', needs avg or max", mode);
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    return error("coordinate_transformation_mode is '{}', needs half_pixel or output_half_pixel", coordinates);
  rules.average = mode == "avg";
  rules.half_pixel = coordinates == "half_pixel";
  return rules;
}

Result<Shape> roi_output(const InferContext& c, size_t first, const RoiRules& rules) {
  SV_TRY(require_dtype(c, first + 1, {c.dtype(first)}));
  SV_TRY(require_dtype(c, first + 2, {DType::i64}));
  SV_TRY(require_rank(c, first, 4));
  SV_TRY(require_rank(c, first + 1, 2));
  SV_TRY(require_rank(c, first + 2, 1));
  const Shape &x = c.shape(first), &rois = c.shape(first + 1), &images = c.shape(first + 2);
  if (rois.has_rank() && known_different(rois[1], 4)) return error("rois {} need 4 columns: x1, y1, x2, y2", to_string(rois));
  if (rois.has_rank() && images.has_rank() && known_different(rois[0], images[0]))
    return error("{} batch indices for {} regions", images[0].value(), rois[0].value());
  if (x.has_rank() && product(x, 2, 4).is_static() && product(x, 2, 4).value() >= kMostSampled)
    return unimplemented("planes of X {} have more elements than the {} that can be addressed", to_string(x), kMostSampled);
  Dim regions = rois.has_rank() ? rois[0] : Dim();
  if (images.has_rank()) regions = merge(regions, images[0]);
  return Shape{regions, x.has_rank() ? x[1] : Dim(), rules.rows, rules.columns};
}

}  // namespace svengine::ops
