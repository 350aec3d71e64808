// Data for a training step that is only to be measured.
#pragma once
#include "runtime/train/trainer.h"
#include "tools/support/inputs.h"

namespace svengine::tool {

struct RandomBatch {
  Inputs data;
  Tensor target;
};

/// Inputs as make_inputs() has them, dimension 0 of each being the batch; labels anywhere among the classes, and other targets in
/// [-0.5, 0.5). The target's dimensions after the first are those of the same name among the inputs.
Result<RandomBatch> make_random_batch(const Trainer& trainer, int64_t batch, const InputOptions& options,
                                      const IndexBounds& bounds);

}  // namespace svengine::tool
