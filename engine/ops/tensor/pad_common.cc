#include "engine/ops/tensor/pad_common.h"

#include "engine/ops/axes.h"

namespace svengine::ops {

Result<Pads> pads_by_axis(std::span<const int64_t> pads, const std::optional<std::vector<int64_t>>& axes, int64_t rank) {
  Pads out{std::vector<int64_t>(static_cast<size_t>(rank)), std::vector<int64_t>(static_cast<size_t>(rank))};
  std::vector<int64_t> which;
  if (axes) {
    SV_ASSIGN(which, normalise_axes(*axes, rank));
  } else {
    for (int64_t i = 0; i < rank; ++i) which.push_back(i);
  }
  if (pads.size() != 2 * which.size()) return error("{} pads, needs two for each of {} axes", pads.size(), which.size());
  for (size_t i = 0; i < which.size(); ++i) {
    out.before[static_cast<size_t>(which[i])] = pads[i];
    out.after[static_cast<size_t>(which[i])] = pads[which.size() + i];
  }
  for (int64_t p : pads)
    if (p > (int64_t{1} << 48) || p < -(int64_t{1} << 48)) return error("pad {} is out of range", p);
  return out;
}

kernels::PadMode pad_mode(const Attributes& attributes) {
  const std::string mode = attributes.get_string("mode", "constant");
  if (mode == "reflect") return kernels::PadMode::kReflect;
  if (mode == "edge") return kernels::PadMode::kEdge;
  return mode == "wrap" ? kernels::PadMode::kWrap : kernels::PadMode::kConstant;
}

Result<Pads> known_pads(const LowerContext& c, int64_t rank) {
  if (!c.constant(1)) return error("input 1 (pads) is not known when the node is planned");
  std::optional<std::vector<int64_t>> axes;
  if (c.has_input(3)) {
    if (!c.constant(3)) return error("input 3 (axes) is not known when the node is planned");
    axes = c.constant(3)->as_int64s();
  }
  return pads_by_axis(c.constant(1)->as_int64s(), axes, rank);
}

}  // namespace svengine::ops
