// svengine.Reorder: between the plain and the channel-blocked storage of a float32 value of rank 3 to 5. Attribute block: channels of
// a block in the output, 0 for plain; channels_last: the plain value is [N, spatial.., C], as a Transpose would make it. Padding lanes are
// written 0.
#include "engine/graph/blocked_rank.h"
#include "engine/kernels/data.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"

namespace svengine::ops {
namespace {

bool is_channels_last(const Attributes& attributes) { return attributes.get_int("channels_last") != 0; }

Status infer_reorder(InferContext& c) {
  SV_TRY(require_dtype(c, 0, {DType::f32}));
  if (const Shape& x = c.shape(0); !is_blocked_rank(x.rank())) return error("x {} is of rank {}, needs 3 to 5", to_string(x), x.rank());
  const int block = static_cast<int>(c.attributes().get_int("block"));
  const Shape& in = c.shape(0);
  Shape out = in;
  if (is_channels_last(c.attributes())) {
    const size_t last = in.dims().size() - 1;
    for (size_t i = 1; i < last; ++i) out.set(block > 0 ? i + 1 : i, in[block > 0 ? i : i + 1]);
    out.set(block > 0 ? 1 : last, in[block > 0 ? last : 1]);
  }
  c.set(0, Type{DType::f32, std::move(out), block});
  return {};
}

Status lower_reorder(LowerContext& c) {
  const bool to_blocked = c.out_type().block > 0;
  const Dims dims = to_blocked ? c.out_dims() : c.in_dims(0);
  if (to_blocked == (c.in_type(0).block > 0)) return error("a reorder between equal layouts");
  kernels::ReorderArgs args;
  args.batch = dims[0];
  args.channels = dims[1];
  args.spatial = element_count(std::span(dims).subspan(2));
  args.plain_batch_stride = args.channels * args.spatial;
  args.channels_last = is_channels_last(c.attributes());
  const auto& kernel = to_blocked ? c.kernels().data->to_blocked : c.kernels().data->from_blocked;
  emit_kernel(c, to_blocked ? "to_blocked" : "from_blocked", kernel, args, [in = c.in(0), out = c.out()](kernels::ReorderArgs& a, const Run& run) {
    a.src = run.get<const float>(in);
    a.dst = run.get<float>(out);
  });
  return {};
}

}  // namespace

OpDef define_reorder() {
  return {
      .name = "Reorder",
      .domain = kInternalDomain,
      .inputs = "x",
      .attributes = {{"block", AttributeKind::kInt, true}, {"channels_last", AttributeKind::kInt, false, 0}},
      .infer = infer_reorder,
      .lower = lower_reorder,
      .blocked = {.mode = BlockedMode::converts},
  };
}

}  // namespace svengine::ops
