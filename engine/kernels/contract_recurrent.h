// The contract of recurrent.h as functions; contract.h says what they are for.
#pragma once
#include "engine/kernels/contract.h"
#include "engine/kernels/recurrent.h"

namespace svengine::kernels {

const char* violation(const RecurrentArgsOf<float>& args) noexcept;
const char* violation(const RecurrentArgsOf<double>& args) noexcept;
const char* violation(const RecurrentPackArgsOf<float>& args) noexcept;
const char* violation(const RecurrentPackArgsOf<double>& args) noexcept;

}  // namespace svengine::kernels
