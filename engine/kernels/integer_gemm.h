// Products of matrices of whole numbers of 32 or 64 bits, signed or not, which wrap: C = A B, dense in C. Results are bit-equal on all sets.
#pragma once
#include <cstdint>

namespace svengine::kernels {

/// Element (i, d) of A is a[i * a_row + d * a_depth], (d, j) of B b[d * b_depth + j * b_column], (i, j) of C c[i * ldc + j].
struct IntegerGemmArgs {
  int64_t m = 0, n = 0, k = 0;
  int32_t element_bytes = 4;  // or 8
  const void* a = nullptr;
  int64_t a_row = 0, a_depth = 1;
  const void* b = nullptr;
  int64_t b_depth = 0, b_column = 1;
  void* c = nullptr;
  int64_t ldc = 0;
};

}  // namespace svengine::kernels
