// RNN, GRU and LSTM: a step of a row at a time, each gate a sum along rows of W and R.
#include <algorithm>

#include "engine/ops/recurrent/recurrent_common.h"
#include "tools/emit/formulas.h"
#include "tools/emit/table.h"

namespace svengine::tool::emit {
namespace {

using kernels::RecurrentCell;

constexpr const char* name_of(kernels::RecurrentFunction function) {
  using enum kernels::RecurrentFunction;
  switch (function) {
    case kSigmoid: return "Sigmoid";
    case kTanh: return "Tanh";
    case kRelu: return "Relu";
    case kAffine: return "affine";
    case kLeakyRelu: return "LeakyRelu";
    case kThresholdedRelu: return "ThresholdedRelu";
    case kScaledTanh: return "scaled_tanh";
    case kHardSigmoid: return "HardSigmoid";
    case kElu: return "Elu";
    case kSoftsign: return "Softsign";
    default: return "Softplus";
  }
}

/// One direction of a node.
class Direction {
 public:
  Direction(NodeContext& c, const ops::RecurrentOptions& options, const ops::RecurrentSizes& sizes, int64_t d)
      : c_(c), o_(options), z_(sizes), d_(d), gates_(kernels::gates_of(options.cell)), type_(c.in_type(0)), t_(c_type(type_)) {}

  /// `h`, `cell`, `next` and `gate`: memory for [hidden], [hidden], [hidden] and [gates * hidden].
  void emit(const std::string& h, const std::string& cell, const std::string& next, const std::string& gate) {
    h_ = h, cell_ = cell, next_ = next, gate_ = gate;
    Code& code = c_.code();
    const bool lstm = o_.cell == RecurrentCell::kLstm;
    code.loop("b", z_.batch);
    const kernels::RecurrentStride state = ops::recurrent_state_stride(z_, o_.batch_first), y = ops::recurrent_y_stride(z_, o_.batch_first);
    const std::string at = fmt::format("{} + b * {}", d_ * state.direction, state.row);
    for (const auto& [memory, input] : {std::pair(h, size_t{5}), std::pair(cell, size_t{6})})
      if (input == 5 || lstm) units(fmt::format("{}[u] = {};", memory, c_.has_input(input) ? c_.element(input, at + " + u") : "0"));
    code.line("const ptrdiff_t steps = {};", c_.has_input(4) ? c_.element(4, "b") : fmt::format("{}", z_.steps));
    if (c_.has_input(4)) {
      c_.may_fail();
      code.line("if (steps < 0 || steps > {}) return 1;", z_.steps);
    }
    code.open("for (ptrdiff_t s = 0; s < steps; ++s)");
    code.line("const ptrdiff_t t = {};", o_.reverse[d_] ? "steps - 1 - s" : "s");
    const std::string step = o_.batch_first ? fmt::format("b * {} + t", z_.steps) : fmt::format("t * {} + b", z_.batch);
    code.line("const {} *const x = {} + ({}) * {};", t_, c_.in(0), step, z_.ins);
    emit_sums();
    if (lstm) emit_lstm();
    else if (o_.cell == RecurrentCell::kRnn) function("g", "next", 0);
    else emit_gru();
    units(fmt::format("{}[u] = {}[u];", h, next));
    const auto result = [&](const std::string& value) {
      if (c_.wants(0)) units(fmt::format("{}[{} + t * {} + b * {} + u] = {};", c_.out(), d_ * y.direction, y.step, y.row, value));
    };
    result(next + "[u]");
    code.close();
    if (c_.has_input(4)) {
      code.open("for (ptrdiff_t t = steps; t < {}; ++t)", z_.steps);
      result("0");
      code.close();
    }
    if (c_.wants(1)) units(fmt::format("{}[{} + u] = {}[u];", c_.out(1), at, h));
    if (lstm && c_.wants(2)) units(fmt::format("{}[{} + u] = {}[u];", c_.out(2), at, cell));
    code.close();
  }

 private:
  void units(const std::string& line) { c_.code().line("for (ptrdiff_t u = 0; u < {}; ++u) {}", z_.hidden, line); }

  std::string row(const char* what, int64_t each, const std::string& unit) {
    const size_t input = what[0] == 'W' ? 1 : 2;
    return fmt::format("{} + ({} + {}) * {}", c_.in(input), d_ * gates_ * z_.hidden, unit, each);
  }
  std::string bias(int64_t which, const std::string& unit) {
    return c_.has_input(3) ? fmt::format(" + {}", c_.element(3, fmt::format("{} + {}", (2 * d_ + which) * gates_ * z_.hidden, unit))) : "";
  }
  std::string dot(const std::string& weights, const std::string& with, int64_t n) {
    return fmt::format("{}({}, {}, {})", c_.helper("dot", type_), weights, with, n);
  }

