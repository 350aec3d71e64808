// svengine.ReshapeLike: input 0's elements under the shape of input 1. Gradients of Reshape and its kin are made of it.
#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"

namespace svengine::ops {
namespace {

Status infer_reshape_like(InferContext& c) {
  SV_ASSIGN(Shape shape, like_shape(c, 1));
  const Shape& in = c.shape(0);
  if (in.has_rank() && shape.has_rank()) {
    const Dim have = product(in, 0, in.dims().size()), want = product(shape, 0, shape.dims().size());
    if (known_different(have, want))
      return error("shape {} has {} elements, {} has {}", to_string(in), have.value(), to_string(shape), want.value());
  }
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Status reshape_like_gradient(GradientContext& c) {
  c.set(0, c.reshape_to(c.dy(), c.input(0)));
  return {};
}

}  // namespace

OpDef define_reshape_like() {
  return {
      .name = "ReshapeLike",
      .domain = kInternalDomain,
      .inputs = "data, like?",
      .attributes = {shape_attribute()},
      .infer = infer_reshape_like,
      .gradient = reshape_like_gradient,
      .traits = {.is_view = true, .shape_only_input = 1},
      .samples = "(float32[2, 3, 4], float32[4, 6])"
                 "(float32[12]) {shape = [3, 4]}",
  };
}

}  // namespace svengine::ops
