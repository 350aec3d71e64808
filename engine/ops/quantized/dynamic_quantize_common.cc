#include "engine/ops/quantized/dynamic_quantize_common.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/quantized.h"
#include "engine/ops/kernel_step.h"

namespace svengine::ops {

void emit_dynamic_quantize(LowerContext& c, Buffer x, int64_t count, Buffer y, Buffer scale, Buffer zero) {
  const kernels::QuantizedKernels* kernels = c.kernels().quantized;
  kernels::QuantizedRangeArgs range;
  range.count = count;
  const int64_t parts = kernels->range.tasks(range);
  const Buffer low = c.temporary(std::max<int64_t>(parts, 1) * 4), high = c.temporary(std::max<int64_t>(parts, 1) * 4);
  emit_kernel(c, "range", kernels->range, range, [=](kernels::QuantizedRangeArgs& a, const Run& run) {
    a.x = run.get<const float>(x), a.low = run.get<float>(low), a.high = run.get<float>(high);
  });
  c.emit("quantized_scales", 1, [=](const Run& run, int64_t, int64_t) -> const char* {
    float lowest = 0, highest = 0;
    for (int64_t i = 0; i < parts; ++i)
      lowest = std::min(lowest, run.get<const float>(low)[i]), highest = std::max(highest, run.get<const float>(high)[i]);
    const float step = highest == lowest ? 1.0f : (highest - lowest) / 255.0f;
    *run.get<float>(scale) = step;
    const float offset = std::nearbyint(std::min(std::max(-lowest / step, 0.0f), 255.0f));
    *run.get<uint8_t>(zero) = std::isnan(offset) ? uint8_t{0} : static_cast<uint8_t>(offset);
    return nullptr;
  });
  kernels::QuantizeArgs args;
  args.count = count;
  emit_kernel(c, "quantize", kernels->quantize, args, [=](kernels::QuantizeArgs& a, const Run& run) {
    a.x = run.get<const float>(x), a.y = run.get<void>(y), a.scale = run.get<const float>(scale), a.zero = run.get<const void>(zero);
  });
}

}  // namespace svengine::ops
