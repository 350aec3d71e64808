// {fmt}'s compiled part. Debian has no static library of it for A64FX, and its header-only form triples the compile time of
// every file that formats anything; so its implementation header is compiled here, once, as {fmt}'s own src/format.cc does.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

#if FMT_VERSION < 100000  // Debian 12
using Arguments = basic_format_args<FMT_BUFFER_CONTEXT(char)>;
#else  // Debian 13
using Arguments = vformat_args<>::type;
#endif

template FMT_API auto dragonbox::to_decimal(float x) noexcept -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double x) noexcept -> dragonbox::decimal_fp<double>;
template FMT_API locale_ref::locale_ref(const std::locale& loc);
template FMT_API auto locale_ref::get<std::locale>() const -> std::locale;
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API void buffer<char>::append(const char*, const char*);
template FMT_API void vformat_to(buffer<char>&, string_view, Arguments, locale_ref);

}  // namespace detail
FMT_END_NAMESPACE
