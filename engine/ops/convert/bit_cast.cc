// BitCast: the same bits as elements of another type of as many bits.
#include "engine/base/round.h"
#include "engine/ops/convert/small_cast_common.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

constexpr int64_t kBitCastBlock = 1 << 16;  // bytes of a task

int bits_of(DType type) { return packed_bits(type) < 8 ? packed_bits(type) : static_cast<int>(size_of(type)) * 8; }

Status infer_bit_cast(InferContext& c) {
  SV_ASSIGN(const DType to, dtype_attribute(c.attributes(), "to", DType::undefined, kStoredTypes));
  SV_TRY(require_dtype(c, 0, kStoredTypes));
  if (bits_of(c.dtype(0)) != bits_of(to))
    return error("{} has {} bits, {} has {}; needs as many", name_of(c.dtype(0)), bits_of(c.dtype(0)), name_of(to), bits_of(to));
  c.set(0, to, c.shape(0));
  return {};
}

Status lower_bit_cast(LowerContext& c) {
  const DType to = c.out_type().dtype;
  const int64_t bytes = element_count(c.out_dims()) * static_cast<int64_t>(size_of(to));
  c.emit("bit_cast", ceil_div(bytes, kBitCastBlock), [=, in = c.in(0), out = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
    const int64_t first = begin * kBitCastBlock, last = std::min(bytes, end * kBitCastBlock);
    const uint8_t* from = run.get<const uint8_t>(in);
    uint8_t* result = run.get<uint8_t>(out);
    if (to == DType::boolean) {
      for (int64_t i = first; i < last; ++i) result[i] = from[i] != 0;
    } else if (packed_bits(to) < 8) {
      for (int64_t i = first; i < last; ++i) result[i] = unpacked(to, from[i]);
    } else if (first < last) {
      std::memcpy(result + first, from + first, static_cast<size_t>(last - first));
    }
    return nullptr;
  });
  return {};
}

}  // namespace

OpDef define_bit_cast() {
  return {
      .name = "BitCast",
      .since = 26,
      .inputs = "input",
      .attributes = {{"to", AttributeKind::kInt, true}},
      .infer = infer_bit_cast,
      .lower = lower_bit_cast,
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .traits = {.is_identity = [](const Node& node) { return node.input(0)->type.dtype == node.output()->type.dtype; }},
      .samples = "(float32[3, 37]) {to = 6}"
                 "(int64[65] -9 to 9) {to = 11}"
                 "(uint16[5] 0 to 9) {to = 5}"
                 "(uint8[2, 3] 0 to 3) {to = 9}",
  };
}

}  // namespace svengine::ops
