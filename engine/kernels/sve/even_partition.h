// Things cut into parts that differ by one at most.
#pragma once
#include "engine/kernels/sve/vec.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

/// `count` things divided evenly over `parts` <= count parts: the first count % parts get one more than the others.
class EvenPartition {
 public:
  constexpr EvenPartition(int64_t count, int64_t parts) : least_(count / parts), longer_(count % parts) {}
  constexpr int64_t begin(int64_t part) const { return part * least_ + (part < longer_ ? part : longer_); }
  constexpr int64_t size(int64_t part) const { return least_ + (part < longer_ ? 1 : 0); }
  constexpr int64_t part_holding(int64_t position) const {
    const int64_t in_longer = longer_ * (least_ + 1);
    return position < in_longer ? position / (least_ + 1) : longer_ + (position - in_longer) / least_;
  }

 private:
  int64_t least_, longer_;
};

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
