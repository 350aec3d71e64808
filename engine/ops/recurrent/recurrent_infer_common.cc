#include "engine/ops/infer_util.h"
#include "engine/ops/recurrent/recurrent_common.h"

namespace svengine::ops {
namespace {

using kernels::RecurrentCell;

constexpr size_t kSequenceLens = 4;

/// Sizes as far as they are known.
struct KnownSizes {
  Dim steps, batch, ins, directions, hidden;
};

Dim times(int64_t factor, const Dim& d) { return d.is_static() ? Dim(factor * d.value()) : Dim(); }

Status check_types(const InferContext& c) {
  for (size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has_input(i)) continue;
    if (i == kSequenceLens) {
      SV_TRY(require_dtype(c, i, {DType::i32}));
      SV_TRY(require_rank(c, i, 1));
      continue;
    }
    SV_TRY(require_dtype(c, i, kRealTypes));
    if (c.dtype(i) != c.dtype(0))
      return error("{} is {}, but X {}: they must be alike", c.described(i), name_of(c.dtype(i)), name_of(c.dtype(0)));
    SV_TRY(require_rank(c, i, i == 3 || i == 7 ? 2 : 3));
  }
  return {};
}

Status check_shape(const InferContext& c, size_t input, const std::vector<Dim>& wanted, const char* words) {
  if (!c.has_input(input) || !c.shape(input).has_rank()) return {};
  for (size_t i = 0; i < wanted.size(); ++i)
    if (known_different(c.shape(input)[i], wanted[i]))
      return error("{} of shape {} is not {}: {}", c.described(input), to_string(c.shape(input)), words,
                   to_string(Shape(wanted)));
  return {};
}

Result<KnownSizes> known_sizes(const InferContext& c, const RecurrentOptions& o) {
  KnownSizes z{.steps = {}, .batch = {}, .ins = {}, .directions = Dim(o.directions), .hidden = {}};
  if (const Shape& x = c.shape(0); x.has_rank()) {
    z.steps = x[o.batch_first ? 1 : 0];
    z.batch = x[o.batch_first ? 0 : 1];
    z.ins = x[2];
  }
  if (const Shape& r = c.shape(2); r.has_rank()) z.hidden = r[2];
  const int64_t gates = kernels::gates_of(o.cell), named = c.attributes().get_int("hidden_size", 0);
  if (const Shape& w = c.shape(1); w.has_rank() && !z.hidden.is_static() && w[1].is_static())
    z.hidden = Dim(w[1].value() / gates);
  if (!z.hidden.is_static() && named > 0) z.hidden = Dim(named);
  if (c.attributes().has("hidden_size") && z.hidden.is_static() && named != z.hidden.value())
    return error("hidden_size is {}, but the weights are for {}", named, z.hidden.value());
  return z;
}

}  // namespace

Status infer_recurrent(InferContext& c) {
  SV_ASSIGN(const RecurrentOptions o, recurrent_options(c.node()));
  SV_TRY(check_types(c));
  SV_ASSIGN(const KnownSizes z, known_sizes(c, o));
  const int64_t gates = kernels::gates_of(o.cell);
  const bool first = o.batch_first;
  const Dim rows = times(gates, z.hidden);
  const std::vector<Dim> state =
      first ? std::vector<Dim>{z.batch, z.directions, z.hidden} : std::vector<Dim>{z.directions, z.batch, z.hidden};
  SV_TRY(check_shape(c, 1, {z.directions, rows, z.ins}, "[directions, gates * hidden, inputs]"));
  SV_TRY(check_shape(c, 2, {z.directions, rows, z.hidden}, "[directions, gates * hidden, hidden]"));
  SV_TRY(check_shape(c, 3, {z.directions, times(2, rows)}, "[directions, 2 * gates * hidden]"));
  SV_TRY(check_shape(c, kSequenceLens, {z.batch}, "[batch]"));
  for (size_t i = 5; i < 7; ++i)
    SV_TRY(check_shape(c, i, state, first ? "[batch, directions, hidden]" : "[directions, batch, hidden]"));
  SV_TRY(check_shape(c, 7, {z.directions, times(3, z.hidden)}, "[directions, 3 * hidden]"));
  const DType type = c.dtype(0);
  c.set(0, type,
        first ? Shape(std::vector<Dim>{z.batch, z.steps, z.directions, z.hidden})
              : Shape(std::vector<Dim>{z.steps, z.directions, z.batch, z.hidden}));
  const size_t states = o.cell == RecurrentCell::kLstm ? 2 : 1;
  for (size_t i = 1; i <= states; ++i) c.set(i, type, Shape(state));
  c.set(states + 1, type,
        Shape(std::vector<Dim>{z.steps, z.batch, z.directions, times(kernels::kept_gates_of(o.cell), z.hidden)}));
  c.set(states + 2, type, Shape(std::vector<Dim>{z.steps, z.batch, z.directions, z.hidden}));
  return {};
}

}  // namespace svengine::ops
