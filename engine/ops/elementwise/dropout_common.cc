#include "engine/ops/elementwise/dropout_common.h"

#include <algorithm>

#include "engine/base/round.h"
#include "engine/ops/element.h"

namespace svengine::ops {
namespace {

constexpr int64_t kChunk = 4096;  // elements of a task

}  // namespace

DropoutMode dropout_mode(const Run& run, Buffer ratio, DType ratio_type, Buffer training) {
  DropoutMode mode;
  mode.training = *run.get<const uint8_t>(training) != 0;
  if (ratio) mode.ratio = number_at(ratio_type, run.get<const std::byte>(ratio), 0);
  return mode;
}

void emit_dropout_apply(LowerContext& c, Buffer x, Buffer keep, Buffer ratio, DType ratio_type, Buffer training, Buffer y,
                        int64_t count) {
  const auto emit = [&]<class T>(T) {
    c.emit("dropout_apply", ceil_div(count, kChunk), [=](const Run& run, int64_t begin, int64_t end) -> const char* {
      const DropoutMode mode = dropout_mode(run, ratio, ratio_type, training);
      const auto scale = static_cast<T>(mode.training ? 1 / (1 - mode.ratio) : 1);
      const T* in = run.get<const T>(x);
      const uint8_t* kept = run.get<const uint8_t>(keep);
      for (int64_t i = begin * kChunk; i < std::min(count, end * kChunk); ++i) run.get<T>(y)[i] = kept[i] ? in[i] * scale : T(0);
      return nullptr;
    });
  };
  if (c.out_type().dtype == DType::f64) emit(double());
  else emit(float());
}

}  // namespace svengine::ops
