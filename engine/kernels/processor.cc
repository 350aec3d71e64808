#include "engine/kernels/processor.h"

#include <algorithm>

#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

namespace svengine::kernels {

#if defined(__x86_64__)

namespace {

/// Clang 14 has no name for it. Its registers are those of AVX.
bool has_f16c() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0 && __builtin_cpu_supports("avx") != 0;
}

constexpr Feature kAvx512[] = {
    {"avx512f", []() noexcept { return __builtin_cpu_supports("avx512f") != 0; }},
    {"avx512dq", []() noexcept { return __builtin_cpu_supports("avx512dq") != 0; }},
    {"avx512bw", []() noexcept { return __builtin_cpu_supports("avx512bw") != 0; }},
    {"avx512vl", []() noexcept { return __builtin_cpu_supports("avx512vl") != 0; }},
    {"fma", []() noexcept { return __builtin_cpu_supports("fma") != 0; }},
};
constexpr Feature kAvx512Vnni[] = {
    kAvx512[0], kAvx512[1], kAvx512[2], kAvx512[3], kAvx512[4],
    {"avx512vnni", []() noexcept { return __builtin_cpu_supports("avx512vnni") != 0; }},
};
constexpr Feature kAvx2[] = {
    {"avx2", []() noexcept { return __builtin_cpu_supports("avx2") != 0; }},
    {"fma", []() noexcept { return __builtin_cpu_supports("fma") != 0; }},
    {"f16c", has_f16c},
};

bool has_all(std::string_view kernel_set) {
  return std::ranges::all_of(features_of(kernel_set), [](const Feature& feature) { return feature.there(); });
}

}  // namespace

std::span<const Feature> features_of(std::string_view kernel_set) {
  if (kernel_set == "avx512") return kAvx512;
  if (kernel_set == "avx512_vnni") return kAvx512Vnni;
  if (kernel_set == "avx2") return kAvx2;
  return {};
}

bool processor_has_avx512() { return has_all("avx512"); }
bool processor_has_avx512_vnni() { return has_all("avx512_vnni"); }
bool processor_has_avx2() { return has_all("avx2"); }
int processor_sve_bits() { return 0; }

#else

std::span<const Feature> features_of(std::string_view) { return {}; }
bool processor_has_avx512() { return false; }
bool processor_has_avx512_vnni() { return false; }
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
