#include "engine/ops/tensor/cumulative_common.h"

#include "engine/graph/axes.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {

Status infer_cumulative(InferContext& c) {
  SV_TRY(require_single(c, 1));
  SV_TRY(require_rank_at_least(c, 0, 1));
  const auto axis = c.integers(1);
  if (axis && c.shape(0).has_rank()) SV_TRY(normalise_axis(axis->at(0), c.shape(0).rank()));
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

Result<Cumulation> cumulation_of(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  if (!c.constant(1)) return error("input 1 (axis) is not known when the node is planned");
  SV_ASSIGN(const int64_t axis, normalise_axis(c.constant(1)->as_int64s().at(0), static_cast<int64_t>(dims.size())));
  const std::span<const int64_t> all(dims);
  const auto a = static_cast<size_t>(axis);
  return Cumulation{element_count(all.first(a)), dims[a], element_count(all.subspan(a + 1)),
                    c.attributes().get_int("exclusive") != 0, c.attributes().get_int("reverse") != 0};
}

}  // namespace svengine::ops
