// What this processor can execute.
#pragma once
#include <span>
#include <string_view>

namespace svengine::kernels {

/// An instruction set extension that the compiler uses in a kernel set's files because a flag -m<name> lets it.
struct Feature {
  std::string_view name;     // as in the flag: "f16c"
  bool (*there)() noexcept;  // the processor has it, and the operating system saves its registers
};

/// All that a kernel set of x86-64 needs, one for each -m flag of engine/CMakeLists.txt; none for other names.
std::span<const Feature> features_of(std::string_view kernel_set);

bool processor_has_avx512();  // every one of features_of("avx512")
bool processor_has_avx512_vnni();
bool processor_has_avx2();    // every one of features_of("avx2")
int processor_sve_bits();     // SVE vector length of the calling thread in bits, 0 without SVE

}  // namespace svengine::kernels
