// DFT: the discrete Fourier transform along an axis; numbers are complex, pairs in the last dimension, or real, single there.
#include "engine/graph/axes.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/signal/fourier_common.h"

namespace svengine::ops {
namespace {

constexpr int kDftAxisOpset = 20;  // from which on the axis is an input

Status canonicalize_dft(CanonicalizeContext& c) {
  if (c.opset() >= kDftAxisOpset) return {};
  const int64_t axis = c.attributes().get_int("axis", 1);
  c.attributes().erase("axis");
  c.set_input(2, c.graph().add_constant("axis", Tensor::scalar<int64_t>(axis)));
  return {};
}

struct DftKind {
  bool inverse, onesided;
};
DftKind dft_kind(const Attributes& attributes) {
  return {attributes.get_int("inverse") != 0, attributes.get_int("onesided") != 0};
}

Result<size_t> dft_axis(int64_t given, int64_t rank) {
  SV_ASSIGN(const int64_t axis, normalise_axis(given, rank));
  if (axis == rank - 1)
    return error("axis {} is the last dimension, which holds the parts of a number; the others are transformed", given);
  return static_cast<size_t>(axis);
}

/// The length of the transform, where nothing else is asked for.
Dim dft_default_length(const Dim& d, DftKind kind) {
  if (!d.is_static()) return kind.inverse && kind.onesided ? Dim() : d;
  return Dim(kind.inverse && kind.onesided ? 2 * (d.value() - 1) : d.value());
}

Status infer_dft(InferContext& c) {
  SV_TRY(require_dtype(c, 0, kRealTypes));
  SV_TRY(require_rank_at_least(c, 0, 2));
  std::optional<int64_t> length, given = -2;
  if (c.has_input(1)) {
    SV_ASSIGN(length, fourier_length(c, 1));
  }
  if (c.has_input(2)) {
    SV_TRY(require_dtype(c, 2, kIndexTypes));
    SV_TRY(require_single(c, 2));
    const auto axis = c.integers(2);
    given = axis && !axis->empty() ? std::optional(axis->at(0)) : std::nullopt;
  }
  const Shape& x = c.shape(0);
  if (!x.has_rank()) return c.set(0, c.dtype(0), Shape()), Status();
  const DftKind kind = dft_kind(c.attributes());
  const Dim& parts = x[x.dims().size() - 1];
  if (parts.is_static() && parts.value() != 1 && parts.value() != 2)
    return error("the last dimension of input {} is {}, must be 1 (real) or 2 (complex)", to_string(x), parts.value());
  if (kind.onesided && !kind.inverse && parts.is_static() && parts.value() == 2)
    return error("a onesided transform needs real input (last dimension 1), got {}", to_string(x));
  std::vector<Dim> out(x.dims().size());
  if (given) {
    SV_ASSIGN(const size_t axis, dft_axis(*given, x.rank()));
    out = x.dims();
    Dim n = c.has_input(1) ? (length ? Dim(*length) : Dim()) : dft_default_length(x[axis], kind);
    if (n.is_static() && n.value() < 1)
      return error("transforms of length {}; input {} needs more along axis {}", n.value(), to_string(x), axis);
    if (kind.onesided && !kind.inverse) n = n.is_static() ? Dim(n.value() / 2 + 1) : Dim();
    out[axis] = n;
  } else if (!c.has_input(1) && !kind.onesided) {
    out = x.dims();  // whichever it is, it keeps its length
  }
  out.back() = Dim(kind.onesided && kind.inverse ? 1 : 2);
  c.set(0, c.dtype(0), Shape(std::move(out)));
  return {};
}

Status lower_dft(LowerContext& c) {
  const Dims in = c.in_dims(0), out = c.out_dims();
  if (c.has_input(2) && !c.constant(2)) return error("input 2 (axis) is not known when the node is planned");
  if (c.has_input(1) && !c.constant(1)) return error("input 1 (dft_length) is not known when the node is planned");
  const auto rank = static_cast<int64_t>(in.size());
  SV_ASSIGN(const size_t axis, dft_axis(c.has_input(2) ? c.constant(2)->as_int64s().at(0) : -2, rank));
  const DftKind kind = dft_kind(c.attributes());
  const int64_t n = c.has_input(1) ? c.constant(1)->as_int64s().at(0) : dft_default_length(Dim(in[axis]), kind).value();
  FourierLines job;
  job.type = c.in_type(0).dtype;
  job.inverse = kind.inverse;
  job.hermitian = kind.inverse && kind.onesided;
  const std::span<const int64_t> all(in);
  job.a = element_count(all.first(axis));
  job.b = element_count(all.subspan(axis + 1)) / in.back();
  const auto operand = [&](Buffer buffer, const Dims& dims) {
    return FourierOperand{buffer, dims.back(), dims[axis], dims[axis] * job.b * dims.back(), dims.back(), job.b * dims.back()};
  };
  job.in = operand(c.in(0), in);
  job.out = operand(c.out(), out);
  return emit_fourier(c, "dft", n, job);
}

}  // namespace

OpDef define_dft() {
  return {
      .name = "DFT",
      .since = 17,
      .inputs = "input, dft_length?, axis?",
      .attributes = {{"inverse", AttributeKind::kInt, false, 0}, {"onesided", AttributeKind::kInt, false, 0}},
      .canonicalize = canonicalize_dft,
      .infer = infer_dft,
      .lower = lower_dft,
      .cost = fourier_cost,
      .gradient = dft_gradient,
      .traits = {.shape_inputs = {1, 2}},
      .tolerance = {.rtol = 1e-5, .atol = 1e-5},
      .samples = "(float32[2, 10, 1])"
                 "(float32[3, 16, 2], int64[]{23}, int64[]{1})"
                 "(float32[12, 9, 1], int64[]{7}, int64[]{0}) {onesided = 1}"
                 "(float32[5, 37, 2]) {inverse = 1}"
                 "(float32[4, 9, 2], int64[]{16}, int64[]{1}) {inverse = 1, onesided = 1}"
                 "(float32[1, 1])"
                 "(float16[2, 6, 1])"
                 "(bfloat16[2, 5, 2])"
                 "(float64[2, 82, 3, 1], int64[]{82}, int64[]{1})",
  };
}

}  // namespace svengine::ops
