// Col2Im: columns of blocks added up at their places in an image, of any number of spatial dimensions: PyTorch's fold. Its gradient,
// svengine.Im2Col, takes them out again: inputs are the image and block_shape, attributes those of Col2Im.
#include <algorithm>
#include <functional>
#include <optional>
#include <type_traits>

#include "engine/graph/gradient.h"
#include "engine/ops/dispatch.h"
#include "engine/kernels/gradient.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/tensor/copy_common.h"

namespace svengine::ops {
namespace {

constexpr DTypeSet kCol2ImTypes = kStoredTypes;
constexpr int64_t kMostCol2Im = int64_t{1} << 40;  // of a size, stride, pad: products of two do not overflow

/// One spatial dimension: of `image` points, blocks of `block`, of which `count` fit.
struct Col2ImAxis {
  int64_t image, block, stride, dilation, before, count;
};

Result<std::vector<Col2ImAxis>> col2im_axes(const Attributes& attributes, const std::vector<int64_t>& image,
                                            const std::vector<int64_t>& block) {
  const size_t n = image.size();
  if (n == 0 || block.size() != n)
    return error("image_shape has {} sizes, block_shape {}; needs as many, and one at least", n, block.size());
  const std::vector<int64_t> strides = attributes.get_ints("strides", std::vector<int64_t>(n, 1));
  const std::vector<int64_t> dilations = attributes.get_ints("dilations", std::vector<int64_t>(n, 1));
  const std::vector<int64_t> pads = attributes.get_ints("pads", std::vector<int64_t>(2 * n, 0));
  if (strides.size() != n || dilations.size() != n || pads.size() != 2 * n)
    return error("{} strides, {} dilations and {} pads for {} dimensions", strides.size(), dilations.size(), pads.size(), n);
  std::vector<Col2ImAxis> axes;
  for (size_t i = 0; i < n; ++i) {
    const auto fits = [](int64_t value, int64_t least) { return value >= least && value <= kMostCol2Im; };
    if (!fits(image[i], 0) || !fits(block[i], 1) || !fits(strides[i], 1) || !fits(dilations[i], 1) || !fits(pads[i], 0) ||
        !fits(pads[n + i], 0) || !fits(block[i] * std::min(dilations[i], int64_t{1} << 20), 1) || dilations[i] > int64_t{1} << 20)
      return error(
          "dimension {}: image {}, block {}, stride {}, dilation {}, pads {} and {}: block, stride and dilation must be positive",
          i, image[i], block[i], strides[i], dilations[i], pads[i], pads[n + i]);
    const int64_t room = image[i] + pads[i] + pads[n + i] - dilations[i] * (block[i] - 1) - 1;
    if (room < 0)
      return error("dimension {}: a block of {} with dilation {} does not fit an image of {}", i, block[i], dilations[i],
                   image[i]);
    axes.push_back({image[i], block[i], strides[i], dilations[i], pads[i], room / strides[i] + 1});
  }
  return axes;
}

/// As many as there are dimensions, where any of the inputs' lengths tells that.
Status check_lists(const InferContext& c) {
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const Shape& sizes = c.shape(i);
    if (!sizes.has_rank() || !sizes[0].is_static()) continue;
    const auto n = static_cast<size_t>(sizes[0].value());
    for (const char* name : {"strides", "dilations", "pads"}) {
      const size_t needed = std::string_view(name) == "pads" ? 2 * n : n;
      const size_t count = c.attributes().get_ints(name, std::vector<int64_t>(needed)).size();
      if (count != needed) return error("{} has {} elements, needs {} for {} dimensions", name, count, needed, n);
    }
  }
  return {};
}

Status infer_col2im(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kCol2ImTypes));
  for (size_t i : {size_t{1}, size_t{2}}) {
    SV_TRY(require_dtype(c, i, {DType::i64}));
    SV_TRY(require_rank(c, i, 1));
  }
  SV_TRY(require_rank(c, 0, 3));
  if (known_different(c.shape(1).has_rank() ? c.shape(1)[0] : Dim(), c.shape(2).has_rank() ? c.shape(2)[0] : Dim()))
    return error("image_shape has {} sizes, block_shape {}; needs as many", c.shape(1)[0].value(), c.shape(2)[0].value());
  SV_TRY(check_lists(c));
  const auto image = c.integers(1), block = c.integers(2);
  const Shape& in = c.shape(0);
  if (!image) {
    const Shape& sizes = c.shape(1);
    const bool known = sizes.has_rank() && sizes[0].is_static() && sizes[0].value() <= 30;
    c.set(0, c.dtype(0), known ? unknown_dims(sizes[0].value() + 2) : Shape());
    return {};
  }
  Dim channels;
  if (block) {
    SV_ASSIGN(const std::vector<Col2ImAxis> axes, col2im_axes(c.attributes(), *image, *block));
    int64_t points = 1, columns = 1;
    for (const Col2ImAxis& a : axes) {
      if (a.block > kMostCol2Im / points || a.count > kMostCol2Im / columns)
        return unimplemented("blocks of more than 2^40 points or columns");
      points *= a.block;
      columns *= a.count;
    }
    if (in.has_rank() && in[2].is_static() && in[2].value() != columns)
      return error("the input has {} columns, image, blocks and strides give {}", in[2].value(), columns);
    if (in.has_rank() && in[1].is_static()) {
      if (in[1].value() % points != 0)
        return error("dimension 1 of the input is {}, no multiple of a block's {} points", in[1].value(), points);
      channels = in[1].value() / points;
    }
  }
  std::vector<Dim> out{in.has_rank() ? in[0] : Dim(), channels};
  out.insert(out.end(), image->begin(), image->end());
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

