#include "engine/ops/infer_util.h"

#include <algorithm>

namespace svengine::ops {

Status require_dtype(const InferContext& c, size_t input, DTypeSet allowed) {
  if (!c.has_input(input) || allowed.has(c.dtype(input))) return {};
  return error("{} is of type {}, needs {}", c.described(input), name_of(c.dtype(input)), to_string(allowed));
}

Result<DType> dtype_attribute(const Attributes& attributes, const char* name, DType otherwise, DTypeSet allowed) {
  const int64_t number = attributes.get_int(name, static_cast<int64_t>(otherwise));
  const DType type = dtype_from_number(number).value_or(DType::undefined);
  if (allowed.has(type) && (type != DType::undefined || number == 0)) return type;
  const std::string named = type == DType::undefined ? "no element type" : std::string(name_of(type));
  return error("attribute '{}' is {} ({}), needs {}", name, number, named, to_string(allowed));
}

Status require_same_dtypes(const InferContext& c, size_t first) {
  for (size_t i = first + 1; i < c.input_count(); ++i)
    if (c.has_input(first) && c.has_input(i) && c.dtype(i) != c.dtype(first))
      return error("{} and {} are of types {} and {}, need one type (Cast converts)", c.described(first), c.described(i), name_of(c.dtype(first)),
                   name_of(c.dtype(i)));
  return {};
}

DTypeSet one_real_type(const Node& node) {
  const auto is_wide = [](const Value* v) { return v && v->type.dtype == DType::f64; };
  const bool wide = std::any_of(node.inputs().begin(), node.inputs().end(), is_wide);
  return kIntegerTypes | kBool | DTypeSet{wide ? DType::f64 : DType::f32};
}

Status require_rank(const InferContext& c, size_t input, int64_t rank) {
  if (!c.has_input(input) || !c.shape(input).has_rank() || c.shape(input).rank() == rank) return {};
  return error("{} has rank {}, needs rank {}", c.described(input), c.shape(input).rank(), rank);
}

Status require_rank_at_least(const InferContext& c, size_t input, int64_t rank) {
  if (!c.has_input(input) || !c.shape(input).has_rank() || c.shape(input).rank() >= rank) return {};
  return error("{} has rank {}, needs rank {} or more", c.described(input), c.shape(input).rank(), rank);
}

Status require_per_channel(const InferContext& c, size_t input) {
  SV_TRY(require_dtype(c, input, kRealTypes));
  SV_TRY(require_rank(c, input, 1));
  const Shape &x = c.shape(0), &v = c.shape(input);
  const Dim channels = x.rank() >= 2 ? x[1] : x.has_rank() ? Dim(1) : Dim();
  if (v.has_rank() && known_different(channels, v[0]))
    return error("{} has {} elements, needs one for each of the {} channels of {} {}", c.described(input), v[0].value(), channels.value(),
                 c.described(0), to_string(x));
  return {};
}

Status require_single(const InferContext& c, size_t input) {
  if (!c.has_input(input) || !c.shape(input).has_rank()) return {};
  const Shape& shape = c.shape(input);
  if (shape.rank() == 0 || (shape.rank() == 1 && (!shape[0].is_static() || shape[0].value() == 1))) return {};
  return error("{} has shape {}, needs one element", c.described(input), svengine::to_string(shape));
}

Status require_same_shape(const InferContext& c, size_t a, size_t b) {
  const Shape &x = c.shape(a), &y = c.shape(b);
  if (!x.has_rank() || !y.has_rank()) return {};
  bool same = x.rank() == y.rank();
  for (size_t d = 0; same && d < x.dims().size(); ++d) same = !known_different(x[d], y[d]);
  return same ? Status() : error("{} is {}, {} is {}; need one shape", c.described(a), to_string(x), c.described(b), to_string(y));
}

Shape unknown_dims(int64_t rank) { return Shape(std::vector<Dim>(static_cast<size_t>(rank))); }

Dim merge(const Dim& a, const Dim& b) {
  if (a.is_static()) return a;
  if (b.is_static()) return b;
  return a.is_symbolic() ? a : b;
}

Dim add(const Dim& a, const Dim& b) {
  if (a.is_static() && b.is_static()) {
    int64_t out = 0;  // too large: as in multiply()
    return __builtin_add_overflow(a.value(), b.value(), &out) ? Dim(INT64_MAX) : Dim(out);
  }
  if (a.is_static() && a.value() == 0) return b;
  if (b.is_static() && b.value() == 0) return a;
  return {};
}

Dim multiply(const Dim& a, const Dim& b) {
  if ((a.is_static() && a.value() == 0) || (b.is_static() && b.value() == 0)) return 0;
  if (a.is_static() && b.is_static()) {
    // A product that overflows is no dimension; what is too large is refused where shapes are checked.
    int64_t out = 0;
    return __builtin_mul_overflow(a.value(), b.value(), &out) ? Dim(INT64_MAX) : Dim(out);
  }
  if (a.is_static() && a.value() == 1) return b;
  if (b.is_static() && b.value() == 1) return a;
  return {};
}

Dim product(const Shape& shape, size_t begin, size_t end) {
  Dim out = 1;
  for (size_t i = begin; i < end; ++i) out = multiply(out, shape[i]);
  return out;
}

}  // namespace svengine::ops
