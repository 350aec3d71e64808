// The steps of svengine.RecurrentGrad:
//
//   dh, dc from those of Y_h and Y_c;  R packed once
//   for each step, the last one first:  the cell element by element        dh += (gates' gradients) R
//   over all steps at once:  dX = (gates' gradients) W    dW = (..)' X    dR = (..)' h    dB and dP: sums over rows
#include <algorithm>
#include <cstring>
#include <memory>

#include "engine/base/round.h"
#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"
#include "engine/ops/recurrent/recurrent_grad_common.h"
#include "engine/ops/tensor/fill_common.h"

namespace svengine::ops {
namespace {

using kernels::GemmArgs;
using kernels::GemmKernels;
using kernels::GemmPackArgs;
using kernels::RecurrentCell;
using GradPlace = std::shared_ptr<const RecurrentGradPlace>;

Buffer moved_by(Buffer buffer, int64_t floats) {
  buffer.offset += floats * 4;
  return buffer;
}

/// Rows of R of every direction, packed to be multiplied with: out[batch][hidden] += left[batch][:, first ... first + depth] R.
class StateProduct {
 public:
  StateProduct(LowerContext& c, const GradPlace& place, int64_t first, int64_t depth)
      : c_(c),
        place_(place),
        gemm_(*c.kernels().gemm),
        first_(first),
        depth_(depth),
        each_(gemm_.packed_b_bytes(depth, place->sizes.hidden) / 4),
        packed_(c.temporary(each_ * 4 * place->sizes.directions)) {
    GemmPackArgs args;
    args.ld = args.extent = place->sizes.hidden;
    args.depth_major = true;
    args.depth = depth;
    args.batch.inner = place->sizes.directions;
    args.source_stride.inner = place->width() * place->sizes.hidden;
    args.packed_stride.inner = each_;
    c.emit("pack_b", gemm_.pack_b_tasks(args),
           [=, from = moved_by(c.in(kGradR), first * place->sizes.hidden), to = packed_, pack = gemm_.pack_b](
               const Run& run, int64_t begin, int64_t end) -> const char* {
             GemmPackArgs one = args;
             one.source = run.get<const float>(from);
             one.packed = run.get<float>(to);
             pack(one, begin, end);
             return nullptr;
           });
  }

  /// `adds`: to what `out` holds; else it is overwritten.
  void emit(Buffer out, bool adds) {
    const RecurrentSizes& z = place_->sizes;
    const Buffer left = moved_by(place_->current, first_);
    const int64_t ld = place_->width(), packed_a = gemm_.packed_a_bytes(z.batch, depth_) / 4;
    Buffer a = left;
    if (z.batch > 1) {
      if (!packed_left_) packed_left_ = c_.temporary(packed_a * 4 * z.directions);
      a = packed_left_;
      emit_pack_left(left, ld, packed_a);
    }
    GemmArgs args;
    args.m = z.batch, args.n = z.hidden, args.k = depth_;
    args.batch.inner = z.directions;
    args.a_stride.inner = z.batch > 1 ? packed_a : ld * z.batch;
    args.b_stride.inner = each_;
    args.ldc = args.ld_residual = z.hidden;
    args.c_stride.inner = args.residual_stride.inner = z.batch * z.hidden;
    c_.emit(
        "recurrent_grad_product", gemm_.gemm_tasks(args),
        [=, b = packed_, gemm = gemm_.gemm](const Run& run, int64_t begin, int64_t end) -> const char* {
          GemmArgs one = args;
          one.a = run.get<const float>(a);
          one.b = run.get<const float>(b);
          one.c = run.get<float>(out);
          one.residual = adds ? one.c : nullptr;
          gemm(one, begin, end, run.scratch<void>());
          return nullptr;
        },
        gemm_.gemm_scratch_bytes(args));
  }

