// LinearAttention's sizes and update rules, which its gradient shares.
#pragma once
#include "engine/ops/lowering.h"

namespace svengine::ops {

struct LinearRule {
  bool decays, corrects;
};
Result<LinearRule> linear_rule(const Attributes& attributes);

/// What LinearAttention's six inputs, of which the first has this number, give: output [batch, tokens, values], state
/// [batch, kv_heads, size, value_size]. Refuses what does not fit.
struct LinearTypes {
  Shape output, state;
};
Result<LinearTypes> linear_types(const InferContext& c, size_t first);

struct LinearShape {
  int64_t batch, tokens, q_heads, kv_heads, size, value_size;
  int64_t decay_size;  // of a head: 1, or `size`; 0: no decay
  int64_t beta_heads;  // 1, or kv_heads; 0: no beta
  float scale;

  int64_t group() const { return q_heads / kv_heads; }
  int64_t state_size() const { return size * value_size; }
};

/// Of concrete dimensions; decay and beta are those of the inputs with these numbers.
LinearShape linear_shape(const LowerContext& c, const Dims& q, const Dims& state, size_t decay, size_t beta);

/// S := exp(g) S
void decay_state(const LinearShape& s, const float* decay, float* state);

}  // namespace svengine::ops
