// The engine's function of a byte: X of uint8 or int8 and a table of 256 results, as pass `byte_tables` makes it of real functions between
// DequantizeLinear and QuantizeLinear. int8 is looked up as the byte it is stored as.
#include "engine/graph/transposed_node.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/lowering.h"
#include "engine/ops/quantized/integer_product_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kTableBytes = 256;

Status infer_byte_table(InferContext& c) {
  SV_TRY(require_bytes(c, 0));
  SV_TRY(require_bytes(c, 1));
  if (c.shape(1).is_static() && element_count(*c.shape(1).concrete()) != kTableBytes)
    return error("the table is {}, needs {} elements", to_string(c.type(1)), kTableBytes);
  c.set(0, c.dtype(1), c.shape(0));
  return {};
}

Status lower_byte_table(LowerContext& c) {
  kernels::ByteTableArgs args;
  args.count = element_count(c.out_dims());
  emit_kernel(c, "byte_table", c.kernels().quantized->table, args,
              [x = c.in(0), table = c.in(1), y = c.out()](kernels::ByteTableArgs& a, const Run& run) {
                a.x = run.get<const uint8_t>(x), a.table = run.get<const uint8_t>(table), a.y = run.get<uint8_t>(y);
              });
  return {};
}

std::optional<TransposedNode> transposed_byte_table(const Node& node, const Permutation& perm) {
  return TransposedNode{.inputs = {perm, {}}, .outputs = {perm}, .attributes = node.attributes};
}

}  // namespace

OpDef define_byte_table() {
  return {
      .name = "ByteTable",
      .domain = kInternalDomain,
      .inputs = "X, table",
      .infer = infer_byte_table,
      .lower = lower_byte_table,
      .traits = {.may_overwrite = true, .reads_others_late = true, .transposed = transposed_byte_table},
      .samples = "(uint8[3, 5, 37] 0 to 256, uint8[256] 0 to 256)"
                 "(int8[70001] -128 to 128, uint8[1, 256] 0 to 256)"
                 "(uint8[129] 0 to 256, int8[256] -128 to 128)"
                 "(int8[] -128 to 128, int8[256] -128 to 128)"
                 "(uint8[3, 0] 0 to 256, uint8[256] 0 to 256)",
  };
}

}  // namespace svengine::ops
