// svengine.DropoutFactor: what training multiplies a value with to drop elements: 0 with probability `ratio`, else 1 / (1 -
// ratio), in the shape of input 1. Element i is a function of the seed, of the place, of the step (input 0) and of i alone, so
// neither threads nor history matter. It has no gradient: the product it goes into has.
#include <algorithm>

#include "engine/base/random.h"
#include "engine/base/round.h"
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/like.h"
#include "engine/ops/lowering.h"

namespace svengine::ops {
namespace {

constexpr int64_t kTask = 8192;  // elements: some microseconds, as random numbers cost several cycles each

Status infer_dropout_factor(InferContext& c) {
  SV_TRY(require_dtype(c, 0, {DType::i64}));
  SV_TRY(require_single(c, 0));
  const float ratio = c.attributes().get_float("ratio", 0.5f);
  if (!(ratio >= 0 && ratio < 1)) return error("ratio is {}, must be in [0, 1)", ratio);
  SV_ASSIGN(Shape shape, like_shape(c, 1));
  c.set(0, DType::f32, std::move(shape));
  return {};
}

Status lower_dropout_factor(LowerContext& c) {
  const int64_t count = element_count(c.out_dims());
  const float ratio = c.attributes().get_float("ratio", 0.5f), kept = 1 / (1 - ratio);
  const RandomStream stream = RandomStream(static_cast<uint64_t>(c.attributes().get_int("seed")))
                                  .at("dropout")
                                  .at(static_cast<uint64_t>(c.attributes().get_int("place")));
  c.emit("dropout_factor", ceil_div(count, kTask),
         [=, step = c.in(0), out = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
           const RandomStream now = stream.at(static_cast<uint64_t>(*run.get<const int64_t>(step)));
           const int64_t first = begin * kTask, last = std::min(end * kTask, count);
           const std::span<float> part(run.get<float>(out) + first, static_cast<size_t>(last - first));
           fill_uniform(now, static_cast<uint64_t>(first), 0, 1, part);
           for (float& x : part) x = x < ratio ? 0.0f : kept;
           return nullptr;
         });
  return {};
}

}  // namespace

OpDef define_dropout_factor() {
  return {
      .name = "DropoutFactor",
      .domain = kInternalDomain,
      .inputs = "step, like?",
      .attributes = {{"ratio", AttributeKind::kFloat},
                     {"seed", AttributeKind::kInt},
                     {"place", AttributeKind::kInt},
                     shape_attribute()},
      .infer = infer_dropout_factor,
      .lower = lower_dropout_factor,
      .gradient = zero_gradient,
      .traits = {.shape_only_input = 1},
      .samples = "(int64[]{3}, float32[3, 5003]) {ratio = 0.25, seed = 7}",
  };
}

}  // namespace svengine::ops