/// Columns that stand side by side, along the last dimension, for one point of a block: of `count`, those from `begin` to `end` lie in the image,
/// from `at` on, `stride` apart.
struct ColumnRow {
  int64_t count, begin, end, at, stride;
};

using RowVisitor = std::function<void(const ColumnRow&)>;

/// Calls f(row) for every row of columns in order, for one point of a block.
void each_row(const std::vector<Col2ImAxis>& axes, const int64_t* point, size_t d, int64_t offset, const RowVisitor& f) {
  const Col2ImAxis& a = axes[d];
  const int64_t first = point[d] * a.dilation - a.before;
  if (d + 1 == axes.size()) {
    const auto up_to = [&](int64_t limit) { return limit <= first ? 0 : std::min(a.count, (limit - first - 1) / a.stride + 1); };
    const int64_t begin = up_to(0), end = offset < 0 ? begin : up_to(a.image);
    return f(ColumnRow{a.count, begin, end, offset * a.image + first + begin * a.stride, a.stride});
  }
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t at = i * a.stride + first;
    each_row(axes, point, d + 1, offset < 0 || at < 0 || at >= a.image ? -1 : offset * a.image + at, f);
  }
}

/// Integers wrap, as they do in vectors.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
  else return static_cast<T>(a + b);
}

/// Calls f(row) for all rows of the columns of an image in order.
void each_row(const std::vector<Col2ImAxis>& axes, const RowVisitor& f) {
  int64_t point[32] = {};
  for (bool more = true; more;) {
    each_row(axes, point, 0, 0, f);
    more = false;
    for (size_t d = axes.size(); d-- > 0 && !more;) {
      more = ++point[d] < axes[d].block;
      if (!more) point[d] = 0;
    }
  }
}

template <class T>
void add_row(const ColumnRow& row, const T* in, T* image) {
  const int64_t n = row.end - row.begin;
  T* to = image + row.at;
  in += row.begin;
  if (row.stride == 1)
    for (int64_t i = 0; i < n; ++i) to[i] = sum_of(to[i], in[i]);
  else
    for (int64_t i = 0; i < n; ++i) to[i * row.stride] = sum_of(to[i * row.stride], in[i]);
}

