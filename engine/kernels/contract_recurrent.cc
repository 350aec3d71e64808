#include "engine/kernels/contract_recurrent.h"

#include "engine/kernels/contract_memory.h"

namespace svengine::kernels {
namespace {

template <class T>
const char* null_violation(const RecurrentArgsOf<T>& args) {
  if (!args.weights || !args.h || (!args.sums && args.length > 0)) return "recurrent: sums, weights or h is null";
  if (args.cell == RecurrentCell::kLstm && !args.c) return "recurrent: c of an LSTM is null";
  if (args.cell == RecurrentCell::kGru && !args.reset) return "recurrent: reset of a GRU is null";
  if (args.peepholes && args.cell != RecurrentCell::kLstm) return "recurrent: peepholes of another cell than LSTM";
  return nullptr;
}

/// Results of one row and time, `count` elements each, do not overlap.
template <class T>
bool rows_overlap(const RecurrentArgsOf<T>& args, const T* at, const RecurrentStride& s, int64_t count) {
  if (!at) return false;
  return (args.batch > 1 && s.row < count) || (args.length > 1 && s.step < count) || (args.directions > 1 && s.direction < count);
}

template <class T>
Memory elements(const T* at, int64_t count) {
  return memory(at, count * static_cast<int64_t>(sizeof(T)));
}

template <class T>
const char* overlap_violation(const RecurrentArgsOf<T>& args) {
  const int64_t state = args.directions * args.batch * args.hidden;
  const Memory h = elements(args.h, 2 * state), c = elements(args.c, state), reset = elements(args.reset, 2 * state);
  if (overlap(h, c) || overlap(h, reset) || overlap(c, reset)) return "recurrent: h, c and reset overlap";
  if (rows_overlap(args, args.y, args.y_stride, args.hidden)) return "recurrent: rows of y overlap";
  if (rows_overlap(args, args.gates, args.gates_stride, kept_gates_of(args.cell) * args.hidden))
    return "recurrent: rows of gates overlap";
  if (rows_overlap(args, args.cells, args.cells_stride, args.hidden)) return "recurrent: rows of cells overlap";
  return nullptr;
}

template <class T>
const char* violation_of(const RecurrentArgsOf<T>& args) {
  if (args.directions < 1 || args.directions > 2) return "recurrent: directions is neither 1 nor 2";
  if (args.batch < 1 || args.hidden < 1 || args.length < 0) return "recurrent: batch or hidden is not positive, or length negative";
  if (args.step < 0 || (args.length > 0 && args.step >= args.length)) return "recurrent: step is not below length";
  if (!(args.clip >= 0)) return "recurrent: clip is negative";
  if (args.lengths)
    for (int64_t b = 0; b < args.batch; ++b)
      if (args.lengths[b] < 0 || args.lengths[b] > args.length) return "recurrent: one of lengths is not 0 to length";
  if (const char* broken = null_violation(args)) return broken;
  return overlap_violation(args);
}

template <class T>
const char* pack_violation_of(const RecurrentPackArgsOf<T>& args) {
  if (args.hidden < 1) return "recurrent pack: hidden is not positive";
  if (!args.source || !args.packed) return "recurrent pack: source or packed is null";
  const int64_t given = gates_of(args.cell) * args.hidden * args.hidden;  // packed has no fewer
  if (overlap(elements(args.source, given), elements(args.packed, given))) return "recurrent pack: packed overlaps source";
  return nullptr;
}

}  // namespace

const char* violation(const RecurrentArgsOf<float>& args) noexcept { return violation_of(args); }
const char* violation(const RecurrentArgsOf<double>& args) noexcept { return violation_of(args); }
const char* violation(const RecurrentPackArgsOf<float>& args) noexcept { return pack_violation_of(args); }
const char* violation(const RecurrentPackArgsOf<double>& args) noexcept { return pack_violation_of(args); }

}  // namespace svengine::kernels