  /// gate[] = W x + biases + R h; of a GRU's third gate without R h and, where the reset comes after it, without R's bias.
  void emit_sums() {
    const int64_t n = z_.hidden, with_state = o_.cell == RecurrentCell::kGru || o_.cell == RecurrentCell::kGruResetAfter ? 2 * n : gates_ * n;
    const bool after = o_.cell == RecurrentCell::kGruResetAfter;
    units_of(with_state, 0, dot(row("W", z_.ins, "u"), "x", z_.ins) + bias(0, "u") + bias(1, "u") + " + " + dot(row("R", n, "u"), h_, n));
    if (with_state < gates_ * n)
      units_of(gates_ * n - with_state, with_state, dot(row("W", z_.ins, "u"), "x", z_.ins) + bias(0, "u") + (after ? "" : bias(1, "u")));
  }
  void units_of(int64_t count, int64_t first, const std::string& value) {
    c_.code().line("for (ptrdiff_t u = {}; u < {}; ++u) {}[u] = {};", first, first + count, gate_, value);
  }

  /// In a loop over "u": the activation number `which` of a value.
  std::string activation(const std::string& value, int which) {
    const kernels::RecurrentActivation& a = o_.activation[d_][which];
    c_.code().line("const {} e = {};", t_, value);
    return expression(c_.code(), unary_formula(name_of(a.function), type_), type_, {"e", {}, a.alpha, a.beta});
  }
  std::string clipped(const std::string& value) {
    if (o_.clip <= 0) return value;
    const std::string most = c_number(o_.clip, type_);
    return fmt::format("{0} < -{1} ? -{1} : {0} > {1} ? {1} : {0}", value, most);
  }
  /// to[u] = activation(from[u + first]).
  void function(const std::string& from, const std::string& to, int which, int64_t first = 0) {
    Code& code = c_.code();
    code.loop("u", z_.hidden);
    code.line("const {} q = {}[u + {}];", t_, from == "g" ? gate_ : from, first);
    const std::string value = activation(clipped("q"), which);
    code.line("{}[u + {}] = {};", to == "next" ? next_ : gate_, to == "next" ? 0 : first, value);
    code.close();
  }
  /// Adds a peephole's part of gate `g`, whose weights are number `p`.
  void peephole(int64_t g, int64_t p) {
    if (!c_.has_input(7)) return;
    const std::string weight = c_.element(7, fmt::format("{} + u", (3 * d_ + p) * z_.hidden));
    units(fmt::format("{}[u + {}] += {} * {}[u];", gate_, g * z_.hidden, weight, cell_));
  }

  void emit_lstm() {  // gates i, o, f, c; peepholes i, o, f
    const int64_t n = z_.hidden;
    peephole(0, 0);
    function("g", "g", 0, 0);
    if (o_.input_forget) {
      units(fmt::format("{0}[u + {1}] = 1 - {0}[u];", gate_, 2 * n));
    } else {
      peephole(2, 2);
      function("g", "g", 0, 2 * n);
    }
    function("g", "g", 1, 3 * n);
    units(fmt::format("{0}[u] = {1}[u + {2}] * {0}[u] + {1}[u] * {1}[u + {3}];", cell_, gate_, 2 * n, 3 * n));
    peephole(1, 1);
    function("g", "g", 0, n);
    Code& code = c_.code();
    code.loop("u", n);
    const std::string value = activation(fmt::format("{}[u]", cell_), 2);
    code.line("{}[u] = {}[u + {}] * ({});", next_, gate_, n, value);
    code.close();
  }

  void emit_gru() {  // gates z, r, h
    const int64_t n = z_.hidden;
    function("g", "g", 0, 0);
    function("g", "g", 0, n);
    const std::string third = fmt::format("u + {}", 2 * n);
    if (o_.cell == RecurrentCell::kGruResetAfter) {
      units(fmt::format("{0}[{1}] += {0}[u + {2}] * ({3}{4});", gate_, third, n, dot(row("R", n, third), h_, n), bias(1, third)));
    } else {
      units(fmt::format("{}[u] = {}[u + {}] * {}[u];", next_, gate_, n, h_));
      units(fmt::format("{}[{}] += {};", gate_, third, dot(row("R", n, third), next_, n)));
    }
    function("g", "g", 1, 2 * n);
    units(fmt::format("{0}[u] = (1 - {1}[u]) * {1}[{2}] + {1}[u] * {3}[u];", next_, gate_, third, h_));
  }

  NodeContext& c_;
  const ops::RecurrentOptions& o_;
  const ops::RecurrentSizes& z_;
  int64_t d_, gates_;
  DType type_;
  std::string_view t_;
  std::string h_, cell_, next_, gate_;
};

}  // namespace

Status emit_recurrent(NodeContext& c) {
  SV_ASSIGN(const ops::RecurrentOptions options, ops::recurrent_options(c.node()));
  const ops::RecurrentSizes sizes = ops::recurrent_sizes(c.node(), options);
  const int64_t gates = kernels::gates_of(options.cell);
  const auto memory = [&](int64_t count) { return c.temporary(c.in_type(0), count); };
  const std::string h = memory(sizes.hidden), cell = options.cell == RecurrentCell::kLstm ? memory(sizes.hidden) : "", next = memory(sizes.hidden);
  const std::string gate = memory(gates * sizes.hidden);
  for (int64_t d = 0; d < sizes.directions; ++d) Direction(c, options, sizes, d).emit(h, cell, next, gate);
  c.count_multiply_adds(sizes.steps * sizes.batch * sizes.directions * gates * sizes.hidden * (sizes.ins + sizes.hidden));
  return {};
}

}  // namespace svengine::tool::emit
