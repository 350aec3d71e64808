// Functions that are one long chain of dependent operations: erf, tanh and GELU, several vectors in lockstep (math/many.h).
//
// A64FX's schedulers hold 20 instructions each, so that only what stands side by side in the code overlaps: this file is compiled
// without GCC's scheduling (engine/CMakeLists.txt), which takes the chains apart again. As many vectors as fit the registers beside
// the constants, polynomials' coefficients being loaded where they are used: cycles of an element by LLVM's model
// (bench/a64fx_cycles.sh cycles.gelu cycles.tanh cycles.erf), before and after
//
//     erf 2.99 -> 1.95     tanh 1.27 -> 1.19     GELU 1.55 -> 1.29
#include "engine/kernels/sve/activation/activation.h"
#include "engine/kernels/sve/elementwise/loop.h"
#include "engine/kernels/sve/elementwise/unary.h"
#include "engine/kernels/sve/math/math.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise {
namespace {

template <int kMany, class F>
SVENGINE_INLINE void loop(const UnaryArgs& args, int64_t begin, int64_t end, const F& f) {
  map_in_lockstep<kMany>(static_cast<const float*>(args.x) + begin, static_cast<float*>(args.y) + begin, end - begin, f);
}

/// Vectors in lockstep of the shorter chains.
constexpr int kMost = kMachine.deep_window ? 4 : 5;

SVENGINE_HOT [[gnu::flatten]] void erf_loop(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  loop<kMachine.deep_window ? 1 : 4>(args, begin, end, [](auto v) SVENGINE_INLINE_LAMBDA { return verf(v); });
}

SVENGINE_HOT [[gnu::flatten]] void tanh_loop(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  loop<kMost>(args, begin, end, [](auto v) SVENGINE_INLINE_LAMBDA { return vtanh<Coefficients::kMemory>(v); });
}

template <Activation kKind, int kMany>
SVENGINE_HOT [[gnu::flatten]] void activation_loop(const UnaryArgs& args, int64_t begin, int64_t end) noexcept {
  const ActivationArgs local{kKind, float(args.alpha), float(args.beta)};
  loop<kMany>(args, begin, end, [&local](auto v) SVENGINE_INLINE_LAMBDA {
    return apply_any_activation<kKind, Coefficients::kMemory>(v, local);
  });
}

}  // namespace

UnaryFunction find_unary_lockstep(UnaryOp op) noexcept {
  switch (op) {
    case UnaryOp::kErf: return erf_loop;
    case UnaryOp::kTanh: return tanh_loop;
    case UnaryOp::kGelu: return activation_loop<Activation::kGelu, kMost>;
    case UnaryOp::kGeluTanh: return activation_loop<Activation::kGeluTanh, 4>;
    default: return nullptr;
  }
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::elementwise
