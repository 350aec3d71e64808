#pragma once
#include <cstdint>

namespace svengine {

/// One number for the engine's sources, compiler and flags: see cmake/SvengineBuildId.cmake.
uint64_t build_id();

}  // namespace svengine
