// What a cell does with the products of a row and `lanes` of its units.
#pragma once
#include "engine/kernels/sve/recurrent/functions.h"

namespace svengine::kernels::SVENGINE_KERNEL_SET::recurrent {

/// One row at one step: where its units are, from the first one of a panel on.
template <class T>
struct Row {
  const T* sums;  // of gate g at g * hidden
  const T* h;
  T* next;               // h'
  T *c, *reset, *z;      // null where the cell has none
  T *y, *gates, *cells;  // null: not wanted
};

template <class T>
inline T* moved(T* base, const RecurrentStride& stride, int64_t t, int64_t b, int64_t d, int64_t unit) {
  return base ? base + stride.at(t, b, d) + unit : nullptr;
}

/// Row b of direction d at step s, from `unit` on; `live` says whether the row still has steps.
template <class T>
inline Row<T> row_at(const RecurrentArgsOf<T>& args, int64_t s, int64_t d, int64_t b, int64_t unit, bool& live) {
  const int64_t length = args.lengths ? args.lengths[b] : args.length;
  live = s < length;
  const int64_t t = live && args.reverse[d] ? length - 1 - s : s;
  const int64_t half = args.directions * args.batch * args.hidden, own = (d * args.batch + b) * args.hidden + unit;
  Row<T> row;
  row.sums = args.sums + args.sums_stride.at(t, b, d) + unit;
  row.h = args.h + (s % 2) * half + own;
  row.next = args.h + (1 - s % 2) * half + own;
  row.c = args.c ? args.c + own : nullptr;
  row.reset = args.reset ? args.reset + own : nullptr;
  row.z = args.reset ? args.reset + half + own : nullptr;
  row.y = moved(args.y, args.y_stride, t, b, d, unit);
  row.gates = moved(args.gates, args.gates_stride, t, b, d, unit);
  row.cells = moved(args.cells, args.cells_stride, t, b, d, unit);
  return row;
}

/// A row that has no more steps: its state stays, and what is written of the step is zero.
template <class T>
inline void rest(const RecurrentArgsOf<T>& args, vb p, const Row<T>& row) {
  svst1(p, row.next, svld1(p, row.h));
  if (row.y) svst1(p, row.y, repeated<T>(0));
  if (row.cells) svst1(p, row.cells, repeated<T>(0));
  if (row.gates)
    for (int64_t g = 0; g < kept_gates_of(args.cell); ++g) svst1(p, row.gates + g * args.hidden, repeated<T>(0));
}

template <class T>
inline void keep(const RecurrentArgsOf<T>& args, vb p, const Row<T>& row, int64_t gate, Vec<T> value) {
  if (row.gates) svst1(p, row.gates + gate * args.hidden, value);
}

template <class T>
inline void end_step(vb p, const Row<T>& row, Vec<T> next) {
  svst1(p, row.next, next);
  if (row.y) svst1(p, row.y, next);
}

/// x + R h of a gate, the latter being a row's product number `product`.
template <class T>
SVENGINE_INLINE Vec<T> gate_sum(const RecurrentArgsOf<T>& args, vb p, const Row<T>& row, const T* products, int64_t gate,
                                int64_t product) {
  return vadd(svld1(p, row.sums + gate * args.hidden), svld1(every<T>(), products + product * kLanesOf<T>));
}

template <class T>
inline void rnn_row(const RecurrentArgsOf<T>& args, int64_t d, int64_t, vb p, const T* products, const Row<T>& row) {
  const Vec<T> next = apply_function<T>(args.activation[d][0], clipped(args, gate_sum(args, p, row, products, 0, 0)));
  keep(args, p, row, 0, next);
  end_step(p, row, next);
}

/// (1 - z) n + z h, as it stands: n + z (h - n) would be NaN of an infinite state that stays.
template <class T>
SVENGINE_INLINE Vec<T> mixed(Vec<T> z, Vec<T> n, Vec<T> h) {
  return vfma(z, h, vmul(vsub(repeated<T>(1), z), n));
}

/// z and r, and r h for the candidate.
template <class T, bool kUsual>
inline void gru_gates_row(const RecurrentArgsOf<T>& args, int64_t d, int64_t, vb p, const T* products, const Row<T>& row) {
  Many<2, Vec<T>> x{
      {clipped(args, gate_sum(args, p, row, products, 0, 0)), clipped(args, gate_sum(args, p, row, products, 1, 1))}};
  if constexpr (kUsual)
    x = sigmoid(x);
  else
    for (Vec<T>& v : x.at) v = apply_function<T>(args.activation[d][0], v);
  keep(args, p, row, 0, x.at[0]);
  keep(args, p, row, 1, x.at[1]);
  svst1(p, row.z, x.at[0]);
  svst1(p, row.reset, vmul(x.at[1], svld1(p, row.h)));
}

template <class T>
inline void gru_candidate_row(const RecurrentArgsOf<T>& args, int64_t d, int64_t, vb p, const T* products, const Row<T>& row) {
  const Vec<T> n = apply_function<T>(args.activation[d][1], clipped(args, gate_sum(args, p, row, products, 2, 0)));
  keep(args, p, row, 2, n);
  end_step(p, row, mixed<T>(svld1(p, row.z), n, svld1(p, row.h)));
}

template <class T, bool kUsual>
inline void gru_reset_after_row(const RecurrentArgsOf<T>& args, int64_t d, int64_t unit, vb p, const T* products,
                                const Row<T>& row) {
  Many<2, Vec<T>> x{
      {clipped(args, gate_sum(args, p, row, products, 0, 0)), clipped(args, gate_sum(args, p, row, products, 1, 1))}};
  Vec<T> q = svld1(every<T>(), products + 2 * kLanesOf<T>);
  if (args.state_bias) q = vadd(q, svld1(p, args.state_bias + d * args.state_bias_direction + unit));
  if constexpr (kUsual)
    x = sigmoid(x);
  else
    for (Vec<T>& v : x.at) v = apply_function<T>(args.activation[d][0], v);
  const Vec<T> in = clipped(args, vfma(x.at[1], q, svld1(p, row.sums + 2 * args.hidden)));
  const Vec<T> n = kUsual ? tanh(in) : apply_function<T>(args.activation[d][1], in);
  keep(args, p, row, 0, x.at[0]);
  keep(args, p, row, 1, x.at[1]);
  keep(args, p, row, 2, n);
  keep(args, p, row, 3, q);
  end_step(p, row, mixed<T>(x.at[0], n, svld1(p, row.h)));
}

/// i, o, f and g from what they are functions of, where nothing of c enters but c itself: the usual LSTM.
template <class T>
inline void lstm_usual_row(const RecurrentArgsOf<T>& args, int64_t, int64_t, vb p, const T* products, const Row<T>& row) {
  Many<3, Vec<T>> x;
  SVENGINE_UNROLL
  for (int g = 0; g < 3; ++g) x.at[g] = clipped(args, gate_sum(args, p, row, products, g, g));
  x = sigmoid(x);
  if (args.input_forget) x.at[2] = vsub(repeated<T>(1), x.at[0]);
  const Vec<T> g = tanh(clipped(args, gate_sum(args, p, row, products, 3, 3)));
  const Vec<T> c = vfma(x.at[2], svld1(p, row.c), vmul(x.at[0], g));
  if (row.gates) {
    for (int i = 0; i < 3; ++i) keep(args, p, row, i, x.at[i]);
    keep(args, p, row, 3, g);
  }
  svst1(p, row.c, c);
  if (row.cells) svst1(p, row.cells, c);
  end_step(p, row, vmul(x.at[1], tanh(c)));
}

/// Any activations, with peepholes.
template <class T>
inline void lstm_row(const RecurrentArgsOf<T>& args, int64_t d, int64_t unit, vb p, const T* products, const Row<T>& row) {
  const T* peepholes = args.peepholes ? args.peepholes + d * 3 * args.hidden + unit : nullptr;
  const auto looking = [&](Vec<T> x, int64_t gate, Vec<T> c) SVENGINE_INLINE_LAMBDA -> Vec<T> {
    return clipped(args, peepholes ? vfma(svld1(p, peepholes + gate * args.hidden), c, x) : x);
  };
  const RecurrentActivation* functions = args.activation[d];
  const Vec<T> c = svld1(p, row.c);
  const Vec<T> i = apply_function<T>(functions[0], looking(gate_sum(args, p, row, products, 0, 0), 0, c));
  const Vec<T> f = args.input_forget ? vsub(repeated<T>(1), i)
                                     : apply_function<T>(functions[0], looking(gate_sum(args, p, row, products, 2, 2), 2, c));
  const Vec<T> g = apply_function<T>(functions[1], clipped(args, gate_sum(args, p, row, products, 3, 3)));
  const Vec<T> fresh = vfma(f, c, vmul(i, g));
  const Vec<T> o = apply_function<T>(functions[0], looking(gate_sum(args, p, row, products, 1, 1), 1, fresh));
  const Vec<T> gates[4] = {i, o, f, g};
  for (int64_t gate = 0; gate < 4; ++gate) keep(args, p, row, gate, gates[gate]);
  svst1(p, row.c, fresh);
  if (row.cells) svst1(p, row.cells, fresh);
  end_step(p, row, vmul(o, apply_function<T>(functions[2], fresh)));
}

}  // namespace svengine::kernels::SVENGINE_KERNEL_SET::recurrent
