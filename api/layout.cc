#include "api/layout.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/base/narrow_float.h"

namespace svengine {
namespace {

constexpr size_t kMostRank = 64;

struct Half {
  uint16_t bits;
  operator double() const { return half_to_float(bits); }
  static Half of(double v) { return {float_to_half(static_cast<float>(v))}; }
};
struct Bfloat {
  uint16_t bits;
  operator double() const { return bfloat_to_float(bits); }
  static Bfloat of(double v) { return {float_to_bfloat(static_cast<float>(v))}; }
};

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, From>) return value;
  else if constexpr (std::is_floating_point_v<To>) return static_cast<To>(static_cast<double>(value));
  else return To::of(static_cast<double>(value));
}

/// Offsets of elements, in elements, dimension by dimension.
struct Walk {
  std::span<const int64_t> dims;
  int64_t strides[kMostRank];        // the caller's
  int64_t dense_strides[kMostRank];  // row-major
  const int64_t* rows;
  int64_t first_row;

  explicit Walk(const TensorLayout& t) : dims(t.dims), rows(t.rows), first_row(t.first_row) {
    int64_t dense = 1;
    for (size_t d = dims.size(); d-- > 0;) {
      dense_strides[d] = dense;
      strides[d] = t.strides ? t.strides[d] : dense;
      dense *= dims[d];
    }
  }
  int64_t offset(size_t d, int64_t i) const { return (d == 0 && rows ? rows[i] - first_row : i) * strides[d]; }
};

/// Calls copy(place of the caller's, dense place) for every element. The last dimension and the one whose elements are nearest to each other
/// at the caller's go in squares, so that a transposed array is read and written line by line of the cache:
///
///      dense    ──────>  last             caller    |  nearest
///               ──────>                             v
template <class Copy>
void for_each_element(const Walk& w, const Copy& copy) {
  constexpr int64_t kSquare = 16;
  const size_t rank = w.dims.size();
  if (std::ranges::any_of(w.dims, [](int64_t n) { return n == 0; })) return;
  if (rank == 0) return copy(0, 0);
  const size_t last = rank - 1;
  size_t nearest = last;
  for (size_t d = 0; d < last; ++d)
    if (w.dims[d] > 1 && (nearest == last || std::abs(w.strides[d]) < std::abs(w.strides[nearest]))) nearest = d;
  const int64_t lines = nearest == last ? 1 : w.dims[nearest];
  int64_t at[kMostRank] = {};
  while (true) {
    int64_t caller = 0, dense = 0;
    for (size_t d = 0; d < rank; ++d)
      if (d != last && d != nearest) caller += w.offset(d, at[d]), dense += at[d] * w.dense_strides[d];
    for (int64_t line = 0; line < lines; line += kSquare)
      for (int64_t first = 0; first < w.dims[last]; first += kSquare)
        for (int64_t l = line; l < std::min(line + kSquare, lines); ++l) {
          const int64_t c = caller + (nearest == last ? 0 : w.offset(nearest, l)), p = dense + (nearest == last ? 0 : l * w.dense_strides[nearest]);
          for (int64_t i = first; i < std::min(first + kSquare, w.dims[last]); ++i) copy(c + w.offset(last, i), p + i);
        }
    size_t d = rank;
    while (d-- > 0) {
      if (d == last || d == nearest) continue;
      if (++at[d] < w.dims[d]) break;
      at[d] = 0;
    }
    if (d == SIZE_MAX) return;
  }
}

template <class To, class From>
void gather_as(const TensorLayout& from, void* dense) {
  const auto* source = static_cast<const From*>(from.data);
  auto* target = static_cast<To*>(dense);
  for_each_element(Walk(from), [&](int64_t caller, int64_t place) { target[place] = converted<To>(source[caller]); });
}

template <class From, class To>
void scatter_as(const void* dense, const TensorLayout& to) {
  const auto* source = static_cast<const From*>(dense);
  auto* target = static_cast<To*>(to.data);
  for_each_element(Walk(to), [&](int64_t caller, int64_t place) { target[caller] = converted<To>(source[place]); });
}

