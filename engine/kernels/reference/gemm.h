// Matrix products in double precision from unpacked operands: the oracle of the packed kernels.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/kernels/gemm.h"

namespace svengine::kernels {

/// One product; every operand is addressed by two strides, so that transposed ones need no copy. Strides count elements.
template <class T>
struct ReferenceGemmArgs {
  int64_t m = 0, n = 0, k = 0;
  const T* a = nullptr;
  int64_t a_row = 0, a_depth = 0;
  const T* b = nullptr;
  int64_t b_depth = 0, b_column = 0;
  float alpha = 1;
  const T* bias = nullptr;  // null: none; bias[row * bias_row + column * bias_column]
  int64_t bias_row = 0, bias_column = 0;
  float bias_scale = 1;
  const T* residual = nullptr;  // null: none
  int64_t ld_residual = 0;
  float residual_scale = 1;
  ActivationArgs activation;
};

struct ReferenceGemm {
  std::vector<double> c;      // [m, n]
  std::vector<double> error;  // [m, n]: how far a kernel that sums T in any order may be off
};

/// activation(alpha * A * B + bias_scale * bias + residual_scale * residual). The error bound before the activation is
/// (k + 6) * 2^-24 * (|alpha| |A| |B| + |bias_scale * bias| + |residual_scale * residual|): one rounding for each of
/// the k fused multiply-adds, and some for joining interleaved sums, scaling and adding.
///
/// For doubles it is 2^-53, the oracle sums as inexactly, and so the bound is twice that.
ReferenceGemm reference_gemm(const ReferenceGemmArgs<float>& args);
ReferenceGemm reference_gemm(const ReferenceGemmArgs<double>& args);

}  // namespace svengine::kernels
