// StringConcat: strings of two tensors, one behind the other, with NumPy's broadcasting.
#include "engine/ops/broadcast.h"
#include "engine/ops/host_tensor.h"
#include "engine/ops/text/text_common.h"

namespace svengine::ops {
namespace {

Status infer_string_concat(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kStringType));
  SV_TRY(require_dtype(c, 1, kStringType));
  SV_ASSIGN(Shape out, broadcast_inputs(c));
  c.set(0, DType::string, std::move(out));
  return {};
}

Status evaluate_string_concat(EvaluateContext& c) {
  SV_ASSIGN(const Shape shape, broadcast(Shape::of(c.input(0).dims()), Shape::of(c.input(1).dims())));
  const Dims out = *shape.concrete();
  SV_TRY(check_room_for_strings(out));
  const std::vector<int64_t> x_strides = broadcast_strides(c.input(0).dims(), out),
                             y_strides = broadcast_strides(c.input(1).dims(), out);
  const auto x = c.input(0).strings(), y = c.input(1).strings();
  std::vector<std::string> result(static_cast<size_t>(element_count(out)));
  for (size_t i = 0; i < result.size(); ++i) {
    int64_t at_x = 0, at_y = 0, rest = static_cast<int64_t>(i);
    for (size_t d = out.size(); d-- > 0; rest /= out[d]) {
      at_x += rest % out[d] * x_strides[d];
      at_y += rest % out[d] * y_strides[d];
    }
    result[i] = x[static_cast<size_t>(at_x)] + y[static_cast<size_t>(at_y)];
  }
  c.set(0, Tensor::of_strings(out, std::move(result)));
  return {};
}

}  // namespace

OpDef define_string_concat() {
  return {
      .name = "StringConcat", .since = 20, .inputs = "X, Y", .infer = infer_string_concat, .evaluate = evaluate_string_concat};
}

}  // namespace svengine::ops
