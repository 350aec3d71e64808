#include "engine/graph/transposed_node.h"
#include "engine/ops/reduce/reduce_common.h"

#include <algorithm>
#include <limits>

#include "engine/kernels/reduce_prepare.h"
#include "engine/graph/axes.h"
#include "engine/ops/dispatch.h"
#include "engine/ops/element.h"
#include "engine/ops/elementwise/unary_common.h"
#include "engine/ops/kernel_step.h"
#include "engine/ops/tensor/fill_common.h"
#include "engine/ops/wide/wide.h"

namespace svengine::ops {
namespace {

/// Which dimensions go. Empty `axes` means all, or none with noop_with_empty_axes.
Result<std::vector<bool>> reduced_dims(const Attributes& attributes, const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), axes.empty() && attributes.get_int("noop_with_empty_axes") == 0);
  SV_ASSIGN(const std::vector<int64_t> normal, normalise_axes(axes, rank));
  for (int64_t axis : normal) reduced[static_cast<size_t>(axis)] = true;
  return reduced;
}

Shape reduced_shape(const Shape& in, const std::vector<bool>& reduced, bool keep) {
  std::vector<Dim> out;
  for (size_t i = 0; i < reduced.size(); ++i)
    if (!reduced[i]) out.push_back(in[i]);
    else if (keep) out.push_back(1);
  return Shape(std::move(out));
}

/// A run of dimensions that are all reduced, or all kept.
struct Group {
  int64_t extent;
  bool reduced;
};

std::vector<Group> groups_of(const Dims& dims, const std::vector<bool>& reduced) {
  std::vector<Group> groups;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (!groups.empty() && groups.back().reduced == reduced[i]) groups.back().extent *= dims[i];
    else groups.push_back({dims[i], reduced[i]});
  }
  return groups;
}

void emit_step(LowerContext& c, const kernels::ReduceArgs& args, Buffer in, Buffer out) {
  emit_kernel(c, "reduce", c.kernels().reduce->reduce, args, [in, out](kernels::ReduceArgs& a, const Run& run) {
    a.x = run.get<void>(in);
    a.y = run.get<void>(out);
  });
}

}  // namespace

/// 1 keeps them, 0 does not; so does no other number, in ONNX's inference and ONNX Runtime.
bool keeps_dims(const Attributes& attributes) { return attributes.get_int("keepdims", 1) == 1; }

Result<Shape> reduced_shape(const Attributes& attributes, const Shape& in, const std::vector<int64_t>& axes) {
  SV_ASSIGN(const std::vector<bool> reduced, reduced_dims(attributes, axes, in.rank()));
  return reduced_shape(in, reduced, keeps_dims(attributes));
}

Status canonicalize_reduce(CanonicalizeContext& c) {
  c.attribute_to_input("axes", 1);
  return {};
}

Status infer_reduce(InferContext& c) {
  SV_TRY(require_rank(c, 1, 1));
  const Shape& in = c.shape(0);
  const auto axes = c.has_input(1) ? c.integers(1) : Dims{};
  if (!in.has_rank() || !axes) {
    c.set(0, c.dtype(0), in.has_rank() && keeps_dims(c.attributes()) ? unknown_dims(in.rank()) : Shape());
    return {};
  }
  SV_ASSIGN(Shape shape, reduced_shape(c.attributes(), in, *axes));
  c.set(0, c.dtype(0), std::move(shape));
  return {};
}

Status emit_reduce(LowerContext& c, kernels::ReduceOp op) {
  const auto rank = static_cast<int64_t>(c.in_dims(0).size());
  if (c.has_input(1) && !c.constant(1)) return error("input 1 (axes) is not known when the node is planned");
  SV_ASSIGN(const std::vector<bool> reduced,
            reduced_dims(c.attributes(), c.has_input(1) ? c.constant(1)->as_int64s() : Dims{}, rank));
  return emit_reduction(c, op, reduced);
}

Status emit_reduction_steps(LowerContext& c, kernels::ReduceOp op, const Dims& dims, const std::vector<bool>& reduced, DType type, Buffer in,
                            Buffer out) {
  const std::vector<Group> groups = groups_of(dims, reduced);
  if (groups.size() > kernels::kReduceDims)
    return unimplemented("reduced and kept dimensions alternate more than {} times", kernels::kReduceDims);
  kernels::ReduceArgs args;
  args.op = op;
  args.type = type;
  args.rank = static_cast<int32_t>(groups.size());
  for (size_t i = 0; i < groups.size(); ++i) {
    args.extent[i] = groups[i].extent;
    args.reduced[i] = groups[i].reduced;
  }
  const auto width = static_cast<int64_t>(size_of(type));
  if (const auto split = kernels::split_reduce(args)) {
    const Buffer partials = c.temporary(split->partials * width);
    emit_step(c, split->first, in, partials);
    emit_step(c, split->second, partials, out);
  } else {
    emit_step(c, args, in, out);
  }
  return {};
}