/// Calls f with an object of the type of a float.
template <class F>
void with_float(DType type, const F& f) {
  if (type == DType::f32) f(float());
  if (type == DType::f64) f(double());
  if (type == DType::f16) f(Half());
  if (type == DType::bf16) f(Bfloat());
}

/// Calls f with an object of an element's size.
template <class F>
void with_size(size_t bytes, const F& f) {
  if (bytes == 1) f(uint8_t());
  if (bytes == 2) f(uint16_t());
  if (bytes == 4) f(uint32_t());
  if (bytes == 8) f(uint64_t());
}

}  // namespace

bool is_dense(const TensorLayout& t) {
  if (t.rows) return false;
  if (!t.strides) return true;
  int64_t dense = 1;
  for (size_t d = t.dims.size(); d-- > 0;) {
    if (t.dims[d] == 0) return true;
    if (t.dims[d] != 1 && t.strides[d] != dense) return false;
    dense *= t.dims[d];
  }
  return true;
}

Status check_layout(const TensorLayout& t, bool written) {
  if (t.dims.size() > kMostRank) return error("has rank {}; more than {} is not possible", t.dims.size(), kMostRank);
  const std::span<const int64_t> dims = t.dims;
  int64_t count = 1;
  for (const int64_t n : dims)
    if (n < 0 || __builtin_mul_overflow(count, n, &count)) return check_dims(Dims(dims.begin(), dims.end()));  // says so
  if (!t.data && count > 0) return error("has no data (null pointer), but the shape {}", to_string(Dims(dims.begin(), dims.end())));
  if (t.rows) {
    if (dims.empty()) return error("names rows, but has rank 0");
    for (int64_t i = 0; i < dims[0]; ++i)
      if (int64_t row; t.rows[i] < t.first_row || __builtin_sub_overflow(t.rows[i], t.first_row, &row) || row >= t.extent)
        return error("row {} of the list is {}, beyond the {} rows from {} on", i, t.rows[i], t.extent, t.first_row);
  }
  if (!written || !t.strides || count == 0) return {};
  // Every stride beyond what the smaller ones reach: what any slice of an array has.
  std::pair<int64_t, int64_t> by_stride[kMostRank];
  size_t steps = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    if (const int64_t n = d == 0 && t.rows ? t.extent : dims[d]; n > 1) by_stride[steps++] = {std::abs(t.strides[d]), n};
  std::sort(by_stride, by_stride + steps);
  int64_t reach = 0;
  for (size_t i = 0; i < steps; ++i) {
    const auto [stride, n] = by_stride[i];
    if (stride <= reach)
      return error("has strides {} at which elements of the shape {} lie on each other", to_string(Dims(t.strides, t.strides + dims.size())),
                   to_string(Dims(dims.begin(), dims.end())));
    reach += stride * (n - 1);
  }
  return {};
}

bool is_convertible(DType from, DType to) {
  const auto is = [](DType type) { return type == DType::f16 || type == DType::bf16 || type == DType::f32 || type == DType::f64; };
  return is(from) && is(to);
}

void gather_elements(const TensorLayout& from, DType type, void* dense) {
  if (from.type == type)
    return with_size(size_of(type), [&](auto element) { gather_as<decltype(element), decltype(element)>(from, dense); });
  with_float(from.type, [&](auto a) { with_float(type, [&](auto b) { gather_as<decltype(b), decltype(a)>(from, dense); }); });
}

void scatter_elements(const void* dense, DType type, const TensorLayout& to) {
  if (to.type == type)
    return with_size(size_of(type), [&](auto element) { scatter_as<decltype(element), decltype(element)>(dense, to); });
  with_float(type, [&](auto a) { with_float(to.type, [&](auto b) { scatter_as<decltype(a), decltype(b)>(dense, to); }); });
}

}  // namespace svengine