template <class T>
void take_row(const ColumnRow& row, const T* image, T* out) {
  std::fill(out, out + row.begin, T{0});
  for (int64_t i = row.begin; i < row.end; ++i) out[i] = image[row.at + (i - row.begin) * row.stride];
  std::fill(out + row.end, out + row.count, T{0});
}

/// The shape of the kernel that convolutions' gradients fold columns with: up to three dimensions, and steps that vectors of 32-bit indices reach.
std::optional<kernels::PoolShape> fold_shape(const std::vector<Col2ImAxis>& axes, int64_t images) {
  constexpr int64_t kMostStride = 1 << 24;
  if (axes.size() > 3 || axes.back().stride > kMostStride) return std::nullopt;
  kernels::PoolShape shape;
  shape.batch = images;
  int64_t* const sides[3][6] = {
      {&shape.in.width, &shape.out.width, &shape.kernel.width, &shape.stride.width, &shape.dilation.width, &shape.pad.width},
      {&shape.in.height, &shape.out.height, &shape.kernel.height, &shape.stride.height, &shape.dilation.height, &shape.pad.height},
      {&shape.in.depth, &shape.out.depth, &shape.kernel.depth, &shape.stride.depth, &shape.dilation.depth, &shape.pad.depth}};
  for (size_t d = 0; d < axes.size(); ++d) {
    const Col2ImAxis& a = axes[axes.size() - 1 - d];
    const int64_t values[6] = {a.image, a.count, a.block, a.stride, a.dilation, a.before};
    for (size_t i = 0; i < 6; ++i) *sides[d][i] = values[i];
  }
  return shape;
}

Status lower_col2im(LowerContext& c) {
  if (!c.constant(1) || !c.constant(2)) return error("image_shape and block_shape are not known when the node is planned");
  SV_ASSIGN(const std::vector<Col2ImAxis> axes,
            col2im_axes(c.attributes(), c.constant(1)->as_int64s(), c.constant(2)->as_int64s()));
  const Dims in = c.in_dims(0), out = c.out_dims();
  const int64_t pixels = element_count(std::span(out).subspan(2)), images = out[0] * out[1];
  const int64_t columns = images ? element_count(in) / images : 0;
  const Buffer x = c.in(0), y = c.out();
  const std::optional<kernels::PoolShape> shape = fold_shape(axes, images);
  if (shape && images * pixels > 0 && c.out_type().dtype == DType::f32) {
    emit_kernel(c, "col2im", c.kernels().gradient->fold, kernels::FoldArgs{.shape = *shape}, [=](kernels::FoldArgs& a, const Run& run) {
      a.columns = run.get<const float>(x);
      a.dx = run.get<float>(y);
    });
    return {};
  }
  with_type(c.out_type().dtype, [&]<class T>() {
    c.emit("col2im", pixels ? images : 0, [=](const Run& run, int64_t begin, int64_t end) -> const char* {
      for (int64_t i = begin; i < end; ++i) {
        T* image = run.get<T>(y) + i * pixels;
        std::fill(image, image + pixels, T{0});
        each_row(axes, [image, in = run.get<const T>(x) + i * columns](const ColumnRow& row) mutable {
          if (row.begin < row.end) add_row(row, in, image);
          in += row.count;
        });
      }
      return nullptr;
    });
  });
  return {};
}

Status col2im_gradient(GradientContext& c) {
  c.set(0, c.internal("Im2Col", {c.dy(), c.input(2)}, c.attributes()));
  return {};
}

Status infer_im2col(InferContext& c) {
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank(c, 1, 1));
  SV_TRY(require_rank_at_least(c, 0, 3));
  const auto block = c.integers(1);
  const Shape& in = c.shape(0);
  if (in.has_rank() && in.rank() > 32) return unimplemented("the input is of rank {}, at most 32 are taken", in.rank());
  Dim rows, columns;
  if (block && in.has_rank()) {
    Dims image;
    for (size_t i = 2; i < in.dims().size() && in[i].is_static(); ++i) image.push_back(in[i].value());
    if (image.size() + 2 == in.dims().size()) {
      SV_ASSIGN(const std::vector<Col2ImAxis> axes, col2im_axes(c.attributes(), image, *block));
      columns = Dim(1), rows = in[1];
      for (const Col2ImAxis& a : axes) columns = multiply(columns, Dim(a.count)), rows = multiply(rows, Dim(a.block));
    }
  }
  c.set(0, c.dtype(0), Shape{in.has_rank() ? in[0] : Dim(), rows, columns});
  return {};
}

