// Reshape: the same elements under another shape. 0 copies a dimension (unless allowzero), -1 takes what is left.
#include <algorithm>

#include "engine/graph/gradient.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {
namespace {

/// Removes one dimension of `from` for every equal one of `taken`: what is left to multiply up to the dimension -1.
/// Numbers are collected in `numerator`; names are cancelled one by one.
struct Remainder {
  Dim numerator = 1;
  std::vector<Dim> names;
  bool unknown = false;
};

Remainder factor(const std::vector<Dim>& dims) {
  Remainder r;
  for (const Dim& d : dims) {
    if (d.is_static()) r.numerator = multiply(r.numerator, d);
    else if (d.is_symbolic()) r.names.push_back(d);
    else r.unknown = true;
  }
  return r;
}

/// data / rest, as far as it can be known.
Result<Dim> quotient(const std::vector<Dim>& data, const std::vector<Dim>& rest) {
  Remainder n = factor(data);
  const Remainder d = factor(rest);
  for (const Dim& name : d.names) {
    const auto it = std::find(n.names.begin(), n.names.end(), name);
    if (it == n.names.end()) return Dim();
    n.names.erase(it);
  }
  if (n.unknown || d.unknown || !n.numerator.is_static() || !d.numerator.is_static()) return Dim();
  const int64_t num = n.numerator.value(), den = d.numerator.value();
  if (n.names.empty()) {
    if (den == 0 || num % den != 0)
      return error("{} elements do not divide by the other dimensions' product {}, so -1 has no value", num, den);
    return Dim(num / den);
  }
  return n.names.size() == 1 && num == den ? n.names[0] : Dim();
}

/// The dimension -1. Those that are copied stand on both sides and cancel: an empty batch leaves it as well determined as any other.
Result<Dim> what_is_left(const Shape& data, const std::vector<int64_t>& wanted) {
  std::vector<Dim> apart, rest;
  for (size_t i = 0; i < std::max(wanted.size(), data.dims().size()); ++i) {
    const bool given = i < wanted.size();
    if (given && wanted[i] > 0) rest.push_back(wanted[i]);
    if (i < data.dims().size() && !(given && wanted[i] == 0)) apart.push_back(data[i]);
  }
  return quotient(apart, rest);
}

Result<Shape> reshaped(const Shape& data, const std::vector<int64_t>& wanted, bool allowzero) {
  std::vector<Dim> out;
  std::optional<size_t> open;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int64_t w = wanted[i];
    if (w < -1) return error("the new shape has dimension {}; -1 is the only negative one allowed", w);
    if (w == -1) {
      if (open) return error("the new shape has more than one -1");
      open = i;
      out.push_back(1);
    } else if (w == 0 && !allowzero) {
      if (data.has_rank() && i >= data.dims().size())
        return error("dimension {} of the new shape is 0 (copy), but the input has rank {}", i, data.rank());
      out.push_back(data.has_rank() ? data[i] : Dim());
    } else {
      out.push_back(w);
    }
  }
  if (open && allowzero && std::count(wanted.begin(), wanted.end(), 0)) return error("the new shape has both 0 and -1, with allowzero");
  if (open) {
    out[*open] = Dim();
    if (data.has_rank()) {
      SV_ASSIGN(out[*open], what_is_left(data, wanted));
    }
    return Shape(std::move(out));
  }
  if (data.has_rank()) {
    const Dim before = product(data, 0, data.dims().size());
    const Shape shape(out);
    const Dim after = product(shape, 0, out.size());
    if (known_different(before, after))
      return error("shape {} has {} elements, the new shape {} has {}", svengine::to_string(data), before.value(),
                   svengine::to_string(shape), after.value());
  }
  return Shape(std::move(out));
}

Status infer_reshape(InferContext& c) {
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank(c, 1, 1));
  if (const auto wanted = c.integers(1)) {
    SV_ASSIGN(Shape out, reshaped(c.shape(0), *wanted, c.attributes().get_int("allowzero") != 0));
    c.set(0, c.dtype(0), std::move(out));
    return {};
  }
  const Shape& s = c.shape(1);
  const bool known = s.has_rank() && s[0].is_static() && s[0].value() <= 32;
  c.set(0, c.dtype(0), known ? unknown_dims(s[0].value()) : Shape());
  return {};
}

Status reshape_gradient(GradientContext& c) {
  c.set(0, c.reshape_to(c.dy(), c.input(0)));
  return {};
}

}  // namespace

OpDef define_reshape() {
  return {
      .name = "Reshape",
      .inputs = "data, shape",
      .attributes = {{"allowzero", AttributeKind::kInt, false, 0}},
      .infer = infer_reshape,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0}}, {"shape", DTypeSet{DType::i64}, {1}}},
      .gradient = reshape_gradient,
      .traits = {.shape_inputs = {1}, .is_view = true},
      .samples = "(float32[2, 3, 4], int64[2]{4, 6})"
                 "(float32[2, 3, 4], int64[2]{0, -1})"
                 "(float32[0, 3], int64[2]{5, 0}) {allowzero = 1}"
                 "(int64[7], int64[3]{7, 1, 1})",
  };
}

}  // namespace svengine::ops
