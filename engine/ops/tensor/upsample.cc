// Upsample: Resize's predecessor, until opset 9.
#include "engine/graph/op_registry.h"
#include "engine/ops/tensor/resize_common.h"

namespace svengine::ops {

OpDef define_resize();

namespace {

Status upsample_to_resize(CanonicalizeContext& c) {
  Value* scales = c.node().input(1);
  if (const auto* given = c.attributes().get<std::vector<float>>("scales")) {
    scales = c.graph().add_constant(c.node().name() + ".scales",
                                    Tensor::of<float>({static_cast<int64_t>(given->size())}, std::span<const float>(*given)));
    c.attributes().erase("scales");
  }
  canonicalize_upsample(c, scales);
  c.graph().set_op(&c.node(), *c.ops().find("", "Resize"));
  return {};
}

}  // namespace

OpDef define_upsample() {
  OpDef op = define_resize();
  op.name = "Upsample";
  op.since = 1;
  op.until = 9;
  for (AttributeDef& a : op.attributes) a.internal = a.name != std::string_view("mode");
  op.canonicalize = upsample_to_resize;
  op.types = {{"T", kAllTypes, {0}}, {"scales", DTypeSet{DType::f32}, {1}}};
  return op;
}

}  // namespace svengine::ops
