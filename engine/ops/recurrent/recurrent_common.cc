// The steps of a recurrent node, of floats or doubles:
//
//   X W' + biases, of all steps and directions: one product         (m = steps * batch, n = directions * gates * hidden)
//   states from initial_h, initial_c
//   one step of the plan for each time step, R packed, its tasks panels of units; or one for all, where the state is small
//   Y_h and Y_c from the states
#include "engine/ops/recurrent/recurrent_common.h"

#include <algorithm>
#include <memory>
#include <type_traits>

#include "engine/ops/infer_util.h"
#include "engine/ops/nn/product_common.h"

namespace svengine::ops {
namespace {

using kernels::RecurrentArgsOf;
using kernels::RecurrentCell;
using kernels::RecurrentKernelsOf;
using kernels::RecurrentPackArgsOf;

template <class T>
const RecurrentKernelsOf<T>& recurrent_kernels(const LowerContext& c) {
  if constexpr (std::is_same_v<T, double>) return *c.kernels().recurrent_f64;
  else return *c.kernels().recurrent;
}

/// What tells packed weights of T from those of another type.
template <class T>
constexpr const char* kTypeSuffix = std::is_same_v<T, double> ? "_f64" : "";

/// Multiply-adds of a step below which threads take whole sequences of rows: a barrier costs as much as some ten thousand of
/// them.
constexpr double kSmallStep = 64 << 10;
/// Steps beyond which all are one step of the plan, too, lest the plan outgrow memory.
constexpr int64_t kMostPlanSteps = 1 << 16;
/// Numbers that the products with the inputs of all steps may have.
constexpr double kMostSums = 0x1p40;

/// Tasks of a step that a thread takes at once, where threads help each other. With few rows a step is the reading of R, each thread's
/// half of which lies in its caches from the step before, as long as it takes the same panels in the opposite order: nobody else
/// gets any (21.7 us a step of LSTM 512 at batch 1 with two threads of an EPYC 9004, 23.3 us with single panels; 158.7 and 160.9 us at 16).
int64_t step_grain(int64_t batch, int64_t tasks) {
  constexpr int64_t kFewRows = 4, kSomePanels = 4;
  return batch <= kFewRows ? tasks : kSomePanels;
}

/// Where everything is; steps share one.
template <class T>
struct RecurrentPlace {
  RecurrentArgsOf<T> args;
  Buffer sums, weights, state_bias, peepholes, lengths, h, c, reset, y, gates, cells;

