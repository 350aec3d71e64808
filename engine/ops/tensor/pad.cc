// Pad: elements added before and after each dimension, or taken away where a pad is negative. The added ones are a constant, or
// follow the mode: edge repeats the last, reflect mirrors without it, wrap starts over at the other end, of what was not taken away.
#include <algorithm>

#include "engine/graph/gradient.h"
#include "engine/graph/transposed_node.h"
#include "engine/ops/element.h"
#include "engine/ops/evaluate_strings.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/tensor/map_common.h"
#include "engine/ops/tensor/pad_common.h"

namespace svengine::ops {
namespace {

Status canonicalize_pad(CanonicalizeContext& c) {
  if (c.opset() >= 11) return {};
  if (!c.attributes().has("pads")) return error("attribute 'pads' is needed");
  c.attribute_to_input("pads", 1);
  if (c.attributes().get_string("mode", "constant") == "constant") {
    const Value* data = c.node().input(0);
    if (data && kRealTypes.has(data->type.dtype))
      c.set_input(2, c.graph().add_constant(c.node().name() + ".value", scalar_of(data->type.dtype, c.attributes().get_float("value"))));
  }
  c.attributes().erase("value");
  return {};
}

Status infer_pad(InferContext& c) {
  SV_TRY(require_dtype(c, 1, {DType::i64}));
  SV_TRY(require_rank(c, 1, 1));
  SV_TRY(require_single(c, 2));
  SV_TRY(require_dtype(c, 3, kIndexTypes));
  if (c.has_input(2) && c.dtype(2) != c.dtype(0))
    return error("the pad value is {}, the input {}; needs one type", name_of(c.dtype(2)), name_of(c.dtype(0)));
  const std::string mode = c.attributes().get_string("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    return error("mode is '{}', needs constant, reflect, edge or wrap", mode);
  const Shape& in = c.shape(0);
  if (!in.has_rank()) {
    c.set(0, c.dtype(0), Shape());
    return {};
  }
  SV_ASSIGN(const std::optional<Pads> pads, read_pads(c.node(), in.rank()));
  if (!pads) {
    c.set(0, c.dtype(0), unknown_dims(in.rank()));
    return {};
  }
  const Pads& p = *pads;
  Shape out = in;
  for (size_t i = 0; i < out.dims().size(); ++i) {
    const int64_t growth = p.before[i] + p.after[i];
    if (!in[i].is_static()) {
      if (growth != 0) out.set(i, Dim());
      continue;
    }
    if (in[i].value() + growth < 0)
      return error("pads {} and {} take more from dimension {} than its {} elements", p.before[i], p.after[i], i, in[i].value());
    const int64_t kept = in[i].value() + std::min<int64_t>(0, p.before[i]) + std::min<int64_t>(0, p.after[i]);
    if (kept <= 0 && mode != "constant" && (p.before[i] > 0 || p.after[i] > 0))
      return error("dimension {} is {}, and mode {} has nothing to take pads from", i, in[i].value() == 0 ? "empty" : "cut off", mode);
    out.set(i, in[i].value() + growth);
  }
  c.set(0, c.dtype(0), std::move(out));
  return {};
}

Status lower_pad(LowerContext& c) {
  const Dims in = c.in_dims(0), out = c.out_dims();
  if (element_count(out) == 0) return {};
  SV_ASSIGN(const Pads p, planned_pads(c, static_cast<int64_t>(in.size())));
  std::vector<std::vector<int32_t>> maps;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] > kLongestPadded || out[i] > kLongestPadded)
      return unimplemented("axis {} is longer than the {} that can be padded", i, kLongestPadded);
    maps.push_back(kernels::pad_map(pad_mode(c.attributes()), in[i], p.before[i], p.after[i]));
  }
  return emit_map(c, "pad", maps, c.in(2));
}

Status pad_gradient(GradientContext& c) {
  if (pad_mode(c.attributes()) != kernels::PadMode::kConstant) {
    c.set(0, c.internal("PadGrad", {c.dy(), c.input(1), nullptr, c.input(3), c.input(0)}, c.attributes()));
    return {};
  }
  Value* back = c.op("Neg", {c.input(1)});
  std::vector<Value*> inputs{c.dy(), back};
  if (c.input(3)) inputs.insert(inputs.end(), {nullptr, c.input(3)});
  if (c.wants(0)) c.set(0, c.op("Pad", std::move(inputs)));
  if (!c.wants(2)) return {};
  return error("the gradient of constant_value is not known");
}

std::optional<TransposedNode> transposed_pad(const Node& node, const Permutation& perm) {
  const auto axes = node.input(3) ? known_integers(node, 3) : every_axis(static_cast<int64_t>(perm.size()));
  return axes ? transposed_with_axes(node, perm, 3, *axes) : std::nullopt;
}

/// All widths are known to be 0.
bool pads_nothing(const Node& node) {
  const auto pads = known_pads(node);
  const auto none = [](const std::vector<int64_t>& widths) { return std::count(widths.begin(), widths.end(), 0) == std::ssize(widths); };
  return pads && none(pads->before) && none(pads->after);
}

}  // namespace

OpDef define_pad() {
  return {
      .name = "Pad",
      .inputs = "data, pads, constant_value?, axes?",
      .attributes = {{"mode", AttributeKind::kString, false, "constant"}},
      .canonicalize = canonicalize_pad,
      .infer = infer_pad,
      .lower = lower_pad,
      .evaluate = evaluate_strings,
      .types = {{"T", kAllTypes, {0, 2}}, {"pads", DTypeSet{DType::i64}, {1}}, {"Tind", kIndexTypes, {3}}},
      .kernel_types = kDenseTypes,
      .cost = movement_cost,
      .gradient = pad_gradient,
      .traits = {.shape_inputs = {1, 3}, .is_identity = pads_nothing, .moves_elements = always, .transposed = transposed_pad},
      .samples = "(float32[3, 5], int64[4]{1, 2, 0, 3}, float32[]{1.5})"
                 R"((float32[2, 3, 5], int64[6]{0, 2, 3, 0, 1, 4}) {mode = "reflect"})"
                 R"((float32[4, 5], int64[4]{1, -1, -2, 2}) {mode = "edge"})"
                 R"((float32[3], int64[2]{4, 8}) {mode = "wrap"})"
                 "(int64[2, 2], int64[4]{1, 1, 1, 1})",
  };
}

}  // namespace svengine::ops