namespace {

/// The kernel's steps, from the node's input as `type` at `in`.
Status emit_reduction_of(LowerContext& c, kernels::ReduceOp op, const std::vector<bool>& reduced, DType type, Buffer in, Buffer out) {
  return emit_reduction_steps(c, op, c.in_dims(0), reduced, type, in, out);
}

/// Sums and products of uint64 are those of int64, bit by bit. Its order is that of int64 with the sign flipped, and roots and logarithms are
/// taken in double as those of other integers.
Status emit_unsigned_reduction(LowerContext& c, kernels::ReduceOp op, const std::vector<bool>& reduced, size_t output) {
  using kernels::ReduceOp;
  const int64_t count = element_count(c.in_dims(0)), kept = element_count(c.out_dims(output));
  const Buffer in = c.in(0), out = c.out(output);
  if (op == ReduceOp::kMax || op == ReduceOp::kMin) {
    const Buffer result = c.temporary(kept * 8);
    SV_TRY(emit_reduction_of(c, op, reduced, DType::i64, wide::with_flipped_sign(c, in, count), result));
    wide::emit_sign_flip(c, result, out, kept);
    return {};
  }
  if (op == ReduceOp::kL2 || op == ReduceOp::kLogSum || op == ReduceOp::kLogSumExp) {
    const Buffer root = c.temporary(kept * 8);
    SV_TRY(emit_reduction_of(c, op, reduced, DType::f64, converted(c, in, DType::u64, DType::f64, count), root));
    emit_cast(c, root, DType::f64, out, DType::u64, kept);
    return {};
  }
  const bool sum = op == ReduceOp::kL1 || op == ReduceOp::kMean;
  SV_TRY(emit_reduction_of(c, sum ? ReduceOp::kSum : op, reduced, DType::i64, in, out));
  if (op == ReduceOp::kMean) wide::emit_unsigned_quotients(c, out, kept, kept ? count / kept : 0);
  return {};
}

/// The least of no elements is the type's greatest, and the other way round: of truths true and false. The kernel's wider integers would
/// give limits of their own.
Status emit_extremum_of_none(LowerContext& c, bool least, DType type, int64_t kept, size_t output) {
  with_type(type, [&]<class T>() {
    using Limits = std::numeric_limits<T>;
    const T value = type == DType::boolean ? T(least) : least ? Limits::max() : Limits::lowest();
    emit_fill(c, c.out(output), kept, sizeof(T), static_cast<uint64_t>(value));
  });
  return {};
}

}  // namespace

Status emit_reduction(LowerContext& c, kernels::ReduceOp op, const std::vector<bool>& reduced, size_t output) {
  const DType type = c.in_type(0).dtype, computed = computed_type(type);
  if (type == DType::u64) return emit_unsigned_reduction(c, op, reduced, output);
  const int64_t kept = element_count(c.out_dims(output));
  const bool extremum = op == kernels::ReduceOp::kMin || op == kernels::ReduceOp::kMax;
  if (extremum && (kIntegerTypes.has(type) || type == DType::boolean) && element_count(c.in_dims(0)) == 0)
    return emit_extremum_of_none(c, op == kernels::ReduceOp::kMin, type, kept, output);
  const Buffer in = converted(c, c.in(0), type, computed, element_count(c.in_dims(0)));
  const Buffer out = type == computed ? c.out(output) : c.temporary(kept * static_cast<int64_t>(size_of(computed)));
  SV_TRY(emit_reduction_of(c, op, reduced, computed, in, out));
  if (type != computed) emit_cast(c, out, computed, c.out(output), type, kept);
  return {};
}

Value* kept_dims(GradientContext& c, Value* value) {
  // Axes that were not given are all of them (a number broadcasts as it is), or none.
  if (keeps_dims(c.attributes()) || !c.input(1)) return value;
  const Value* axes = c.input(1);
  if (axes->is_constant() && axes->constant().count() == 0) return value;
  return c.op("Unsqueeze", {value, c.input(1)});
}

Status reduced_extremum_gradient(GradientContext& c) {
  Value* x = c.input(0);
  const auto type = static_cast<int64_t>(x->type.dtype);
  Value* hits = c.op("Cast", {c.op("Equal", {x, kept_dims(c, c.output())})}, make_attributes({{"to", type}}));
  Value* ties = c.sum_to(hits, kept_dims(c, c.output()));
  c.set(0, c.op("Mul", {hits, c.op("Div", {kept_dims(c, c.dy()), ties})}));
  return {};
}

namespace {

std::optional<TransposedNode> transposed_reduce(const Node& node, const Permutation& perm) {
  const auto rank = static_cast<int64_t>(perm.size());
  if (rank > kernels::kReduceDims) return std::nullopt;  // reduced and kept dimensions may alternate more often than before
  const auto axes = node.input(1) ? known_integers(node, 1) : std::vector<int64_t>();
  if (!axes) return std::nullopt;
  const auto reduced = reduced_dims(node.attributes, *axes, rank);
  if (!reduced.ok()) return std::nullopt;
  TransposedNode out{.inputs = {perm, {}}, .outputs = {perm}, .attributes = node.attributes};
  out.inputs.resize(node.inputs().size());
  std::vector<int64_t> dropped;
  for (int64_t i = 0; i < rank; ++i)
    if ((*reduced)[static_cast<size_t>(i)]) dropped.push_back(i);
  if (!axes->empty()) out.constants.emplace_back(1, integer_list(*stored_axes(dropped, perm)));
  if (!keeps_dims(node.attributes)) out.outputs[0] = without(perm, dropped);
  return out;
}

}  // namespace

