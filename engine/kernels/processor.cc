#include "engine/kernels/processor.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace svengine::kernels {

#if defined(__x86_64__)

bool processor_has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl");
}
bool processor_has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
int processor_sve_bits() { return 0; }

#else

bool processor_has_avx512() { return false; }
bool processor_has_avx2() { return false; }
int processor_sve_bits() {
  constexpr unsigned long kHwcapSve = 1ul << 22;   // HWCAP_SVE of the Linux arm64 ABI
  constexpr int kGetVectorLength = 51;             // PR_SVE_GET_VL; low 16 bits: bytes
  if (!(getauxval(AT_HWCAP) & kHwcapSve)) return 0;
  const int length = prctl(kGetVectorLength);
  return length < 0 ? 0 : (length & 0xffff) * 8;
}

#endif

}  // namespace svengine::kernels
