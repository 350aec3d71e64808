// EyeLike: a matrix of the input's shape with ones on diagonal k (to the right when positive), zero elsewhere.
#include <cstring>

#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

Status infer_eye_like(InferContext& c) {
  SV_TRY(require_rank(c, 0, 2));
  DType type = c.dtype(0);
  if (c.attributes().has("dtype")) {
    SV_ASSIGN(type, dtype_attribute(c.attributes(), "dtype", type, kStoredTypes));
  }
  c.set(0, type, c.shape(0).has_rank() ? c.shape(0) : unknown_dims(2));
  return {};
}

Status lower_eye_like(LowerContext& c) {
  const Dims dims = c.out_dims();
  const int64_t columns = dims[1], k = c.attributes().get_int("k");
  const auto element = static_cast<int64_t>(size_of(c.out_type().dtype));
  const uint64_t one = element_bits(scalar_of(c.out_type().dtype, 1));
  const Buffer out = c.out();
  if (columns == 0) return {};
  c.emit("eye_like", dims[0], [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    for (int64_t r = begin; r < end; ++r) {
      std::byte* row = run.get<std::byte>(out) + r * columns * element;
      std::memset(row, 0, static_cast<size_t>(columns * element));
      if (k >= -r && k < columns - r) std::memcpy(row + (r + k) * element, &one, static_cast<size_t>(element));
    }
    return nullptr;
  });
  return {};
}

}  // namespace

OpDef define_eye_like() {
  return {
      .name = "EyeLike",
      .since = 9,
      .inputs = "input",
      .attributes = {{"dtype", AttributeKind::kInt}, {"k", AttributeKind::kInt, false, 0}},
      .infer = infer_eye_like,
      .lower = lower_eye_like,
      .types = {{"T1", kNumericTypes | kBool, {0}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = zero_gradient,
      .samples = "(float32[5, 7])"
                 "(float32[4, 3]) {dtype = 7, k = -1}"
                 "(int32[3, 3]) {k = 5}",
  };
}

}  // namespace svengine::ops