Status lower_im2col(LowerContext& c) {
  if (!c.constant(1)) return error("block_shape is not known when the node is planned");
  const Dims in = c.in_dims(0);
  SV_ASSIGN(const std::vector<Col2ImAxis> axes, col2im_axes(c.attributes(), Dims(in.begin() + 2, in.end()), c.constant(1)->as_int64s()));
  const int64_t pixels = element_count(std::span(in).subspan(2)), images = in[0] * in[1];
  const int64_t columns = images ? element_count(c.out_dims()) / images : 0;
  with_type(c.out_type().dtype, [&]<class T>() {
    c.emit("im2col", columns ? images : 0, [=, x = c.in(0), y = c.out()](const Run& run, int64_t begin, int64_t end) -> const char* {
      for (int64_t i = begin; i < end; ++i)
        each_row(axes, [image = run.get<const T>(x) + i * pixels, out = run.get<T>(y) + i * columns](const ColumnRow& row) mutable {
          take_row(row, image, out);
          out += row.count;
        });
      return nullptr;
    });
  });
  return {};
}

}  // namespace

OpDef define_im2col() {
  return {
      .name = "Im2Col",
      .domain = kInternalDomain,
      .inputs = "input, block_shape",
      .attributes = {{"dilations", AttributeKind::kInts}, {"pads", AttributeKind::kInts}, {"strides", AttributeKind::kInts}},
      .infer = infer_im2col,
      .lower = lower_im2col,
      .traits = {.shape_inputs = {1}},
      .samples = "(float32[2, 2, 5, 5], int64[2]{2, 3}) {pads = [1, 0, 1, 2]}"
                 "(float64[1, 3, 9], int64[1]{3}) {strides = [2]}",
  };
}

OpDef define_col2im() {
  return {
      .name = "Col2Im",
      .since = 18,
      .inputs = "input, image_shape, block_shape",
      .attributes = {{"dilations", AttributeKind::kInts}, {"pads", AttributeKind::kInts}, {"strides", AttributeKind::kInts}},
      .infer = infer_col2im,
      .lower = lower_col2im,
      .gradient = col2im_gradient,
      .traits = {.shape_inputs = {1, 2}},
      .samples = "(float32[1, 5, 5], int64[2]{5, 5}, int64[2]{1, 5})"
                 "(float32[2, 12, 12], int64[2]{5, 5}, int64[2]{2, 3})"
                 "(float32[1, 9, 4], int64[2]{5, 5}, int64[2]{3, 3}) {strides = [2, 2]}"
                 "(float32[1, 4, 5], int64[2]{6, 6}, int64[2]{2, 2}) {dilations = [1, 5]}"
                 "(float64[1, 3, 6], int64[1]{4}, int64[1]{3}) {pads = [2, 2]}"
                 "(float32[2, 24, 18], int64[3]{3, 4, 5}, int64[3]{2, 2, 3}) {strides = [1, 2, 2], pads = [0, 1, 0, 1, 0, 2]}"
                 "(float32[1, 16, 16], int64[4]{2, 3, 2, 3}, int64[4]{1, 2, 2, 2}) {pads = [0, 0, 1, 0, 0, 0, 0, 0]}"
                 "(float64[2, 12, 12], int64[2]{5, 5}, int64[2]{2, 3})"
                 "(int32[2, 8, 12] -9 to 9, int64[3]{3, 4, 3}, int64[3]{2, 2, 2})"
                 "(float32[0, 4, 4], int64[2]{3, 3}, int64[2]{2, 2})",
  };
}

}  // namespace svengine::ops