OpDef reduce_op(const char* name, Status (*infer)(InferContext&), Status (*lower)(LowerContext&)) {
  return {
      .name = name,
      .inputs = "data, axes?",
      .attributes = {{"keepdims", AttributeKind::kInt, false, 1},
                     {"noop_with_empty_axes", AttributeKind::kInt, false, 0}},
      .canonicalize = canonicalize_reduce,
      .infer = infer,
      .lower = lower,
      .cost = [](const Node& node) -> Cost {
        const Type& in = node.input(0)->type;
        const double bytes = stored_bytes(in);
        return {bytes / static_cast<double>(size_of(in.dtype)), bytes + stored_bytes(node.output()->type)};
      },
      .traits = {.shape_inputs = {1}, .transposed = transposed_reduce},
      .samples = "(float32[3, 5, 7] 0.1 to 2)"
                 "(float32[3, 5, 67] 0.1 to 2, int64[1]{-1}) {keepdims = 0}"
                 "(float32[3, 5, 17] 0.1 to 2, int64[1]{1})"
                 "(float32[2, 3, 5, 7] 0.1 to 2, int64[2]{0, 2}) {keepdims = 0}"
                 "(int64[4, 9] 1 to 9, int64[1]{0})",
  };
}

namespace {

std::optional<TransposedNode> transposed_arg_reduce(const Node& node, const Permutation& perm) {
  std::optional<TransposedNode> out = transposed_along_axis(node, perm, 1, 0);
  const auto axis = normalise_axis(node.attributes.get_int("axis"), static_cast<int64_t>(perm.size()));
  if (out && !keeps_dims(node.attributes)) out->outputs[0] = without(perm, {*axis});
  return out;
}

Status infer_arg_reduce(InferContext& c) {
  SV_TRY(require_rank_at_least(c, 0, 1));
  const Shape& in = c.shape(0);
  const bool keep = keeps_dims(c.attributes());
  if (!in.has_rank()) {
    c.set(0, DType::i64, Shape());
    return {};
  }
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), in.rank()));
  const Dim& d = in[static_cast<size_t>(axis)];
  if (d.is_static() && d.value() == 0) return error("axis {} is empty, so no element is first", axis);
  std::vector<bool> reduced(in.dims().size(), false);
  reduced[static_cast<size_t>(axis)] = true;
  c.set(0, DType::i64, reduced_shape(in, reduced, keep));
  return {};
}

}  // namespace

Status emit_arg_reduce(LowerContext& c, bool largest) {
  const Dims dims = c.in_dims(0);
  const std::span<const int64_t> all(dims);
  SV_ASSIGN(const int64_t axis, normalise_axis(c.attributes().get_int("axis"), static_cast<int64_t>(dims.size())));
  const DType type = c.in_type(0).dtype, computed = computed_type(type);
  kernels::ArgReduceArgs args;
  args.type = computed;
  args.largest = largest;
  args.select_last = c.attributes().get_int("select_last_index") != 0;
  args.outer = element_count(all.first(static_cast<size_t>(axis)));
  args.n = dims[static_cast<size_t>(axis)];
  args.inner = element_count(all.subspan(static_cast<size_t>(axis) + 1));
  if (args.n >= INT32_MAX) return unimplemented("axis {} has {} elements, above the {} that can be searched", axis, args.n, INT32_MAX - 1);
  const bool flip = type == DType::u64;
  if (flip) args.type = DType::i64;
  const Buffer in = flip ? wide::with_flipped_sign(c, c.in(0), element_count(dims)) : converted(c, c.in(0), type, computed, element_count(dims));
  emit_kernel(c, largest ? "arg_max" : "arg_min", c.kernels().reduce->arg_reduce, args,
              [in, out = c.out()](kernels::ArgReduceArgs& a, const Run& run) {
                a.x = run.get<void>(in);
                a.y = run.get<int64_t>(out);
              });
  return {};
}

OpDef arg_reduction(const char* name, Status (*lower)(LowerContext&)) {
  return {
      .name = name,
      .inputs = "data",
      .attributes = {{"axis", AttributeKind::kInt, false, 0},
                     {"keepdims", AttributeKind::kInt, false, 1},
                     {"select_last_index", AttributeKind::kInt, false, 0}},
      .infer = infer_arg_reduce,
      .lower = lower,
      .types = {{"T", kNumericTypes, {0}}},
      .traits = {.transposed = transposed_arg_reduce},
      .samples = "(float32[3, 37]) {axis = -1}"
                 "(float32[5, 3, 7]) {keepdims = 0}"
                 "(int64[4, 9] -2 to 3) {axis = 1, select_last_index = 1}",
  };
}

}  // namespace svengine::ops
