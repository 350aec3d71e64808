#include "engine/ops/like.h"

namespace svengine::ops {

AttributeDef shape_attribute() { return {"shape", AttributeKind::integers}; }

Result<Shape> like_shape(const InferContext& c, size_t input) {
  if (const auto* dims = c.attributes().get<std::vector<int64_t>>("shape")) {
    SV_TRY(check_dims(*dims));
    return Shape::of(*dims);
  }
  if (!c.has_input(input)) return error("needs attribute 'shape' or input {}, whose shape it takes", input);
  return c.shape(input);
}

}  // namespace svengine::ops
