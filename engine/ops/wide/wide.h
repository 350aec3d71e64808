// What operators do in float64 (products: in integers, too), where kernels are for float32: plain loops. All of the node's
// floating-point inputs are of one type (one_real_type).
#pragma once
#include "engine/kernels/conv.h"
#include "engine/kernels/data_prepare.h"
#include "engine/kernels/pool.h"
#include "engine/ops/lowering.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/nn/window_common.h"

namespace svengine::ops::wide {

/// Is it input 0 that has to be computed so?
inline bool is_wide(const LowerContext& c) { return c.in_type(0).dtype != DType::f32; }

/// C[batch] = alpha A[batch] B[batch] + beta C', C' being input 2 where there is one, which broadcasts to a matrix of the result.
/// Integers with alpha and beta other than 1 are scaled in double and truncated. Of operands that are constant
/// `product` says which inputs they are, of others where they lie.
void emit_product(LowerContext& c, Product product, float alpha, float beta);

/// Y = activation(X conv W + B + residual), of inputs 0 to 2; B and the residual may be absent.
void emit_conv(LowerContext& c, const kernels::ConvShape& shape, Buffer residual, const kernels::ActivationArgs& activation);
/// The convolution's image from X and W, inputs 0 and 1, plus a bias, which may be absent: `window.in` is Y, `window.out` X.
void emit_conv_transpose(LowerContext& c, const Window& window, int64_t groups, Buffer bias);

/// As kernels->pool->window, from input 0 to outputs 0 and 1.
void emit_pool(LowerContext& c, const char* name, const kernels::PoolArgs& args);
/// As kernels->pool->global.
void emit_global_pool(LowerContext& c, const char* name, kernels::PoolKind kind, int32_t power);

/// (X - mean) / sqrt(variance + epsilon) * scale + B; in training mode with the batch's own mean and variance.
Status lower_batch_norm(LowerContext& c);
void emit_local_response(LowerContext& c);

enum class SoftmaxKind : uint8_t { softmax, log_softmax, hardmax };
/// Along n of [outer, n, inner].
void emit_softmax(LowerContext& c, SoftmaxKind kind, int64_t outer, int64_t n, int64_t inner, Buffer out);

/// As lower_loss of ops/loss/loss_common.h, whose labels have been checked.
void emit_loss(LowerContext& c, Buffer log_p);

/// As emit_resample of ops/tensor/resample_common.h.
Buffer emit_resample(LowerContext& c, const std::string& name, const kernels::ResampleTables& tables, double outside, Buffer from,
                     Dims& dims, size_t axis, int64_t out, Buffer to);

/// float64 to an integer `type`, by round_saturated (base/round.h).
void emit_rounded(LowerContext& c, Buffer from, Buffer to, DType type, int64_t count);

/// uint64 as int64 of the same order, and back.
Buffer with_flipped_sign(LowerContext& c, Buffer from, int64_t count);
void emit_sign_flip(LowerContext& c, Buffer from, Buffer to, int64_t count);
/// uint64 values divided by a number; by 0 gives 0.
void emit_unsigned_quotients(LowerContext& c, Buffer values, int64_t count, int64_t divisor);

}  // namespace svengine::ops::wide
