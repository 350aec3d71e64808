// NonZero: the indices of all elements that are not zero, one column for each, in row-major order. How many there are depends
// on the values, so it runs between plans.
#include <algorithm>

#include "engine/base/narrow_float.h"
#include "engine/graph/evaluate_context.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/copy_common.h"
#include "engine/ops/tensor/non_zero_places.h"

namespace svengine::ops {
namespace {

/// An element is zero when none of these bits is set: a float's sign does not count, and NaN is not zero.
uint64_t non_zero_bits(DType type) {
  const uint64_t all = ~uint64_t{0} >> (64 - 8 * size_of(type));
  return is_float(type) ? all >> 1 : all;
}

/// Calls f.operator()<T>(elements, significant) with unsigned integers of the type's size. Floats of a byte, of which some have no zero or
/// no -0, go by a table of all: `as_flags` gets one byte an element.
template <class F>
auto with_non_zero_bits(const Tensor& t, std::vector<uint8_t>& as_flags, const F& f) {
  const auto elements = [&]<class T>(T) { return f(reinterpret_cast<const T*>(t.raw()), static_cast<T>(non_zero_bits(t.type()))); };
  if (is_byte_float(t.type())) {
    as_flags.resize(static_cast<size_t>(t.count()));
    for (size_t i = 0; i < as_flags.size(); ++i) as_flags[i] = number_at(t.type(), t.raw(), static_cast<int64_t>(i)) != 0;
    return f(static_cast<const uint8_t*>(as_flags.data()), uint8_t{0xff});
  }
  switch (size_of(t.type())) {
    case 1: return elements(uint8_t{});
    case 2: return elements(uint16_t{});
    case 4: return elements(uint32_t{});
    default: return elements(uint64_t{});
  }
}

/// y[axis] of all elements that are not zero: along the last axis, which a line is of, one after the other; along the others, the line's.
template <class T>
void write_coordinates(const T* x, T significant, const Dims& dims, int64_t* y, int64_t total) {
  const size_t rank = dims.size();
  const int64_t line = dims[rank - 1], lines = element_count(std::span(dims).first(rank - 1));
  Dims at(rank - 1, 0);
  int64_t* const last = y + static_cast<int64_t>(rank - 1) * total;
  int64_t done = 0;
  for (int64_t l = 0; l < lines && done < total; ++l) {
    const int64_t found = append_places(x + l * line, significant, line, last + done, last + total) - (last + done);
    for (size_t axis = 0; found > 0 && axis + 1 < rank; ++axis) std::fill_n(y + static_cast<int64_t>(axis) * total + done, found, at[axis]);
    done += found;
    for (size_t axis = rank - 1; axis-- > 0 && ++at[axis] == dims[axis];) at[axis] = 0;
  }
}

int64_t count_of(const Tensor& t) {
  std::vector<uint8_t> flags;
  return with_non_zero_bits(t, flags, [&]<class T>(const T* x, T significant) { return count_non_zero(x, significant, t.count()); });
}

Status infer_non_zero(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kStoredTypes | DTypeSet{DType::string}));
  const Dim rank = c.shape(0).has_rank() ? Dim(c.shape(0).rank()) : Dim();
  const Tensor* value = c.constant(0);
  const bool known = value && value->type() != DType::string;
  c.set(0, DType::i64, Shape{rank, known ? Dim(count_of(*value)) : Dim()});
  return {};
}

Status evaluate_non_zero(EvaluateContext& c) {
  if (c.input(0).type() == DType::string) return evaluate_strings(c);
  const Tensor& x = c.input(0);
  const Dims& dims = x.dims();
  std::vector<uint8_t> flags;
  const auto write = [&]<class T>(const T* from, T significant) -> Result<MutableTensor> {
    const int64_t found = count_non_zero(from, significant, x.count());
    SV_ASSIGN(MutableTensor out, Tensor::allocate(DType::i64, {static_cast<int64_t>(dims.size()), found}));
    if (found > 0 && !dims.empty()) write_coordinates(from, significant, dims, out.data<int64_t>().data(), found);
    return out;
  };
  SV_ASSIGN(MutableTensor out, with_non_zero_bits(x, flags, write));
  c.set(0, std::move(out));
  return {};
}

}  // namespace

OpDef define_non_zero() {
  return {
      .name = "NonZero",
      .since = 9,
      .inputs = "X",
      .infer = infer_non_zero,
      .evaluate = evaluate_non_zero,
      .types = {{"T", kAllTypes, {0}}},
      .cost = movement_cost,
      .samples = "(int32[5, 7] -2 to 3)"
                 "(float32[2, 3]{0.0, 1.0, -2.0, 0.0, 0.0, 5.0})"
                 "(int64[4]{0, 0, 0, 0})",
  };
}

}  // namespace svengine::ops
