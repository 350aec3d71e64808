// ONNX's experimental operators that cut a part out: Crop of an image, and DynamicSlice, from which Slice of opset 10 was made. See
// element_functions.cc.
#include "engine/graph/expand.h"
#include "engine/graph/op_registry.h"
#include "engine/ops/experimental/experimental.h"
#include "engine/ops/infer_util.h"

namespace svengine::ops {

OpDef define_slice();

namespace {

/// First row and column of what is left, and its size where attribute `scale` gives one.
struct CropWindow {
  std::vector<int64_t> border, size;  // left, top, right, bottom; height, width or empty

  int64_t first(size_t spatial) const { return border[1 - spatial]; }
  /// How many are left of `length` rows (0) or columns (1).
  int64_t left_of(size_t spatial, int64_t length) const {
    return size.empty() ? length - border[3 - spatial] - first(spatial) : size[spatial];
  }
};

CropWindow crop_window(const Attributes& a) { return {a.get_ints("border"), a.get_ints("scale")}; }

Status infer_crop(InferContext& c) {
  SV_TRY(require_rank(c, 0, 4));
  const CropWindow window = crop_window(c.attributes());
  constexpr int64_t kMost = int64_t{1} << 31;
  if (window.border.size() != 4) return error("border has {} numbers, needs 4: left, top, right, bottom", window.border.size());
  if (!window.size.empty() && window.size.size() != 2) return error("scale has {} numbers, needs 2: height and width", window.size.size());
  for (const std::vector<int64_t>* list : {&window.border, &window.size})
    for (const int64_t x : *list)
      if (x < 0 || x > kMost) return error("border and scale need numbers from 0 to {}, have {}", kMost, x);
  if (!c.shape(0).has_rank()) return c.set(0, c.dtype(0), unknown_dims(4)), Status{};
  std::vector<Dim> dims = c.shape(0).dims();
  for (size_t spatial = 0; spatial < 2; ++spatial) {
    Dim& dim = dims[2 + spatial];
    const int64_t left = window.left_of(spatial, dim.is_static() ? dim.value() : kMost);
    if (dim.is_static() && (left < 0 || window.first(spatial) + left > dim.value()))
      return error("{} is {}, too little for border and scale", spatial == 0 ? "the height" : "the width", dim.value());
    dim = dim.is_static() || !window.size.empty() ? Dim(left) : Dim();
  }
  c.set(0, c.dtype(0), Shape(std::move(dims)));
  return {};
}

Status expand_crop(ExpandContext& c) {
  const CropWindow window = crop_window(c.attributes());
  std::vector<int64_t> begin, end;
  for (size_t spatial = 0; spatial < 2; ++spatial) {
    const auto length = c.dim(0, 2 + static_cast<int64_t>(spatial));
    if (!length) return {};  // waits: a border is refused by the image, not by a slice
    begin.push_back(window.first(spatial));
    end.push_back(window.first(spatial) + window.left_of(spatial, *length));
  }
  c.set(0, c.op("Slice", {c.input(0), c.ints(begin), c.ints(end), c.ints({2, 3})}));
  return {};
}

Status dynamic_slice_to_slice(CanonicalizeContext& c) {
  c.graph().set_op(&c.node(), *c.ops().find("", "Slice"));
  return {};
}

}  // namespace

OpDef define_crop() {
  return {.name = "Crop",
          .until = kLastExperimental,
          .inputs = "input",
          .attributes = {{"border", AttributeKind::kInts, true}, {"scale", AttributeKind::kInts, false}},
          .expand = expand_crop,
          .infer = infer_crop,
          .types = {{"T", kRealTypes, {0}}},
          .samples = "(float32[2, 3, 6, 5]) {border = [1, 2, 0, 1]}"
                     "(float32[1, 2, 4, 5]) {border = [1, 0, 9, 9], scale = [3, 2]}"};
}

OpDef define_dynamic_slice() {
  OpDef op = define_slice();
  op.name = "DynamicSlice";
  op.until = kLastExperimental;
  op.inputs = "data, starts, ends, axes?";
  op.types = {{"T", kAllTypes, {0}}, {"Tind", kIndexTypes, {1, 2, 3}}};
  op.canonicalize = dynamic_slice_to_slice;
  op.samples = "(float32[7, 9], int64[2]{1, -3}, int64[2]{100, -1})"
               "(float32[3, 5], int64[1]{-2}, int64[1]{4}, int64[1]{-1})";
  return op;
}

}  // namespace svengine::ops
