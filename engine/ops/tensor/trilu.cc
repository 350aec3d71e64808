// Trilu: the upper or lower triangle of the last two dimensions, zero elsewhere. k moves the diagonal to the right.
#include <algorithm>

#include "engine/graph/gradient.h"
#include "engine/kernels/data.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

Status infer_trilu(InferContext& c) {
  SV_TRY(require_rank_at_least(c, 0, 2));
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_single(c, 1));
  c.set(0, c.dtype(0), c.shape(0));
  return {};
}

Status lower_trilu(LowerContext& c) {
  const Dims dims = c.in_dims(0);
  kernels::TriluArgs args;
  args.element_bytes = static_cast<int32_t>(size_of(c.out_type().dtype));
  args.upper = c.attributes().get_int("upper", 1) != 0;
  args.columns = dims.back();
  args.rows = dims[dims.size() - 2];
  args.batch = element_count(std::span<const int64_t>(dims).first(dims.size() - 2));
  emit_kernel(c, "trilu", c.kernels().data->trilu, args, [in = c.in(0), k = c.in(1), out = c.out()](kernels::TriluArgs& a, const Run& run) {
    a.x = run.get<void>(in);
    a.y = run.get<void>(out);
    // Beyond the matrix every k does the same; clamped, it cannot overflow.
    if (k) a.k = std::clamp(*run.get<int64_t>(k), -a.rows - 1, a.columns + 1);
  });
  return {};
}

Status trilu_gradient(GradientContext& c) {
  std::vector<Value*> inputs{c.dy()};
  if (c.input(1)) inputs.push_back(c.input(1));
  c.set(0, c.op("Trilu", std::move(inputs), c.attributes()));
  return {};
}

}  // namespace

OpDef define_trilu() {
  return {
      .name = "Trilu",
      .since = 14,
      .inputs = "input, k?",
      .attributes = {{"upper", AttributeKind::kInt, false, 1}},
      .infer = infer_trilu,
      .lower = lower_trilu,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"k", DTypeSet{DType::i64}, {1}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = trilu_gradient,
      .traits = {.moves_elements = always, .may_overwrite = true},
      .samples = "(float32[5, 7])"
                 "(float32[2, 4, 3], int64[]{-1}) {upper = 0}"
                 "(int64[6, 6], int64[]{2})",
  };
}

}  // namespace svengine::ops
