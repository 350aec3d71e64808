#include "engine/ops/like.h"

#include "engine/ops/infer_util.h"

namespace svengine::ops {

AttributeDef shape_attribute() { return {"shape", AttributeKind::kInts}; }

Result<Shape> like_shape(const InferContext& c, size_t input) {
  if (const auto* dims = c.attributes().get<std::vector<int64_t>>("shape")) {
    if (c.has_input(input)) return error("has attribute 'shape' as well as {}, which says the same", c.described(input));
    SV_TRY(check_dims(*dims));
    return Shape::of(*dims);
  }
  if (!c.has_input(input)) return error("needs attribute 'shape' or {}, whose shape it takes", c.described(input));
  return c.shape(input);
}

Status require_shape(const InferContext& c, size_t input, const Shape& wanted) {
  if (!c.has_input(input)) return {};
  const Shape& is = c.shape(input);
  bool fits = !is.has_rank() || !wanted.has_rank() || is.rank() == wanted.rank();
  for (size_t i = 0; fits && is.has_rank() && wanted.has_rank() && i < is.dims().size(); ++i)
    fits = !known_different(is[i], wanted[i]);
  return fits ? Status() : error("{} is of shape {}, needs {}", c.described(input), to_string(is), to_string(wanted));
}

Status infer_gradient_like(InferContext& c, size_t input) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_ASSIGN(Shape shape, like_shape(c, input));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

bool keeps_type(const Node& node) {
  return node.input(0)->type.shape.is_static() && node.input(0)->type == node.output()->type;
}

}  // namespace svengine::ops
