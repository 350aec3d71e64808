// Compress: the slices along `axis` (or elements of the flattened input) whose condition is true. How many there are depends
// on the condition, so it runs between plans.
#include <algorithm>

#include "engine/graph/axes.h"
#include "engine/graph/evaluate_context.h"
#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/index_common.h"
#include "engine/ops/tensor/non_zero_places.h"

namespace svengine::ops {
namespace {

/// Places of the true entries. The condition may be shorter than the axis: the rest is false.
std::vector<int64_t> chosen(const Tensor& condition) {
  const uint8_t* is_true = condition.data<uint8_t>().data();
  std::vector<int64_t> out(static_cast<size_t>(count_non_zero(is_true, uint8_t{0xff}, condition.count())));
  append_places(is_true, uint8_t{0xff}, condition.count(), out.data(), out.data() + out.size());
  return out;
}

Status infer_compress(InferContext& c) {
  SV_TRY(require_rank_at_least(c, 0, 1));
  SV_TRY(require_dtype(c, 1, kBool));
  SV_TRY(require_rank(c, 1, 1));
  const Shape& in = c.shape(0);
  std::optional<int64_t> axis;
  if (in.has_rank() && c.attributes().has("axis")) {
    SV_ASSIGN(axis, normalise_axis(c.attributes().get_int("axis"), in.rank()));
  }
  Dim count;
  if (const Tensor* condition = c.constant(1)) {
    const std::vector<int64_t> places = chosen(*condition);
    const Dim size = axis ? in[static_cast<size_t>(*axis)] : in.has_rank() && !c.attributes().has("axis") ? product(in, 0, in.dims().size()) : Dim();
    if (!places.empty() && size.is_static() && places.back() >= size.value())
      return error("condition {} is true, but there are only {} to choose from", places.back(), size.value());
    count = static_cast<int64_t>(places.size());
  }
  if (!c.attributes().has("axis")) {
    c.set(0, c.dtype(0), Shape{count});
    return {};
  }
  Shape out = in;
  if (axis) out.set(static_cast<size_t>(*axis), count);
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

/// Slices `places` of [outer][size][inner] elements.
template <class T>
void copy_slices(const T* from, T* to, int64_t outer, int64_t size, int64_t inner, const std::vector<int64_t>& places) {
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t place : places) to = std::copy_n(from + (o * size + place) * inner, inner, to);
}

Status evaluate_compress(EvaluateContext& c) {
  const Tensor& in = c.input(0);
  int64_t outer = 1, size = in.count(), inner = 1;
  Dims dims = in.dims();
  const std::vector<int64_t> places = chosen(c.input(1));
  const auto count = static_cast<int64_t>(places.size());
  if (c.attributes().has("axis")) {
    SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(dims.size())));
    const auto a = static_cast<size_t>(axis);
    outer = element_count(std::span<const int64_t>(in.dims()).first(a));
    size = in.dims()[a];
    inner = element_count(std::span<const int64_t>(in.dims()).subspan(a + 1));
    dims[a] = count;
  } else {
    dims = {count};
  }
  if (!places.empty() && places.back() >= size) return error("condition {} is true, but there are only {} to choose from", places.back(), size);
  if (in.type() == DType::string) {
    std::vector<std::string> out(static_cast<size_t>(element_count(dims)));
    copy_slices(in.strings().data(), out.data(), outer, size, inner, places);
    c.set(0, Tensor::of_strings(std::move(dims), std::move(out)));
    return {};
  }
  SV_ASSIGN(MutableTensor out, Tensor::allocate(in.type(), std::move(dims)));
  const auto bytes = static_cast<int64_t>(size_of(in.type()));
  const auto copy_elements = [&]<class T>(T) {
    const T* from = reinterpret_cast<const T*>(in.raw());
    T* to = reinterpret_cast<T*>(out.raw());
    for (int64_t o = 0; o < outer; ++o, from += size)
      for (const int64_t place : places) *to++ = from[place];
  };
  if (inner != 1) copy_slices(in.raw(), out.raw(), outer, size, inner * bytes, places);
  else if (bytes == 1) copy_elements(uint8_t{});
  else if (bytes == 2) copy_elements(uint16_t{});
  else if (bytes == 4) copy_elements(uint32_t{});
  else copy_elements(uint64_t{});
  c.set(0, std::move(out));
  return {};
}

/// As that of a Gather by the places of the true entries.
Status compress_gradient(GradientContext& c) {
  Value* places = c.op("Reshape", {c.op("NonZero", {c.input(1)}), c.builder().integers({-1})});
  if (c.attributes().has("axis")) {
    c.set(0, c.internal("GatherGrad", {c.dy(), places, c.input(0)}, c.attributes()));
    return {};
  }
  Value* flat = c.op("Reshape", {c.input(0), c.builder().integers({-1})});
  c.set(0, c.reshape_to(c.internal("GatherGrad", {c.dy(), places, flat}), c.input(0)));
  return {};
}

}  // namespace

OpDef define_compress() {
  return {
      .name = "Compress",
      .since = 9,
      .inputs = "input, condition",
      .attributes = {{"axis", AttributeKind::kInt}},
      .infer = infer_compress,
      .evaluate = evaluate_compress,
      .types = {{"T", kAllTypes, {0}}, {"T1", kBool, {1}}},
      .cost = movement_cost,
      .gradient = compress_gradient,
      .samples = "(float32[3, 5], bool[3]{1, 0, 1}) {axis = 0}"
                 "(float32[3, 5], bool[7]{0, 1, 1, 0, 1, 0, 1})"
                 "(float16[2, 4, 3], bool[4] 0 to 2) {axis = 1}",
  };
}

}  // namespace svengine::ops
