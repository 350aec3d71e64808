#include "validate/convert/older_forms.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>
#include <string_view>

#include "engine/graph/axes.h"
#include "engine/graph/bodies.h"
#include "engine/graph/expand.h"

namespace svengine::validate {
namespace {

Attributes without(Attributes attributes, std::initializer_list<const char*> names) {
  for (const char* name : names) attributes.erase(name);
  return attributes;
}

std::optional<std::vector<int64_t>> known_integers(const Value* v) {
  if (!v || !v->is_constant() || (v->type.dtype != DType::i64 && v->type.dtype != DType::i32)) return std::nullopt;
  return v->constant().as_int64s();
}

/// The type that norms compute in: their stash_type is float32, but double stays.
DType norm_type(const ExpandContext& c) { return c.dtype(0) == DType::f64 ? DType::f64 : DType::f32; }

/// 1 / sqrt(mean of v^2 over the axes + epsilon)
Value* inverse_deviation(ExpandContext& c, Value* v, Value* axes, DType type) {
  Value* variance = c.op("ReduceMean", {c.op("Mul", {v, v}), axes});
  return c.op("Reciprocal", {c.op("Sqrt", {c.op("Add", {variance, c.number(c.attributes().get_float("epsilon", 1e-5f), type)})})});
}

/// From attribute "axis" to the last dimension; null where the rank is not known.
Value* axes_behind(ExpandContext& c) {
  if (!c.shape(0).has_rank()) return nullptr;
  const Result<int64_t> axis = normalise_axis(c.attributes().get_int("axis", -1), c.shape(0).rank());
  if (!axis.ok()) return nullptr;
  std::vector<int64_t> axes(static_cast<size_t>(c.shape(0).rank() - *axis));
  std::iota(axes.begin(), axes.end(), *axis);
  return c.ints(std::move(axes));
}

Status make_gelu(ExpandContext& c) {
  const DType type = c.dtype(0);
  Value* x = c.input(0);
  const auto times = [&](Value* v, double by) { return c.op("Mul", {v, c.number(by, type)}); };
  Value* inner = nullptr;
  if (c.attributes().get_string("approximate", "none") == "tanh") {
    Value* cube = c.op("Mul", {c.op("Mul", {x, x}), x});
    inner = c.op("Tanh", {times(c.op("Add", {x, times(cube, 0.044715)}), std::sqrt(2 / std::numbers::pi))});
  } else {
    inner = c.op("Erf", {times(x, 1 / std::numbers::sqrt2)});
  }
  c.set(0, c.op("Mul", {x, times(c.op("Add", {inner, c.number(1, type)}), 0.5)}));
  return {};
}

Status make_hard_swish(ExpandContext& c) {
  c.set(0, c.op("Mul", {c.input(0), c.op("HardSigmoid", {c.input(0)}, make_attributes({{"alpha", 1 / 6.0f}, {"beta", 0.5f}}))}));
  return {};
}

Status make_mish(ExpandContext& c) {
  c.set(0, c.op("Mul", {c.input(0), c.op("Tanh", {c.op("Softplus", {c.input(0)})})}));
  return {};
}

Status make_swish(ExpandContext& c) {
  const float alpha = c.attributes().get_float("alpha", 1);
  Value* scaled = alpha == 1 ? c.input(0) : c.op("Mul", {c.input(0), c.number(alpha, c.dtype(0))});
  c.set(0, c.op("Mul", {c.input(0), c.op("Sigmoid", {scaled})}));
  return {};
}

Status make_swi_glu(ExpandContext& c) {
  SV_TRY(make_swish(c));
  c.set(0, c.op("Mul", {c.results()[0], c.input(1)}));
  return {};
}

Status make_cast_like(ExpandContext& c) {
  c.set(0, c.cast(c.input(0), c.dtype(1)));
  return {};
}

Status make_layer_norm(ExpandContext& c) {
  Value* axes = axes_behind(c);
  if (!axes) return {};
  const DType type = norm_type(c);
  Value* x = c.cast(c.input(0), type);
  Value* mean = c.op("ReduceMean", {x, axes});
  Value* centred = c.op("Sub", {x, mean});
  Value* inverse = inverse_deviation(c, centred, axes, type);
  Value* y = c.op("Mul", {c.cast(c.op("Mul", {centred, inverse}), c.dtype(0)), c.input(1)});
  c.set(0, c.has_input(2) ? c.op("Add", {y, c.input(2)}) : y);
  c.set(1, c.cast(mean, DType::f32)), c.set(2, c.cast(inverse, DType::f32));
  return {};
}

Status make_rms_norm(ExpandContext& c) {
  Value* axes = axes_behind(c);
  if (!axes) return {};
  const DType type = norm_type(c);
  Value* x = c.cast(c.input(0), type);
  Value* normal = c.cast(c.op("Mul", {x, inverse_deviation(c, x, axes, type)}), c.dtype(0));
  c.set(0, c.op("Mul", {normal, c.input(1)}));
  return {};
}

/// Groups of channels are rows of [batch, groups, the rest].
Status make_group_norm(ExpandContext& c) {
  if (!c.shape(0).has_rank() || c.shape(0).rank() < 2) return {};
  const DType type = norm_type(c);
  const int64_t groups = c.attributes().get_int("num_groups");
  Value* x = c.reshape(c.cast(c.input(0), type), {0, groups, -1});
  Value* axes = c.ints({2});
  Value* centred = c.op("Sub", {x, c.op("ReduceMean", {x, axes})});
  Value* normal = c.op("Mul", {centred, inverse_deviation(c, centred, axes, type)});
  Value* y = c.cast(c.reshape_like(normal, c.input(0)), c.dtype(0));
  std::vector<int64_t> per_channel(static_cast<size_t>(c.shape(0).rank() - 1), 1);
  per_channel[0] = -1;
  const auto of_channels = [&](Value* v) { return c.reshape(v, per_channel); };
  c.set(0, c.op("Add", {c.op("Mul", {y, of_channels(c.input(1))}), of_channels(c.input(2))}));
  return {};
}

/// As [batch, length, heads, size]: pairs of a head's first elements turn by angles of the token's position, the rest stays.
Status make_rotary(ExpandContext& c) {
  const auto half = c.dim(1, -1);
  const Shape& shape = c.shape(0);
  if (!half || !shape.has_rank()) return {};
  const bool flat = shape.rank() == 3, interleaved = c.attributes().get_int("interleaved", 0) != 0;
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  Value* x = flat ? c.reshape(c.input(0), {0, 0, c.attributes().get_int("num_heads"), -1})
                  : c.transpose(c.input(0), {0, 2, 1, 3});
  const auto angles = [&](size_t i) {
    Value* rows = c.has_input(3) ? c.op("Gather", {c.input(i), c.input(3)}) : c.input(i);
    return c.unsqueeze(rows, {2});
  };
  const auto of_pairs = [&](int64_t which) {
    if (!interleaved) return c.slice(x, 3, which * *half, (which + 1) * *half);
    return c.op("Slice", {x, c.ints({which}), c.ints({2 * *half}), c.ints({3}), c.ints({2})});
  };
  Value *cosine = angles(1), *sine = angles(2), *a = of_pairs(0), *b = of_pairs(1);
  Value* first = c.op("Sub", {c.op("Mul", {cosine, a}), c.op("Mul", {sine, b})});
  Value* second = c.op("Add", {c.op("Mul", {sine, a}), c.op("Mul", {cosine, b})});
  Value* turned = interleaved ? c.reshape(c.concat({c.unsqueeze(first, {4}), c.unsqueeze(second, {4})}, 4), {0, 0, 0, -1})
                              : c.concat({first, second}, 3);
  Value* y = c.concat({turned, c.slice(x, 3, 2 * *half, kEnd)}, 3);
  c.set(0, flat ? c.reshape_like(y, c.input(0)) : c.transpose(y, {0, 2, 1, 3}));
  return {};
}

/// num_outputs pieces, the last of which may be smaller, by their sizes.
Status make_sized_split(ExpandContext& c) {
  const size_t pieces = c.node().outputs().size();
  for (size_t i = 0; i < pieces; ++i)
    if (!c.node().output(i)->type.shape.has_rank()) return {};
  const Result<int64_t> axis = normalise_axis(c.attributes().get_int("axis"), c.node().output(0)->type.shape.rank());
  std::vector<int64_t> sizes;
  for (size_t i = 0; axis.ok() && i < pieces; ++i)
    if (const Dim& d = c.node().output(i)->type.shape[static_cast<size_t>(*axis)]; d.is_static()) sizes.push_back(d.value());
  if (sizes.size() != pieces) return {};
  Node* split = c.builder().node("", "Split", {c.input(0), c.ints(std::move(sizes))}, pieces, without(c.attributes(), {"num_outputs"}));
  for (size_t i = 0; split && i < pieces; ++i) c.set(i, split->output(i));
  return {};
}

/// Pads of all axes in place of those of some.
Status make_full_pad(ExpandContext& c) {
  const auto axes = known_integers(c.input(3)), pads = known_integers(c.input(1));
  if (!axes || !c.shape(0).has_rank() || (pads && pads->size() != 2 * axes->size())) return {};
  const auto rank = static_cast<size_t>(c.shape(0).rank());
  std::vector<int64_t> full(2 * rank);
  Value* none = pads ? nullptr : c.ints({0});
  std::vector<Value*> parts(2 * rank, none);  // of computed pads
  for (size_t i = 0; i < axes->size(); ++i) {
    SV_ASSIGN(const int64_t axis, normalise_axis((*axes)[i], c.shape(0).rank()));
    for (const size_t side : {size_t{0}, size_t{1}}) {
      const size_t to = side * rank + static_cast<size_t>(axis), from = side * axes->size() + i;
      if (pads) full[to] = (*pads)[from];
      else parts[to] = c.slice(c.input(1), 0, static_cast<int64_t>(from), static_cast<int64_t>(from) + 1);
    }
  }
  std::vector<Value*> inputs{c.input(0), pads ? c.ints(std::move(full)) : c.concat(std::move(parts), 0)};
  if (c.has_input(2)) inputs.push_back(c.input(2));
  c.set(0, c.op("Pad", std::move(inputs), c.attributes()));
  return {};
}

/// Scales or sizes of all axes.
Status make_full_resize(ExpandContext& c) {
  const auto* given = c.attributes().get<std::vector<int64_t>>("axes");
  if (!given || !c.shape(0).has_rank() || c.attributes().get_string("coordinate_transformation_mode") == "tf_crop_and_resize") return {};
  const Shape& x = c.shape(0);
  const auto sizes = known_integers(c.input(3));
  const Value* scales = c.input(2);
  const bool by_scale = !sizes && scales && scales->is_constant() && scales->type.dtype == DType::f32;
  std::vector<float> full_scales(x.dims().size(), 1.0f);
  std::vector<int64_t> full_sizes;
  for (const Dim& d : x.dims()) full_sizes.push_back(d.is_static() ? d.value() : -1);
  if (!sizes && (!by_scale || static_cast<size_t>(scales->constant().count()) != given->size())) return {};
  for (size_t i = 0; i < given->size(); ++i) {
    SV_ASSIGN(const int64_t axis, normalise_axis((*given)[i], x.rank()));
    if (sizes) full_sizes[static_cast<size_t>(axis)] = (*sizes)[i];
    else std::memcpy(&full_scales[static_cast<size_t>(axis)], scales->constant().raw() + i * sizeof(float), sizeof(float));
  }
  if (sizes && std::count(full_sizes.begin(), full_sizes.end(), -1)) return {};
  std::vector<Value*> inputs{c.input(0), nullptr};
  if (sizes) inputs.push_back(nullptr), inputs.push_back(c.ints(std::move(full_sizes)));
  else inputs.push_back(c.builder().constant(Tensor::of<float>({x.rank()}, std::span<const float>(full_scales))));
  c.set(0, c.op("Resize", std::move(inputs), without(c.attributes(), {"axes"})));
  return {};
}

/// A part of the shape.
Status make_sliced_shape(ExpandContext& c) {
  const int64_t start = c.attributes().get_int("start", 0), end = c.attributes().get_int("end", std::numeric_limits<int64_t>::max());
  c.set(0, c.op("Slice", {c.op("Shape", {c.input(0)}), c.ints({start}), c.ints({end}), c.ints({0})}));
  return {};
}

/// Trilu: of column - row, which of a matrix's diagonals an element is on, those from k on are kept, or up to k.
Status make_masked(ExpandContext& c) {
  if (!c.shape(0).has_rank()) return {};
  Value* rows = c.unsqueeze(c.up_to(c.scalar_of_dim(c.input(0), -2)), {1});
  Value* diagonal = c.op("Sub", {c.up_to(c.scalar_of_dim(c.input(0), -1)), rows});
  Value* k = c.has_input(1) ? c.input(1) : c.number(0, DType::i64);
  Value* outside = c.op(c.attributes().get_int("upper", 1) != 0 ? "Less" : "Greater", {diagonal, k});
  const bool boolean = c.dtype(0) == DType::boolean;
  Value* zero = boolean ? c.builder().constant(Tensor::scalar(false)) : c.number(0, c.dtype(0));
  c.set(0, c.op("Where", {outside, zero, c.input(0)}));
  return {};
}

bool has_part(const Node& n) { return n.attributes.get_int("start", 0) != 0 || n.attributes.has("end"); }

/// The shape of a value as it is written before opset 14, whatever comes of it where there are no elements.
bool is_whole_shape(const Value* v) {
  const Node* node = v->producer();
  return node && node->op().name == std::string_view("Shape") && !has_part(*node);
}

/// Without zeros in a shape that is known, none is meant.
Status make_plain_reshape(ExpandContext& c) {
  const auto shape = known_integers(c.input(1));
  if (shape ? !std::count(shape->begin(), shape->end(), 0) : is_whole_shape(c.input(1)))
    c.set(0, c.op("Reshape", {c.input(0), c.input(1)}, without(c.attributes(), {"allowzero"})));
  return {};
}

/// Celu of doubles; of the smaller types there is one of float32.
Status make_celu(ExpandContext& c) {
  Value* alpha = c.number(c.attributes().get_float("alpha", 1), c.dtype(0));
  c.set(0, c.op("Mul", {alpha, c.op("Elu", {c.op("Div", {c.input(0), alpha})})}));
  return {};
}

/// What gives its input as it is.
Status make_nothing(ExpandContext& c) {
  c.set(0, c.input(0));
  return {};
}

Status make_presence(ExpandContext& c) {
  c.set(0, c.builder().constant(Tensor::scalar(c.has_input(0))));
  return {};
}

bool takes(const Node& n, DType type) { return n.input(0) && n.input(0)->type.dtype == type; }
bool is_celu_of_doubles(const Node& n) { return takes(n, DType::f64) && n.attributes.get_float("alpha", 1) > 0; }
bool takes_sequence(const Node& n) { return takes(n, DType::sequence); }
bool takes_optional(const Node& n) { return takes(n, DType::optional); }
bool takes_no_optional(const Node& n) { return !takes(n, DType::optional) && !takes(n, DType::undefined); }
bool allows_zero(const Node& n) { return n.attributes.get_int("allowzero", 0) != 0; }
bool has_num_outputs(const Node& n) { return n.attributes.has("num_outputs"); }
bool has_pad_axes(const Node& n) { return n.input(3) != nullptr; }
bool has_axes(const Node& n) { return n.attributes.has("axes"); }

/// Where the present form of an operator began, and of which nodes that is the question.
struct OlderForm {
  std::string_view domain, op;
  int since;
  Status (*make)(ExpandContext&);
  bool (*asked)(const Node&) = always;
};
constexpr OlderForm kOlderForms[] = {
    {"", "HardSwish", 14, make_hard_swish},        {"", "Trilu", 14, make_masked},
    {"", "Reshape", 14, make_plain_reshape, allows_zero},
    {"", "Identity", 14, make_nothing, takes_sequence}, {"", "Identity", 16, make_nothing, takes_optional},
    {"", "OptionalGetElement", 18, make_nothing, takes_no_optional}, {"", "OptionalHasElement", 18, make_presence, takes_no_optional},
    {"", "CastLike", 15, make_cast_like},          {"", "Shape", 15, make_sliced_shape, has_part},
    {"", "LayerNormalization", 17, make_layer_norm}, {"", "Mish", 18, make_mish},
    {"", "Split", 18, make_sized_split, has_num_outputs}, {"", "Pad", 18, make_full_pad, has_pad_axes},
    {"", "Resize", 18, make_full_resize, has_axes}, {"", "Gelu", 20, make_gelu},
    {"", "GroupNormalization", 21, make_group_norm}, {"", "RMSNormalization", 23, make_rms_norm},
    {"", "RotaryEmbedding", 23, make_rotary},
    {"", "Swish", 24, make_swish},                 {kInternalDomain, "Silu", 24, make_swish},
    {"", "SwiGLU", 28, make_swi_glu},              {"", "Celu", 28, make_celu, is_celu_of_doubles},
};

bool is_output_of(const Graph& graph, const Node& node) {
  return std::any_of(node.outputs().begin(), node.outputs().end(), [&](const Value* v) { return graph.is_output(v); });
}

/// Takes the node away if `results` can take the place of all that is read of it.
Status put_in_place(Graph& graph, Node& node, const std::vector<Value*>& results, Builder& builder) {
  for (size_t i = 0; i < results.size(); ++i) {
    Value* old = node.output(i);
    if (old->users().empty() && !graph.is_output(old)) continue;
    if (!results[i]) return {};
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Value *old = node.output(i), *made = results[i];
    if (!made) continue;
    if (graph.is_output(old) && (made->is_input() || made->is_constant() || graph.is_output(made))) made = builder.add("Identity", {made});
    if (made) graph.replace_uses(old, made);
  }
  SV_TRY(Status(builder.status()));
  graph.erase(&node);
  return {};
}

Status replace_by(Graph& graph, Node& node, const OlderForm& form, const OpRegistry& ops) {
  Builder builder(graph, ops);
  builder.set_position(&node);
  builder.set_node_name(node.name());
  ExpandContext context(node, builder, UncertainShapes::taken);
  SV_TRY(form.make(context));
  SV_TRY(Status(builder.status()));
  return put_in_place(graph, node, context.results(), builder);
}

/// A younger operator whose inputs are constants: its value.
Status replace_by_value(Graph& graph, Node& node, const PassContext& context) {
  if (node.inputs().empty() || !context.evaluate) return {};
  for (const Value* v : node.inputs())
    if (v && !v->is_constant()) return {};
  Result<std::vector<Tensor>> values = context.evaluate(node);
  if (!values.ok()) return {};
  Builder builder(graph, context.ops);
  builder.set_position(&node);
  std::vector<Value*> results;
  for (size_t i = 0; i < values->size(); ++i) {
    if (is_handle((*values)[i].type())) return {};
    results.push_back(builder.constant(std::move((*values)[i]), node.output(i)->name() + ".value"));
  }
  return put_in_place(graph, node, results, builder);
}

Status make_node_older(Graph& graph, Node& node, int opset, const PassContext& context) {
  for (const OlderForm& form : kOlderForms)
    if (form.op == node.op().name && form.domain == node.op().domain && opset < form.since && form.asked(node))
      return replace_by(graph, node, form, context.ops);
  if (*node.op().domain || opset >= node.op().since) return {};
  if (node.op().expand) {
    SV_TRY(expand_node(graph, node, context.ops, UncertainShapes::taken));  // the older opset has no word for it
    const auto unread = [](const Value* v) { return v->users().empty(); };
    if (std::all_of(node.outputs().begin(), node.outputs().end(), unread) && !is_output_of(graph, node)) graph.erase(&node);
    return {};
  }
  return replace_by_value(graph, node, context);
}

}  // namespace

Status make_older(Graph& graph, int opset, const PassContext& context) {
  // What a node is made of may be younger than the opset in turn.
  constexpr int kMostRounds = 4;
  size_t nodes = 0;
  for (int round = 0; round < kMostRounds && nodes != graph.nodes().size(); ++round) {
    nodes = graph.nodes().size();
    for (Node* node : graph.snapshot()) {
      std::vector<Body> bodies = round == 0 ? bodies_of(*node) : std::vector<Body>();
      for (Body& body : bodies) SV_TRY(make_older(body.graph, opset, context));
      if (!bodies.empty()) set_bodies(*node, std::move(bodies));
      const std::string where = describe(*node);
      if (Status status = make_node_older(graph, *node, opset, context); !status.ok()) return std::move(status).error().in(where);
    }
  }
  graph.erase_unused_constants();
  return {};
}

}  // namespace svengine::validate
