// DynamicQuantizeLinear: uint8 with scale and zero point from the data's own range, 0 included. Where all data are 0 the scale is 1.
#include <cmath>

#include "engine/base/round.h"
#include "engine/ops/quantize/quantize_common.h"
#include "engine/ops/samples.h"

namespace svengine::ops {
namespace {

constexpr int64_t kRangeBlock = 1 << 14;  // elements of a task

Status infer_dynamic_quantize_linear(InferContext& c) {
  SV_TRY(require_dtype(c, 0, "x", {DType::f32}));
  c.set(0, DType::u8, c.shape(0));
  c.set(1, DType::f32, Shape{std::vector<Dim>{}});
  c.set(2, DType::u8, Shape{std::vector<Dim>{}});
  return {};
}

struct Range {
  float low = 0, high = 0;  // 0 is in every range
};

/// NaN is no limit.
Range range_of(const float* x, int64_t n) {
  float low = 0, high = 0;
  for (int64_t i = 0; i < n; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
  return {low, high};
}

void choose(const Range* ranges, int64_t count, float& scale, uint8_t& zero) {
  Range all;
  for (int64_t i = 0; i < count; ++i) all = {std::min(all.low, ranges[i].low), std::max(all.high, ranges[i].high)};
  scale = all.low == all.high ? 1.0f : (all.high - all.low) / 255.0f;
  const float level = 0.0f - all.low / scale;
  zero = static_cast<uint8_t>(std::nearbyint(level > 0 ? std::min(level, 255.0f) : 0.0f));
}

Status lower_dynamic_quantize_linear(LowerContext& c) {
  const int64_t n = element_count(c.in_dims(0)), blocks = ceil_div(n, kRangeBlock);
  const Buffer x = c.in(0), y = c.out(0);
  const Buffer ranges = c.temporary(blocks * static_cast<int64_t>(sizeof(Range)));
  const Buffer scale = c.has_output(1) ? c.out(1) : c.temporary(4), zero = c.has_output(2) ? c.out(2) : c.temporary(1);
  c.emit("dynamic_range", blocks, [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    for (int64_t i = begin; i < end; ++i)
      run.get<Range>(ranges)[i] = range_of(run.get<const float>(x) + i * kRangeBlock, std::min(kRangeBlock, n - i * kRangeBlock));
    return nullptr;
  });
  c.emit("dynamic_scale", 1, [=](const Run& run, int64_t, int64_t) -> const char* {
    choose(run.get<const Range>(ranges), blocks, *run.get<float>(scale), *run.get<uint8_t>(zero));
    return nullptr;
  });
  c.emit("quantize_linear", blocks, [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    const int64_t first = begin * kRangeBlock, last = std::min(n, end * kRangeBlock);
    quantize_row(run.get<const float>(x) + first, run.get<const float>(scale), run.get<const uint8_t>(zero), 0, run.get<uint8_t>(y) + first,
                 last - first);
    return nullptr;
  });
  return {};
}

}  // namespace

OpDef define_dynamic_quantize_linear() {
  return {
      .name = "DynamicQuantizeLinear",
      .since = 11,
      .outputs = {1, 3},
      .infer = infer_dynamic_quantize_linear,
      .lower = lower_dynamic_quantize_linear,
      .samples = {{.inputs = {f32({3, 37}, -1, 5)}, .outputs = 3},
                  {.inputs = {f32({7}, 1, 5)}, .outputs = 3},
                  {.inputs = {f32({20011}, -3, -1)}, .outputs = 3}},
  };
}

}  // namespace svengine::ops
