#include "engine/ops/tensor/pad_common.h"

namespace svengine::ops {

kernels::PadMode pad_mode(const Attributes& attributes) {
  const std::string mode = attributes.get_string("mode", "constant");
  if (mode == "reflect") return kernels::PadMode::kReflect;
  if (mode == "edge") return kernels::PadMode::kEdge;
  return mode == "wrap" ? kernels::PadMode::kWrap : kernels::PadMode::kConstant;
}

Result<Pads> planned_pads(const LowerContext& c, int64_t rank) {
  SV_ASSIGN(std::optional<Pads> pads, read_pads(c.node(), rank));
  if (!pads) return error("inputs 1 (pads) and 3 (axes) are not known when the node is planned");
  return *std::move(pads);
}

}  // namespace svengine::ops