 private:
  void emit_pack_left(Buffer left, int64_t ld, int64_t packed_a) {
    GemmPackArgs args;
    args.ld = ld;
    args.extent = place_->sizes.batch;
    args.depth = depth_;
    args.batch.inner = place_->sizes.directions;
    args.source_stride.inner = ld * place_->sizes.batch;
    args.packed_stride.inner = packed_a;
    c_.emit("pack_a", gemm_.pack_a_tasks(args),
            [=, to = packed_left_, pack = gemm_.pack_a](const Run& run, int64_t begin, int64_t end) -> const char* {
              GemmPackArgs one = args;
              one.source = run.get<const float>(left);
              one.packed = run.get<float>(to);
              pack(one, begin, end);
              return nullptr;
            });
  }

  LowerContext& c_;
  GradPlace place_;
  const GemmKernels& gemm_;
  int64_t first_, depth_, each_;
  Buffer packed_, packed_left_;
};

using StepBackward = void (*)(const RecurrentGradPlace&, const Run&, int64_t, int64_t, int64_t);

void emit_cells(LowerContext& c, const char* name, const GradPlace& place, int64_t s, StepBackward step) {
  const int64_t batch = place->sizes.batch;
  c.emit(name, place->sizes.directions * batch, [=](const Run& run, int64_t begin, int64_t end) -> const char* {
    for (int64_t row = begin; row < end; ++row) step(*place, run, s, row / batch, row % batch);
    return nullptr;
  });
}

/// dh or dc of the last step.
void emit_last_state(LowerContext& c, const GradPlace& place, Buffer given, Buffer to) {
  c.emit("recurrent_grad_start", 1, [=](const Run& run, int64_t, int64_t) -> const char* {
    const RecurrentSizes& z = place->sizes;
    const auto stride = recurrent_state_stride(z, place->batch_first);
    const float* from = run.get<const float>(given);
    for (int64_t row = 0; row < z.directions * z.batch; ++row) {
      float* at = run.get<float>(to) + row * z.hidden;
      if (from)
        std::copy_n(from + stride.at(0, row % z.batch, row / z.batch), z.hidden, at);
      else
        std::fill_n(at, z.hidden, 0.0f);
    }
    return nullptr;
  });
}

void emit_first_state(LowerContext& c, const GradPlace& place, Buffer from, Buffer to) {
  c.emit("recurrent_grad_end", 1, [=](const Run& run, int64_t, int64_t) -> const char* {
    const RecurrentSizes& z = place->sizes;
    const auto stride = recurrent_state_stride(z, place->batch_first);
    for (int64_t row = 0; row < z.directions * z.batch; ++row)
      std::copy_n(run.get<const float>(from) + row * z.hidden, z.hidden,
                  run.get<float>(to) + stride.at(0, row % z.batch, row / z.batch));
    return nullptr;
  });
}

void emit_steps_backward(LowerContext& c, const GradPlace& place) {
  const int64_t n = place->sizes.hidden;
  const bool before = place->cell == RecurrentCell::kGru;
  StateProduct product(c, place, 0, before ? 2 * n : place->width());
  std::unique_ptr<StateProduct> candidate;
  if (before) candidate = std::make_unique<StateProduct>(c, place, 2 * n, n);
  for (int64_t s = place->sizes.steps; s-- > 0;) {
    emit_cells(c, "recurrent_grad_cell", place, s, recurrent_step_backward<float>);
    if (candidate) {
      candidate->emit(place->reset_gradient, false);
      emit_cells(c, "recurrent_grad_reset", place, s, recurrent_reset_backward<float>);
    }
    product.emit(place->dh, true);
  }
}

/// c[m, n] = a' b over all rows.
void emit_row_product(LowerContext& c, Buffer a, int64_t lda, int64_t m, Buffer b, int64_t n, int64_t rows, Buffer out) {
  Product p;
  p.m = m, p.n = n, p.k = rows;
  p.a = {a, lda, true, {}, -1};
  p.b = {b, n, false, {}, -1};
  p.c = out;
  p.ldc = n;
  emit_product(c, std::move(p));
}

void emit_weight_gradients(LowerContext& c, const RecurrentGradPlace& place) {
  const RecurrentSizes& z = place.sizes;
  const int64_t rows = place.rows(), width = place.width(), n = z.hidden;
  const bool before = place.cell == RecurrentCell::kGru;
  for (int64_t d = 0; d < z.directions; ++d) {
    const Buffer inputs = moved_by(place.inputs, d * rows * width);
    const Buffer states = place.states ? moved_by(place.states, d * rows * width) : inputs;
    const Buffer h = moved_by(place.before, d * rows * n), dr = moved_by(c.out(2), d * width * n);
    emit_row_product(c, inputs, width, width, c.in(kGradX), z.ins, rows, moved_by(c.out(1), d * width * z.ins));
    emit_row_product(c, states, width, before ? 2 * n : width, h, n, rows, dr);
    if (before)
      emit_row_product(c, moved_by(states, 2 * n), width, n, moved_by(place.reset, d * rows * n), n, rows,
                       moved_by(dr, 2 * n * n));
  }
}

void emit_input_gradient(LowerContext& c, const RecurrentGradPlace& place) {
  const RecurrentSizes& z = place.sizes;
  const int64_t rows = place.rows(), width = place.width();
  for (int64_t d = 0; d < z.directions; ++d) {
    Product p;
    p.m = rows, p.n = z.ins, p.k = width;
    p.a = {moved_by(place.inputs, d * rows * width), width, false, {}, -1};
    p.b = {moved_by(c.in(kGradW), d * width * z.ins), z.ins, false, {}, -1};
    p.c = c.out(0);
    p.ldc = z.ins;
    if (d > 0) p.residual = c.out(0);
    emit_product(c, std::move(p));
  }
}

/// dB: sums over rows of the gradients at the inputs' and at the states' sums, in double.
void emit_bias_gradient(LowerContext& c, const GradPlace& place) {
  constexpr int64_t kEach = 64;
  const int64_t width = place->width(), blocks = ceil_div(width, kEach);
  c.emit("recurrent_grad_bias", place->sizes.directions * 2 * blocks,
         [=, out = c.out(3)](const Run& run, int64_t begin, int64_t end) -> const char* {
           for (int64_t task = begin; task < end; ++task) {
             const int64_t block = task % blocks, half = task / blocks % 2, d = task / blocks / 2, first = block * kEach;
             const int64_t count = std::min(kEach, width - first);
             const float* from =
                 run.get<const float>(half && place->states ? place->states : place->inputs) + d * place->rows() * width + first;
             double sums[kEach] = {};
             for (int64_t row = 0; row < place->rows(); ++row)
               for (int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(from[row * width + i]);
             float* to = run.get<float>(out) + (d * 2 + half) * width + first;
             for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(sums[i]);
           }
           return nullptr;
         });
}

/// dP: sums over rows of the gates' gradients times the cell they looked at: the one before, and of o the one after.
void emit_peephole_gradient(LowerContext& c, const GradPlace& place) {
  const int64_t n = place->sizes.hidden;
  c.emit("recurrent_grad_peepholes", place->sizes.directions * 3,
         [=, out = c.out(6)](const Run& run, int64_t begin, int64_t end) -> const char* {
           const RecurrentSizes& z = place->sizes;
           for (int64_t task = begin; task < end; ++task) {
             const int64_t d = task / 3, gate = task % 3;
             for (int64_t u = 0; u < n; ++u) {
               double sum = 0;
               for (int64_t t = 0; t < z.steps; ++t)
                 for (int64_t b = 0; b < z.batch; ++b) {
                   const int64_t row = d * place->rows() + place->row_of(t, b);
                   const float* seen = gate == 1 ? run.get<const float>(place->cells) + ((t * z.batch + b) * z.directions + d) * n
                                                 : run.get<const float>(place->before_c) + row * n;
                   sum += static_cast<double>(run.get<const float>(place->inputs)[row * place->width() + gate * n + u]) *
                          static_cast<double>(seen[u]);
                 }
               run.get<float>(out)[(d * 3 + gate) * n + u] = static_cast<float>(sum);
             }
           }
           return nullptr;
         });
}

GradPlace grad_place(LowerContext& c, const RecurrentOptions& o, const RecurrentSizes& z, int64_t bytes) {
  auto p = std::make_shared<RecurrentGradPlace>();
  const auto in = [&](size_t i) { return c.has_input(i) ? c.in(i) : Buffer{}; };
  p->cell = o.cell, p->sizes = z, p->batch_first = o.batch_first;
  std::copy(std::begin(o.reverse), std::end(o.reverse), p->reverse);
  p->dy = in(kGradDy), p->lengths = in(kGradLengths), p->first_h = in(kGradH), p->first_c = in(kGradC), p->peepholes = in(kGradP);
  p->y = in(kGradY), p->gates = in(kGradGates), p->cells = in(kGradCells);
  const int64_t state = z.directions * z.batch * z.hidden * bytes, all = z.directions * p->rows() * bytes;
  p->dh = c.temporary(state);
  if (o.cell == RecurrentCell::kLstm) p->dc = c.temporary(state);
  if (o.cell == RecurrentCell::kLstm && p->peepholes) p->before_c = c.temporary(all * z.hidden);
  if (o.cell == RecurrentCell::kGru) p->reset_gradient = c.temporary(state), p->reset = c.temporary(all * z.hidden);
  p->current = c.temporary(z.directions * z.batch * p->width() * bytes);
  p->inputs = c.temporary(all * p->width());
  if (o.cell == RecurrentCell::kGruResetAfter) p->states = c.temporary(all * p->width());
  p->before = c.temporary(all * z.hidden);
  return p;
}

}  // namespace

Status lower_recurrent_grad(LowerContext& c) {
  SV_ASSIGN(const RecurrentOptions o, recurrent_options(c.node()));
  const Dims x = c.in_dims(kGradX), r = c.in_dims(kGradR);
  const RecurrentSizes z{x[o.batch_first ? 1 : 0], x[o.batch_first ? 0 : 1], x[2], o.directions, r[2]};
  if (element_count(x) == 0 || z.hidden == 0)
    return error("the gradient of X of shape {} has no elements to be computed from", to_string(Shape::of(x)));
  constexpr int64_t kMostGradSteps = 1 << 16;  // each of which is steps of the plan
  if (z.steps > kMostGradSteps) return unimplemented("the gradient of {} steps; at most {} are computed", z.steps, kMostGradSteps);
  const GradPlace place = grad_place(c, o, z, static_cast<int64_t>(size_of(c.in_type(kGradX).dtype)));
  if (c.in_type(kGradX).dtype == DType::f64) return lower_recurrent_grad_f64(c, place);
  emit_last_state(c, place, c.has_input(kGradDyH) ? c.in(kGradDyH) : Buffer{}, place->dh);
  if (place->dc) emit_last_state(c, place, c.has_input(kGradDyC) ? c.in(kGradDyC) : Buffer{}, place->dc);
  emit_steps_backward(c, place);
  emit_weight_gradients(c, *place);
  if (c.attributes().get_int("input_gradient", 1)) emit_input_gradient(c, *place);
  else emit_zeros(c, 0);
  emit_bias_gradient(c, place);
  emit_first_state(c, place, place->dh, c.out(4));
  if (place->dc) emit_first_state(c, place, place->dc, c.out(5));
  if (place->before_c) emit_peephole_gradient(c, place);
  else emit_zeros(c, 6);  // dP where there is no P: nothing depends on it
  return {};
}

}  // namespace svengine::ops
