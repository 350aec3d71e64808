#include "tools/emit/helpers.h"

#include <cassert>
#include <iterator>

#include "tools/emit/c_text.h"

namespace svengine::tool::emit {
namespace {

struct Helper {
  std::string_view name;
  const char* text;  // $N is its name, $T the type
};

// Sums go into sixteen lanes, which compilers keep in vectors, and which lose less than one sum does.
constexpr Helper kHelpers[] = {
    {"sum", R"(static $T $N(const $T *x, ptrdiff_t n) {
  $T lanes[16] = {0}, all = 0;
  const ptrdiff_t whole = n / 16 * 16;
  ptrdiff_t i, j;
  for (i = 0; i < whole; i += 16)
    for (j = 0; j < 16; ++j) lanes[j] += x[i + j];
  for (i = whole; i < n; ++i) all += x[i];
  for (j = 0; j < 16; ++j) all += lanes[j];
  return all;
}
)"},
    {"dot", R"(static $T $N(const $T *a, const $T *b, ptrdiff_t n) {
  $T lanes[16] = {0}, all = 0;
  const ptrdiff_t whole = n / 16 * 16;
  ptrdiff_t i, j;
  for (i = 0; i < whole; i += 16)
    for (j = 0; j < 16; ++j) lanes[j] += a[i + j] * b[i + j];
  for (i = whole; i < n; ++i) all += a[i] * b[i];
  for (j = 0; j < 16; ++j) all += lanes[j];
  return all;
}
)"},
    {"square_sum", R"(static $T $N(const $T *x, $T mean, ptrdiff_t n) {
  $T lanes[16] = {0}, all = 0;
  const ptrdiff_t whole = n / 16 * 16;
  ptrdiff_t i, j;
  for (i = 0; i < whole; i += 16)
    for (j = 0; j < 16; ++j) lanes[j] += (x[i + j] - mean) * (x[i + j] - mean);
  for (i = whole; i < n; ++i) all += (x[i] - mean) * (x[i] - mean);
  for (j = 0; j < 16; ++j) all += lanes[j];
  return all;
}
)"},
    // Conversions to integers as the engine's: NaN gives 0, what is beyond the limits gives the limit.
    {"to_int64", R"(static int64_t $N($T x) {
  if (x != x) return 0;
  if (x >= 9223372036854775808.0) return INT64_MAX;
  return x <= -9223372036854775808.0 ? -INT64_MAX - 1 : (int64_t)x;
}
)"},
    {"to_int32", R"(static int32_t $N($T x) {
  if (x != x) return 0;
  if (x >= 2147483648.0) return INT32_MAX;
  return x <= -2147483648.0 ? -INT32_MAX - 1 : (int32_t)x;
}
)"},
    {"to_uint64", R"(static uint64_t $N($T x) {
  if (x != x || x <= 0) return 0;
  return x >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)x;
}
)"},
    {"to_uint32", R"(static uint32_t $N($T x) {
  if (x != x || x <= 0) return 0;
  return x >= 4294967296.0 ? UINT32_MAX : (uint32_t)x;
}
)"},
    // Where a window's column first and last lies in the image: k dilation - pad + i stride is in [0, n).
    {"first", R"(static ptrdiff_t $N(ptrdiff_t offset, ptrdiff_t stride) {
  return offset >= 0 ? 0 : (stride - 1 - offset) / stride;
}
)"},
    {"last", R"(static ptrdiff_t $N(ptrdiff_t offset, ptrdiff_t stride, ptrdiff_t n, ptrdiff_t count) {
  const ptrdiff_t end = offset >= n ? 0 : (n - 1 - offset) / stride + 1;
  return end < count ? end : count;
}
)"},
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

}  // namespace

std::string Helpers::use(std::string_view name, DType type, const std::string& prefix) {
  const std::string full = fmt::format("{}{}_{}", prefix, name, c_type(type));
  const auto [it, fresh] = used_.emplace(full, "");
  for (const Helper& h : kHelpers)
    if (fresh && h.name == name) it->second = h.text;
  assert(!it->second.empty());
  replace_all(it->second, "$N", full);
  replace_all(it->second, "$T", c_type(type));
  return full;
}

std::string Helpers::text() const {
  std::string out;
  for (const auto& [name, text] : used_) out += text + "\n";
  return out;
}

}  // namespace svengine::tool::emit