  RecurrentArgsOf<T> bound(const Run& run, int64_t step) const {
    RecurrentArgsOf<T> a = args;
    a.sums = run.get<const T>(sums);
    a.weights = run.get<const T>(weights);
    a.state_bias = run.get<const T>(state_bias);
    a.peepholes = run.get<const T>(peepholes);
    a.lengths = run.get<const int32_t>(lengths);
    a.h = run.get<T>(h), a.c = run.get<T>(c), a.reset = run.get<T>(reset);
    a.y = run.get<T>(y), a.gates = run.get<T>(gates), a.cells = run.get<T>(cells);
    a.step = step;
    return a;
  }
};
template <class T>
using SharedPlace = std::shared_ptr<const RecurrentPlace<T>>;

struct BiasLayout {
  RecurrentCell cell;
  int64_t directions, hidden;
};

/// Wb + Rb of every gate, but for Rb of a candidate whose reset comes after.
template <class T>
void sum_biases(const BiasLayout& z, const T* from, T* to) {
  const int64_t gates = kernels::gates_of(z.cell), n = gates * z.hidden;
  for (int64_t d = 0; d < z.directions; ++d)
    for (int64_t i = 0; i < n; ++i) {
      const bool apart = z.cell == RecurrentCell::kGruResetAfter && i >= 2 * z.hidden;
      to[d * n + i] = from[d * 2 * n + i] + (apart ? T(0) : from[d * 2 * n + n + i]);
    }
}

template <class T>
Buffer recurrent_bias(LowerContext& c, RecurrentCell cell, const RecurrentSizes& z) {
  const BiasLayout layout{cell, z.directions, z.hidden};
  const int64_t bytes = z.directions * kernels::gates_of(cell) * z.hidden * int64_t(sizeof(T));
  if (c.constant(3)) {
    Packing packing{
        .layout = fmt::format("recurrent_bias{} {} {} {}", kTypeSuffix<T>, static_cast<int>(cell), z.directions, z.hidden),
        .bytes = bytes};
    packing.fill = [layout](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
      if (begin < end) sum_biases(layout, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
    };
    return c.packed(3, std::move(packing));
  }
  const Buffer sum = c.temporary(bytes);
  c.emit("recurrent_bias", 1, [=, from = c.in(3)](const Run& run, int64_t, int64_t) -> const char* {
    sum_biases(layout, run.get<const T>(from), run.get<T>(sum));
    return nullptr;
  });
  return sum;
}

template <class T>
Buffer emit_input_product(LowerContext& c, const RecurrentOptions& o, const RecurrentSizes& z) {
  Product p;
  p.type = c.in_type(0).dtype;
  p.m = z.steps * z.batch;
  p.n = z.directions * kernels::gates_of(o.cell) * z.hidden;
  p.k = z.ins;
  p.a = {c.in(0), z.ins, false, {}, -1};
  p.b = {{}, z.ins, true, {}, c.constant(1) ? 1 : -1};
  if (p.b.constant_input < 0) p.b.buffer = c.in(1);
  if (c.has_input(3)) p.bias = {recurrent_bias<T>(c, o.cell, z), kernels::GemmBias::kColumn, 1};
  p.c = c.temporary(p.m * p.n * int64_t(sizeof(T)));
  p.ldc = p.n;
  const Buffer sums = p.c;
  emit_product(c, std::move(p));
  return sums;
}

/// States between the layouts of nodes and of the kernel: [directions][batch][hidden].
template <class T>
struct StateCopy {
  int64_t directions, batch, hidden;
  kernels::RecurrentStride node;

  void load(const T* from, T* to) const {
    for (int64_t row = 0; row < directions * batch; ++row) {
      T* at = to + row * hidden;
      if (from)
        std::copy_n(from + node.at(0, row % batch, row / batch), hidden, at);
      else
        std::fill_n(at, hidden, T(0));
    }
  }
  void store(const T* from, T* to) const {
    for (int64_t row = 0; to && row < directions * batch; ++row)
      std::copy_n(from + row * hidden, hidden, to + node.at(0, row % batch, row / batch));
  }
};

const char* check_lengths(const int32_t* lengths, int64_t batch, int64_t steps) {
  for (int64_t b = 0; lengths && b < batch; ++b)
    if (lengths[b] < 0 || lengths[b] > steps) return "an entry of sequence_lens is negative or more than X has steps";
  return nullptr;
}

template <class T>
void emit_start(LowerContext& c, const StateCopy<T>& copy, const SharedPlace<T>& place) {
  const bool lstm = place->args.cell == RecurrentCell::kLstm;
  c.emit("recurrent_start", 1,
         [=, h = c.has_input(5) ? c.in(5) : Buffer{}, cell = lstm && c.has_input(6) ? c.in(6) : Buffer{}](const Run& run, int64_t,
                                                                                                          int64_t) {
           copy.load(run.get<const T>(h), run.get<T>(place->h));
           if (lstm) copy.load(run.get<const T>(cell), run.get<T>(place->c));
           return check_lengths(run.get<const int32_t>(place->lengths), copy.batch, place->args.length);
         });
}

template <class T>
void emit_end(LowerContext& c, const StateCopy<T>& copy, const SharedPlace<T>& place) {
  const bool lstm = place->args.cell == RecurrentCell::kLstm;
  const Buffer h = c.has_output(1) ? c.out(1) : Buffer{}, cell = lstm && c.has_output(2) ? c.out(2) : Buffer{};
  if (!h && !cell) return;
  const int64_t half = place->args.length % 2 * copy.directions * copy.batch * copy.hidden;
  c.emit("recurrent_end", 1, [=](const Run& run, int64_t, int64_t) -> const char* {
    copy.store(run.get<const T>(place->h) + half, run.get<T>(h));
    if (cell) copy.store(run.get<const T>(place->c), run.get<T>(cell));
    return nullptr;
  });
}

template <class T>
void emit_pass(LowerContext& c, const char* name, const kernels::TaskKernel<RecurrentArgsOf<T>>& kernel,
               const SharedPlace<T>& place, int64_t step) {
  const int64_t tasks = kernel.tasks(place->args);
  c.emit(name, tasks,
         [place, step, run_pass = kernel.run](const Run& run, int64_t begin, int64_t end) -> const char* {
           run_pass(place->bound(run, step), begin, end, nullptr);
           return nullptr;
         },
         0, step_grain(place->args.batch, tasks));
}

template <class T>
void emit_steps(LowerContext& c, const SharedPlace<T>& place) {
  const RecurrentKernelsOf<T>& kernels = recurrent_kernels<T>(c);
  const RecurrentArgsOf<T>& a = place->args;
  const double work = static_cast<double>(a.directions * a.batch) * static_cast<double>(kernels::gates_of(a.cell) * a.hidden) *
                      static_cast<double>(a.hidden);
  if (a.length > kMostPlanSteps || (a.length > 1 && work <= kSmallStep))
    return emit_pass(c, "recurrent_sequence", kernels.sequence, place, 0);
  for (int64_t s = 0; s < a.length; ++s) {
    emit_pass(c, "recurrent_step", kernels.step, place, s);
    if (a.cell == RecurrentCell::kGru) emit_pass(c, "recurrent_candidate", kernels.candidate, place, s);
  }
}

template <class T>
RecurrentArgsOf<T> recurrent_args(const RecurrentOptions& o, const RecurrentSizes& z) {
  RecurrentArgsOf<T> a;
  a.cell = o.cell;
  a.directions = z.directions, a.length = z.steps, a.batch = z.batch, a.hidden = z.hidden;
  std::copy(std::begin(o.reverse), std::end(o.reverse), a.reverse);
  for (size_t d = 0; d < 2; ++d) std::copy(std::begin(o.activation[d]), std::end(o.activation[d]), a.activation[d]);
  a.clip = o.clip;
  a.input_forget = o.input_forget;
  const int64_t n = kernels::gates_of(o.cell) * z.hidden, row = z.directions * n;
  a.sums_stride =
      o.batch_first ? kernels::RecurrentStride{row, z.steps * row, n} : kernels::RecurrentStride{z.batch * row, row, n};
  a.y_stride = recurrent_y_stride(z, o.batch_first);
  const int64_t kept = kernels::kept_gates_of(o.cell) * z.hidden;
  a.gates_stride = {z.batch * z.directions * kept, z.directions * kept, kept};
  a.cells_stride = {z.batch * z.directions * z.hidden, z.directions * z.hidden, z.hidden};
  a.state_bias_direction = 2 * n;
  return a;
}

/// R in the kernel's layout: packed at load where it is constant.
template <class T>
Buffer recurrent_weights(LowerContext& c, RecurrentCell cell, const RecurrentSizes& z) {
  constexpr size_t kR = 2;
  const RecurrentKernelsOf<T>& kernels = recurrent_kernels<T>(c);
  const auto& pack = kernels.pack;
  const int64_t bytes = kernels.packed_bytes(cell, z.hidden), given = kernels::gates_of(cell) * z.hidden * z.hidden;
  const RecurrentPackArgsOf<T> args{.cell = cell, .hidden = z.hidden};
  const int64_t each = pack.tasks(args);
  const auto fill = [=, run_pack = pack.run](const T* from, std::byte* to, int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      RecurrentPackArgsOf<T> one = args;
      one.source = from + task / each * given;
      one.packed = reinterpret_cast<T*>(to + task / each * bytes);
      run_pack(one, task % each, task % each + 1, nullptr);
    }
  };
  if (c.constant(kR)) {
    Packing packing{.layout = fmt::format("recurrent{} {} {} {}", kTypeSuffix<T>, static_cast<int>(cell), z.directions, z.hidden),
                    .bytes = bytes * z.directions,
                    .tasks = each * z.directions};
    packing.fill = [fill](const std::byte* from, std::byte* to, int64_t begin, int64_t end) {
      fill(reinterpret_cast<const T*>(from), to, begin, end);
    };
    return c.packed(kR, std::move(packing));
  }
  const Buffer packed = c.temporary(bytes * z.directions);
  c.emit("recurrent_pack", each * z.directions,
         [=, from = c.in(kR)](const Run& run, int64_t begin, int64_t end) -> const char* {
           fill(run.get<const T>(from), run.get<std::byte>(packed), begin, end);
           return nullptr;
         });
  return packed;
}

template <class T>
SharedPlace<T> make_place(LowerContext& c, const RecurrentOptions& o, const RecurrentSizes& z) {
  auto place = std::make_shared<RecurrentPlace<T>>();
  const bool lstm = o.cell == RecurrentCell::kLstm, gru = o.cell == RecurrentCell::kGru;
  const int64_t state = z.directions * z.batch * z.hidden * int64_t(sizeof(T));
  place->args = recurrent_args<T>(o, z);
  if (z.steps > 0) {
    place->sums = emit_input_product<T>(c, o, z);
    place->weights = recurrent_weights<T>(c, o.cell, z);
  }
  if (o.cell == RecurrentCell::kGruResetAfter && c.has_input(3)) {
    place->state_bias = c.in(3);
    place->state_bias.offset += 5 * z.hidden * int64_t(sizeof(T));
  }
  if (c.has_input(4)) place->lengths = c.in(4);
  if (c.has_input(7)) place->peepholes = c.in(7);
  place->h = c.temporary(2 * state);
  if (lstm) place->c = c.temporary(state);
  if (gru) place->reset = c.temporary(2 * state);
  const size_t kept = lstm ? 3 : 2;
  if (c.has_output(0)) place->y = c.out(0);
  if (c.has_output(kept)) place->gates = c.out(kept);
  if (c.has_output(kept + 1)) place->cells = c.out(kept + 1);
  return place;
}

template <class T>
void lower_recurrent_of(LowerContext& c, const RecurrentOptions& o, const RecurrentSizes& z) {
  const StateCopy<T> copy{z.directions, z.batch, z.hidden, recurrent_state_stride(z, o.batch_first)};
  const SharedPlace<T> place = make_place<T>(c, o, z);
  emit_start(c, copy, place);
  emit_steps(c, place);
  emit_end(c, copy, place);
}

}  // namespace

Status lower_recurrent(LowerContext& c) {
  SV_ASSIGN(const RecurrentOptions o, recurrent_options(c.node()));
  const RecurrentSizes z = recurrent_sizes(c.node(), o);
  if (z.hidden == 0) return check_recurrent_lengths(c);
  if (z.batch == 0) return {};
  const DType type = c.in_type(0).dtype;
  if (!kProductTypes.has(type)) return unimplemented("is computed in float32 or float64, not in {}", name_of(type));
  const double sums = static_cast<double>(z.steps) * static_cast<double>(z.batch) *
                      static_cast<double>(z.directions * kernels::gates_of(o.cell) * z.hidden);
  if (sums > kMostSums)
    return unimplemented("{} steps of a batch of {} with {} units are more than fits memory", z.steps, z.batch, z.hidden);
  if (type == DType::f64) lower_recurrent_of<double>(c, o, z);
  else lower_recurrent_of<float>(c, o, z);
  return {};
}

Status check_recurrent_lengths(LowerContext& c) {
  if (!c.has_input(4)) return {};
  SV_ASSIGN(const RecurrentOptions o, recurrent_options(c.node()));
  const RecurrentSizes z = recurrent_sizes(c.node(), o);
  c.emit("check_lengths", 1, [lengths = c.in(4), batch = z.batch, steps = z.steps](const Run& run, int64_t, int64_t) {
    return check_lengths(run.get<const int32_t>(lengths), batch, steps);
  });
  return {};
}

}  // namespace svengine::ops
