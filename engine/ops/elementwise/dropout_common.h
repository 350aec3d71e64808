// What Dropout and its gradient share.
#pragma once
#include "engine/ops/lowering.h"

namespace svengine::ops {

/// What a run finds in Dropout's optional inputs.
struct DropoutMode {
  double ratio = 0.5;
  bool training = false;
};

/// `training` is a bool, `ratio` one element of its type, or absent.
DropoutMode dropout_mode(const Run& run, Buffer ratio, DType ratio_type, Buffer training);

/// y = keep ? x / (1 - ratio) : 0 in training, else x, for `count` elements of output 0's type, float32 or float64; `keep` holds bools.
void emit_dropout_apply(LowerContext& c, Buffer x, Buffer keep, Buffer ratio, DType ratio_type, Buffer training, Buffer y,
                        int64_t count);

}  // namespace svengine::ops
