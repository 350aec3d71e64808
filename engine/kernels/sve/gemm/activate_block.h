// The body of activate.h's functions.
#pragma once
#include "engine/kernels/sve/gemm/activate.h"
#include "engine/kernels/sve/gemm/tile.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET {

template <Activation kKind, int N>
SVENGINE_INLINE Many<N> apply_to_many(Many<N> x, const ActivationArgs& args) {
  return apply_any_activation<kKind, Coefficients::kMemory>(x, args);
}
template <Activation kKind, int N>
SVENGINE_INLINE Many<N, vd> apply_to_many(Many<N, vd> x, const ActivationArgs& args) {
  return apply_activation_f64<kKind>(x, args);
}

/// activation of kRows rows of c, in lockstep.
template <Activation kKind, int kRows, class T>
SVENGINE_INLINE void activate_rows(const ActivationArgs& args, const vb* exists, T* c, int64_t ldc) {
  constexpr int kLanes = kLanesOf<T>;
  Many<kRows * kPanelVectors, Vec<T>> x;
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) x.at[r * kPanelVectors + v] = svld1(exists[v], c + r * ldc + v * kLanes);
  x = apply_to_many<kKind>(x, args);
  SVENGINE_UNROLL
  for (int r = 0; r < kRows; ++r) SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) svst1(exists[v], c + r * ldc + v * kLanes, x.at[r * kPanelVectors + v]);
}

/// Doubles' chains are the longest, and a short window hides their latency with six of them side by side, for which tanh has the
/// registers: bench/physics_models.py's drag network in double 1.40e6 to 1.23e6 cycles for 128 rows (estimate, A64FX).
template <class T>
constexpr int rows_in_lockstep(Activation kind) {
  if (kMachine.deep_window || sizeof(T) != sizeof(double)) return 2;
  return kind == Activation::kTanh ? 3 : kind == Activation::kGelu || kind == Activation::kGeluTanh ? 1 : 2;
}

template <Activation kKind, class T>
void activate_block_by(const ActivationArgs& args, T* c, int64_t ldc, int64_t rows, int64_t columns) {
  const ActivationArgs local = args;  // which stores to c cannot change
  vb exists[kPanelVectors];
  SVENGINE_UNROLL
  for (int v = 0; v < kPanelVectors; ++v) exists[v] = lanes_below<T>(int64_t{v} * kLanesOf<T>, columns);
  constexpr int kMost = rows_in_lockstep<T>(kKind);
  int64_t r = 0;
  if constexpr (kMost > 2)
    for (; r + kMost <= rows; r += kMost) activate_rows<kKind, kMost>(local, exists, c + r * ldc, ldc);
  if constexpr (kMost > 1)
    for (; r + 2 <= rows; r += 2) activate_rows<kKind, 2>(local, exists, c + r * ldc, ldc);
  for (; r < rows; ++r) activate_rows<kKind, 1>(local, exists, c + r * ldc, ldc);
}

template <class T>
void activate_block_of(const ActivationArgs& args, T* c, int64_t ldc, int64_t rows, int64_t columns) {
  dispatch_activation(args.kind, [&]<Activation kKind>() {
    if constexpr (!activates_in_registers(kKind)) activate_block_by<kKind>(args, c, ldc, rows, columns);
  });
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET
