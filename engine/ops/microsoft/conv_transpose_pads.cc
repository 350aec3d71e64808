// com.microsoft.ConvTransposeWithDynamicPads: a ConvTranspose whose pads are an input.
#include "engine/ops/microsoft/microsoft_common.h"
#include "engine/ops/nn/conv_common.h"
#include "engine/ops/nn/transposed_window.h"

namespace svengine::ops {
namespace {

constexpr size_t kPads = 2, kBias = 3;

/// The node as ai.onnx's, where Pads are known.
std::optional<Attributes> with_pads(const InferContext& c) {
  Attributes attributes = c.attributes();
  if (!c.has_input(kPads)) return attributes;
  const auto pads = c.integers(kPads);
  if (!pads) return std::nullopt;
  attributes.set("pads", *pads);
  return attributes;
}

/// Batch and channels are known, sizes where Pads are.
Status infer_padded_transpose(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(check_spatial_rank(c.shape(0), "X"));
  SV_TRY(require_dtype(c, kPads, {DType::i64}));
  SV_TRY(require_rank(c, kPads, 1));
  for (const size_t i : {size_t{1}, kBias})
    if (c.has_input(i) && c.dtype(i) != c.dtype(0))
      return error("{} is {}, must be {} as X is", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(0)));
  SV_TRY(check_spatial_rank(c.shape(1), "W"));
  SV_TRY(require_rank(c, kBias, 1));
  SV_TRY(check_transpose_channels(c, kBias));
  const Shape &x = c.shape(0), &w = c.shape(1);
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape()), Status{};
  Shape y = unknown_dims(x.rank());
  y.set(0, x[0]);
  if (w.has_rank()) y.set(1, multiply(w[1], Dim(c.attributes().get_int("group", 1))));
  const std::optional<Attributes> attributes = with_pads(c);
  if (attributes && x.is_static() && w.is_static()) {
    const Dims sizes = *x.concrete(), kernel = *w.concrete();
    SV_ASSIGN(const Window window, transposed_window(*attributes, Dims(sizes.begin() + 2, sizes.end()), Dims(kernel.begin() + 2, kernel.end())));
    for (size_t i = 0; i < window.in.size(); ++i) y.set(i + 2, Dim(window.in[i]));
  }
  c.set(0, c.dtype(0), std::move(y));
  return {};
}

Status expand_padded_transpose(ExpandContext& c) {
  Attributes attributes = c.attributes();
  if (const Value* pads = c.input(kPads)) {
    if (!pads->is_constant()) return {};
    attributes.set("pads", pads->constant().as_int64s());
  }
  c.set(0, c.op("ConvTranspose", {c.input(0), c.input(1), c.input(kBias)}, std::move(attributes)));
  return {};
}

}  // namespace

OpDef define_microsoft_conv_transpose_with_dynamic_pads() {
  std::vector<AttributeDef> attributes = conv_attributes();
  std::erase_if(attributes, [](const AttributeDef& a) { return a.name == std::string_view("pads"); });
  attributes.push_back({"output_padding", AttributeKind::kInts});
  return {
      .name = "ConvTransposeWithDynamicPads",
      .domain = kMicrosoftDomain,
      .until = 1,
      .inputs = "X, W, Pads?, B?",
      .attributes = std::move(attributes),
      .expand = expand_padded_transpose,
      .infer = infer_padded_transpose,
      .traits = {.shape_inputs = {kPads}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[1, 2, 4, 5], float32[2, 3, 3, 3], int64[4]{1, 0, 1, 1}, float32[3]) {strides = [2, 2]}"
                 "(float32[1, 2, 4], float32[2, 3, 3]) {group = 2}",
  };
}

}  // namespace svengine::ops
