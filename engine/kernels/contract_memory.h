// Memory that a call reads or writes, for contracts (contract.h) that say what may overlap.
#pragma once
#include <cstdint>

namespace svengine::kernels {

/// Bytes [begin, end); none where `at` is null.
struct Memory {
  const char* begin;
  const char* end;
};

inline Memory memory(const void* at, int64_t bytes) {
  const char* begin = static_cast<const char*>(at);
  return {begin, begin && bytes > 0 ? begin + bytes : begin};
}
inline Memory floats(const float* at, int64_t count) { return memory(at, count * int64_t{sizeof(float)}); }

inline bool overlap(const Memory& a, const Memory& b) { return a.begin < b.end && b.begin < a.end; }
/// They overlap and are not the same.
inline bool cross(const Memory& a, const Memory& b) { return overlap(a, b) && (a.begin != b.begin || a.end != b.end); }

inline bool is_aligned(const void* at, uintptr_t bytes) { return reinterpret_cast<uintptr_t>(at) % bytes == 0; }
/// What any element type of these kernels takes.
inline bool is_element_size(int32_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

}  // namespace svengine::kernels
