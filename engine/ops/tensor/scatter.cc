// Scatter: ScatterElements' old name, until opset 10.
#include "engine/graph/op_registry.h"
#include "engine/ops/tensor/scatter_common.h"

namespace svengine::ops {

OpDef define_scatter_elements();

namespace {

Status canonicalize_scatter(CanonicalizeContext& c) {
  c.graph().set_op(&c.node(), *c.ops().find("", "ScatterElements"));
  return {};
}

}  // namespace

OpDef define_scatter() {
  OpDef op = define_scatter_elements();
  op.name = "Scatter";
  op.since = 9;
  op.until = 10;
  for (AttributeDef& a : op.attributes) a.internal = a.name == std::string_view("reduction");
  op.canonicalize = canonicalize_scatter;
  op.types = {{"T", kAllTypes, {0, 2}}, {"Tind", kIndexTypes, {1}}};
  return op;
}

}  // namespace svengine::ops
