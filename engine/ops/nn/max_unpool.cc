// MaxUnpool: puts every element back where MaxPool's second output says that it was; zeros elsewhere.
//
// Indices count elements of the output that the attributes give, all images and channels included. An output_shape larger than
// that has it in its corner.
#include <cstring>

#include "engine/graph/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/window_common.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

/// The size that pooling with these attributes would have had.
Result<Shape> unpooled(const Attributes& attributes, const Shape& x) {
  const auto axes = static_cast<size_t>(x.rank() - 2);
  const std::vector<int64_t> kernel = attributes.get_ints("kernel_shape"),
                             strides = attributes.get_ints("strides", std::vector<int64_t>(axes, 1)),
                             pads = attributes.get_ints("pads", std::vector<int64_t>(2 * axes, 0));
  if (kernel.size() != axes || strides.size() != axes || pads.size() != 2 * axes)
    return error("kernel_shape, strides and pads have {}, {} and {} values, need {}, {} and {} for X {}", kernel.size(),
                 strides.size(), pads.size(), axes, axes, 2 * axes, to_string(x));
  constexpr int64_t kMostUnpooled = int64_t{1} << 24;
  for (const auto* list : {&kernel, &strides, &pads})
    for (const int64_t v : *list)
      if (v < (list == &pads ? 0 : 1) || v > kMostUnpooled)
        return error("kernel_shape, strides or pads hold {}, which is out of range", v);
  Shape out = x;
  for (size_t i = 0; i < axes; ++i) {
    const Dim& in = x[i + 2];
    out.set(i + 2, Dim());
    if (!in.is_static()) continue;
    if (in.value() > kMostUnpooled) return error("dimension {} of X {} is above {}", i + 2, to_string(x), kMostUnpooled);
    const int64_t size = in.value() == 0 ? 0 : (in.value() - 1) * strides[i] - pads[i] - pads[axes + i] + kernel[i];
    if (size < 0) return error("dimension {} of the output would be {}", i + 2, size);
    out.set(i + 2, size);
  }
  return out;
}

Status infer_max_unpool(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_dtype(c, 2, {DType::i64}));
  SV_TRY(require_rank_at_least(c, 0, 3));
  SV_TRY(require_rank(c, 2, 1));
  const Shape& x = c.shape(0);
  if (!x.has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  SV_TRY(require_rank(c, 1, x.rank()));
  for (size_t i = 0; c.shape(1).has_rank() && i < x.dims().size(); ++i)
    if (known_different(x[i], c.shape(1)[i]))
      return error("I {} is not of the shape of X {}", to_string(c.shape(1)), to_string(x));
  SV_ASSIGN(Shape out, unpooled(c.attributes(), x));
  if (c.has_input(2)) {
    const auto wanted = c.integers(2);
    if (c.shape(2).has_rank() && known_different(c.shape(2)[0], Dim(x.rank())))
      return error("output_shape has {} values, needs {}", c.shape(2)[0].value(), x.rank());
    if (!wanted)
      out = unknown_dims(x.rank());
    else {
      for (size_t i = 0; i < wanted->size(); ++i)
        if ((*wanted)[i] < 0 || (out[i].is_static() && (*wanted)[i] < out[i].value()))
          return error("output_shape {} is smaller than what was pooled, {}", svengine::to_string(*wanted), to_string(out));
      out = Shape::of(*wanted);
    }
  }
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

/// Where flat position `index` of dims `from` is in dims `to`, which are as large or larger.
int64_t placed(int64_t index, const Dims& from, const Dims& to) {
  int64_t at = 0, step = 1;
  for (size_t i = from.size(); i-- > 0; index /= from[i], step *= to[i]) at += index % from[i] * step;
  return at;
}

template <class T>
const char* unpool(const T* x, const int64_t* indices, int64_t count, const Dims& from, const Dims& to, T* y) {
  const int64_t elements = element_count(from);
  const bool same = from == to;
  for (int64_t i = 0; i < count; ++i) {
    if (indices[i] < 0 || indices[i] >= elements) return "an index is outside of the unpooled image";
    y[same ? indices[i] : placed(indices[i], from, to)] = x[i];
  }
  return nullptr;
}

Status lower_max_unpool(LowerContext& c) {
  const Dims x = c.in_dims(0), to = c.out_dims();
  SV_ASSIGN(const Shape inferred, unpooled(c.attributes(), c.in_type(0).shape));
  const Dims from = *inferred.concrete();
  const size_t element = size_of(c.out_type().dtype);
  if (element_count(to) == 0) return {};
  emit_fill(c, c.out(), element_count(to), element, 0);
  // One task: of two elements for one place the later stays, and indices may be anything.
  c.emit("max_unpool", element_count(x) > 0 ? 1 : 0,
         [=, in = c.in(0), indices = c.in(1), out = c.out()](const Run& run, int64_t, int64_t) -> const char* {
           const auto* places = run.get<const int64_t>(indices);
           const int64_t count = element_count(x);
           if (element == 8) return unpool(run.get<const uint64_t>(in), places, count, from, to, run.get<uint64_t>(out));
           if (element == 4) return unpool(run.get<const uint32_t>(in), places, count, from, to, run.get<uint32_t>(out));
           return unpool(run.get<const uint16_t>(in), places, count, from, to, run.get<uint16_t>(out));
         });
  return {};
}

/// Every element's gradient is where the element went.
Status max_unpool_gradient(GradientContext& c) {
  if (!c.wants(0)) return {};
  Value* dy = c.dy();
  if (c.input(2)) {  // the corner that the indices speak of
    SV_ASSIGN(const Shape inner, unpooled(c.attributes(), c.input(0)->type.shape));
    const std::optional<Dims> dims = inner.concrete();
    if (!dims) return error("with an output_shape the gradient needs X of known shape, not {}", to_string(c.input(0)->type.shape));
    const auto count = static_cast<int64_t>(dims->size());
    Value* ends = c.builder().constant(Tensor::of<int64_t>({count}, std::span<const int64_t>(*dims)));
    const Dims zeros(dims->size(), 0);
    dy = c.op("Slice", {dy, c.builder().constant(Tensor::of<int64_t>({count}, std::span<const int64_t>(zeros))), ends});
  }
  c.set(0, c.op("Gather", {c.op("Reshape", {dy, c.builder().integers({-1})}), c.input(1)}));
  return {};
}

}  // namespace

OpDef define_max_unpool() {
  return {
      .name = "MaxUnpool",
      .since = 9,
      .inputs = "X, I, output_shape?",
      .attributes = {{"kernel_shape", AttributeKind::kInts, true},
                     {"strides", AttributeKind::kInts},
                     {"pads", AttributeKind::kInts}},
      .infer = infer_max_unpool,
      .lower = lower_max_unpool,
      .gradient = max_unpool_gradient,
      .traits = {.shape_inputs = {2}},
      .samples = "(float32[1, 1, 2, 2], int64[1, 1, 2, 2]{5, 7, 13, 15}) {kernel_shape = [2, 2], strides = [2, 2]}"
                 "(float32[1, 1, 2, 2], int64[1, 1, 2, 2]{5, 7, 13, 15}, int64[4]{1, 1, 5, 6}) {kernel_shape = [2, 2], strides = [2, 2]}"
                 "(float64[2, 1, 3], int64[2, 1, 3]{0, 3, 4, 6, 8, 11}) {kernel_shape = [2], strides = [2]}",
  };
}

}  // namespace svengine::ops
