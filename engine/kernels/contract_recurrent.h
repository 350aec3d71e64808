// The contract of recurrent.h as functions; contract.h says what they are for.
#pragma once
#include "engine/kernels/contract.h"
#include "engine/kernels/recurrent.h"

namespace svengine::kernels {

const char* violation(const RecurrentArgs& args) noexcept;
const char* violation(const RecurrentPackArgs& args) noexcept;

}  // namespace svengine::kernels
