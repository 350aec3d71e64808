// Recurrent steps by the formulas of recurrent.h, one unit of a row at a time. R is kept as it is given.
#include "engine/kernels/recurrent.h"

#include "engine/kernels/reference/recurrent.h"
#include "engine/kernels/reference/set/tasks.h"

namespace svengine::kernels::reference {
namespace {

template <class T>
int64_t packed_bytes(RecurrentCell cell, int64_t hidden) noexcept {
  return gates_of(cell) * hidden * hidden * static_cast<int64_t>(sizeof(T));
}

template <class T>
int64_t packed_rows(const RecurrentPackArgsOf<T>& args) {
  return gates_of(args.cell) * args.hidden;
}

template <class T>
void pack_range(const RecurrentPackArgsOf<T>& args, int64_t begin, int64_t end, void*) {
  std::copy(args.source + begin * args.hidden, args.source + end * args.hidden, args.packed + begin * args.hidden);
}

struct Place {  // of a unit of a row at a step
  int64_t d, b, i, t;
  bool live;
};

template <class T>
Place place_of(const RecurrentArgsOf<T>& args, int64_t s, int64_t d, int64_t b, int64_t i) {
  const int64_t length = args.lengths ? args.lengths[b] : args.length;
  const bool live = s < length;
  return {d, b, i, live && args.reverse[d] ? length - 1 - s : s, live};
}

/// Row b of a direction's states: in half `half` of two.
template <class T>
T* states(const RecurrentArgsOf<T>& args, T* base, int64_t half, const Place& p) {
  return base + ((half * args.directions + p.d) * args.batch + p.b) * args.hidden;
}

template <class T>
double product(const RecurrentArgsOf<T>& args, const Place& p, int64_t gate, const T* left) {
  const T* w = args.weights + ((p.d * gates_of(args.cell) + gate) * args.hidden + p.i) * args.hidden;
  double sum = 0;
  for (int64_t k = 0; k < args.hidden; ++k) sum += static_cast<double>(w[k]) * static_cast<double>(left[k]);
  return sum;
}

template <class T>
ReferenceUnit unit_of(const RecurrentArgsOf<T>& args, int64_t s, const Place& p) {
  ReferenceUnit u{.cell = args.cell,
                  .activation = args.activation[p.d],
                  .clip = static_cast<double>(args.clip),
                  .input_forget = args.input_forget};
  const T* h = states(args, args.h, s % 2, p);
  for (int64_t g = 0; g < gates_of(args.cell); ++g) {
    u.x[g] = static_cast<double>(args.sums[args.sums_stride.at(p.t, p.b, p.d) + g * args.hidden + p.i]);
    if (args.cell != RecurrentCell::kGru || g < 2) u.q[g] = product(args, p, g, h);
  }
  if (args.state_bias) u.state_bias = static_cast<double>(args.state_bias[p.d * args.state_bias_direction + p.i]);
  u.has_peepholes = args.peepholes != nullptr;
  if (args.peepholes)
    for (int64_t k = 0; k < 3; ++k) u.peepholes[k] = static_cast<double>(args.peepholes[(p.d * 3 + k) * args.hidden + p.i]);
  u.h = static_cast<double>(h[p.i]);
  if (args.c) u.c = static_cast<double>(states(args, args.c, 0, p)[p.i]);
  return u;
}

template <class T>
void write(T* base, const RecurrentStride& stride, const Place& p, double value) {
  if (base) base[stride.at(p.t, p.b, p.d) + p.i] = static_cast<T>(value);
}

template <class T>
void end_unit(const RecurrentArgsOf<T>& args, int64_t s, const Place& p, const ReferenceState& state) {
  states(args, args.h, 1 - s % 2, p)[p.i] = p.live ? static_cast<T>(state.h) : states(args, args.h, s % 2, p)[p.i];
  if (args.c && p.live) states(args, args.c, 0, p)[p.i] = static_cast<T>(state.c);
  write(args.y, args.y_stride, p, state.h);
  write(args.cells, args.cells_stride, p, state.c);
  for (int64_t g = 0; args.gates && g < kept_gates_of(args.cell); ++g)
    args.gates[args.gates_stride.at(p.t, p.b, p.d) + g * args.hidden + p.i] = static_cast<T>(state.gates[g]);
}

template <class T>
void step_unit(const RecurrentArgsOf<T>& args, int64_t s, int64_t d, int64_t b, int64_t i) {
  const Place p = place_of(args, s, d, b, i);
  if (args.cell != RecurrentCell::kGru)
    return end_unit(args, s, p, p.live ? reference_unit(unit_of(args, s, p)) : ReferenceState{});
  if (!p.live) return;
  const ReferenceUnit u = unit_of(args, s, p);
  states(args, args.reset, 0, p)[i] = static_cast<T>(reference_gate(u, 1) * u.h);
}

template <class T>
void candidate_unit(const RecurrentArgsOf<T>& args, int64_t s, int64_t d, int64_t b, int64_t i) {
  const Place p = place_of(args, s, d, b, i);
  if (!p.live) return end_unit(args, s, p, {});
  ReferenceUnit u = unit_of(args, s, p);
  u.q[2] = product(args, p, 2, states(args, args.reset, 0, p));
  end_unit(args, s, p, reference_unit(u));
}

template <class T>
using Unit = void (*)(const RecurrentArgsOf<T>&, int64_t s, int64_t d, int64_t b, int64_t i);

template <class T>
int64_t units(const RecurrentArgsOf<T>& args) {
  return args.directions * args.batch * args.hidden;
}

template <class T, Unit<T> kUnit>
void step_range(const RecurrentArgsOf<T>& args, int64_t begin, int64_t end, void*) {
  for (int64_t item = begin; item < end; ++item)
    kUnit(args, args.step, item / args.hidden / args.batch, item / args.hidden % args.batch, item % args.hidden);
}

template <class T>
int64_t rows(const RecurrentArgsOf<T>& args) {
  return args.directions * args.batch;
}

template <class T>
void sequence_range(const RecurrentArgsOf<T>& args, int64_t begin, int64_t end, void*) {
  for (int64_t row = begin; row < end; ++row)
    for (int64_t s = 0; s < args.length; ++s) {
      for (int64_t i = 0; i < args.hidden; ++i) step_unit(args, s, row / args.batch, row % args.batch, i);
      if (args.cell != RecurrentCell::kGru) continue;
      for (int64_t i = 0; i < args.hidden; ++i) candidate_unit(args, s, row / args.batch, row % args.batch, i);
    }
}

template <class T>
constexpr RecurrentKernelsOf<T> table_of() {
  using Args = RecurrentArgsOf<T>;
  return {packed_bytes<T>, by_items<RecurrentPackArgsOf<T>, packed_rows<T>, pack_range<T>, 16>(),
          by_items<Args, units<T>, step_range<T, step_unit<T>>, 16>(),
          by_items<Args, units<T>, step_range<T, candidate_unit<T>>, 16>(),
          by_items<Args, rows<T>, sequence_range<T>, 1>()};
}

}  // namespace

extern const RecurrentKernelsOf<float> recurrent_kernels;
constinit const RecurrentKernelsOf<float> recurrent_kernels = table_of<float>();
extern const RecurrentKernelsOf<double> recurrent_f64_kernels;
constinit const RecurrentKernelsOf<double> recurrent_f64_kernels = table_of<double>();

}  // namespace svengine::kernels::reference
