// Where OpenBLAS is: linked into this program, or a shared library of the system.
#pragma once
#include <cstdint>
#include <string>

#include "engine/base/status.h"

namespace svengine::kernels::openblas {

/// The values of cblas.h, which is not needed to compile this.
inline constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

template <class T>
using GemmFunction = void (*)(int order, int transpose_a, int transpose_b, int32_t m, int32_t n, int32_t k, T alpha, const T* a, int32_t lda,
                              const T* b, int32_t ldb, T beta, T* c, int32_t ldc);

struct Library {
  GemmFunction<float> sgemm = nullptr;
  GemmFunction<double> dgemm = nullptr;
  std::string description;
};

/// Found at the first call. Thread-safe.
Result<const Library*> library();

}  // namespace svengine::kernels::openblas
