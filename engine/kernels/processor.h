// What this processor can execute.
#pragma once

namespace svengine::kernels {

bool processor_has_avx512();  // F, DQ, BW, VL, and an operating system that saves the registers
bool processor_has_avx2();    // AVX2, FMA, F16C
int processor_sve_bits();     // SVE vector length of the calling thread in bits, 0 without SVE

}  // namespace svengine::kernels
