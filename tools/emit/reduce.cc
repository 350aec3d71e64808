// Reductions over any dimensions, global pooling among them; ArgMax and ArgMin.
#include <limits>

#include "tools/emit/formulas.h"
#include "tools/emit/lines.h"
#include "tools/emit/table.h"

namespace svengine::tool::emit {
namespace {

/// acc begins as `first`, takes every element x in by `step`, and ends as `last`. As in formulas.h, with $x for acc and $y for the element;
/// $a in `last` is how many elements there were.
struct Reduction {
  std::string_view name;
  const char *first, *step, *last = "$x";
};

constexpr Reduction kReductions[] = {
    {"ReduceSum", "0", "Add"},
    {"ReduceMean", "0", "Add", "$x / $a"},
    {"GlobalAveragePool", "0", "Add", "$x / $a"},
    {"ReduceMax", "-INFINITY", "Max"},
    {"GlobalMaxPool", "-INFINITY", "Max"},
    {"ReduceMin", "INFINITY", "Min"},
    {"ReduceProd", "1", "Mul"},
    {"ReduceL1", "0", "$x + @fabs($y)"},
    {"ReduceL2", "0", "$x + $y * $y", "@sqrt($x)"},
    {"ReduceSumSquare", "0", "$x + $y * $y"},
    {"ReduceLogSum", "0", "Add", "@log($x)"},
    {"ReduceLogSumExp", "0", "Add", "@log($x)"},
};

/// Dimensions that go, and those that stay.
struct Axes {
  Nest kept, reduced;  // operand 0: the input; of kept, operand 1: the output
  int64_t count = 1;   // elements of the input for each of the output
};

Result<Axes> axes_of(const NodeContext& c) {
  const Dims dims = c.in_dims(0);
  const bool global = !std::string_view(c.node().op().name).starts_with("Reduce");
  std::vector<int64_t> given = c.integers(1);
  std::vector<bool> reduced(dims.size(), given.empty() && c.attributes().get_int("noop_with_empty_axes") == 0);
  SV_ASSIGN(given, normalise_axes(given, static_cast<int64_t>(dims.size())));
  for (const int64_t axis : given) reduced[static_cast<size_t>(axis)] = true;
  if (global) reduced[0] = reduced[1] = false;
  const Strides strides = dense_strides(dims);
  Axes out{{{}, {{}, {}}}, {{}, {{}}}};
  for (size_t d = 0; d < dims.size(); ++d) {
    Nest& nest = reduced[d] ? out.reduced : out.kept;
    nest.sizes.push_back(dims[d]);
    nest.operands[0].push_back(strides[d]);
    if (reduced[d]) out.count *= dims[d];
  }
  out.kept.operands[1] = dense_strides(out.kept.sizes);
  out.kept = merged(std::move(out.kept)), out.reduced = merged(std::move(out.reduced));
  return out;
}

/// What an extremum of no elements is.
std::string first_of(const Reduction& r, DType type) {
  if (kRealTypes.has(type) || !std::string_view(r.first).ends_with("INFINITY")) return r.first;
  const bool least = r.first[0] == '-';
  if (type == DType::i64) return least ? "-INT64_MAX - 1" : "INT64_MAX";
  return least ? "-INT32_MAX - 1" : "INT32_MAX";
}

std::string step_of(Code& code, const Reduction& r, DType type, const std::string& acc, const std::string& x) {
  const char* formula = binary_formula(r.step, type);
  return expression(code, formula ? formula : r.step, type, {acc, x});
}

/// One result at a time.
void emit_each(NodeContext& c, const Reduction& r, const Axes& axes) {
  Code& code = c.code();
  const DType type = c.out_type();
  const std::string_view t = c_type(type);
  const bool log_sum_exp = r.name == "ReduceLogSumExp";
  open_loops(code, axes.kept.sizes, "o");
  code.line("const {} *const x = {} + {};", t, c.in(0), element_of(axes.kept.operands[0], 0, "o"));
  const std::string at = element_of(axes.reduced.operands[0]);
  if (log_sum_exp) {  // less the largest, so that nothing overflows
    code.line("{} most = -INFINITY;", t);
    open_loops(code, axes.reduced.sizes);
    code.line("most = x[{0}] > most ? x[{0}] : most;", at);
    close_loops(code, axes.reduced.sizes);
    code.line("if (most - most != 0) most = 0;");
  }
  code.line("{} acc = {};", t, first_of(r, type));
  const bool adds = r.step == std::string_view("Add") && kRealTypes.has(type) && !log_sum_exp;
  Dims loops = axes.reduced.sizes;
  if (adds && !loops.empty() && axes.reduced.operands[0].back() == 1) {
    Strides outer = axes.reduced.operands[0];
    const int64_t inner = loops.back();
    loops.pop_back(), outer.pop_back();
    open_loops(code, loops);
    code.line("acc += {}(x + {}, {});", c.helper("sum", type), element_of(outer), inner);
  } else {
    open_loops(code, loops);
    code.line("const {} e = {};", t, log_sum_exp ? fmt::format("{}(x[{}] - most)", c_function("exp", type), at) : fmt::format("x[{}]", at));
    code.line("acc = {};", step_of(code, r, type, "acc", "e"));
  }
  close_loops(code, loops);
  const std::string result = expression(code, r.last, type, {"acc", {}, static_cast<double>(axes.count)});
  code.line("{}[{}] = {}{};", c.out(), element_of(axes.kept.operands[1], 0, "o"), result, log_sum_exp ? " + most" : "");
  close_loops(code, axes.kept.sizes);
}

/// The last dimension stays: a row of results takes in one row of the input after another.
void emit_rows(NodeContext& c, const Reduction& r, const Axes& axes) {
  Code& code = c.code();
  const DType type = c.out_type();
  const std::string_view t = c_type(type);
  const auto but_last = [](auto list) {
    list.pop_back();
    return list;
  };
  const Dims outer = but_last(axes.kept.sizes);
  const int64_t row = axes.kept.sizes.back();
  open_loops(code, outer, "o");
  code.line("const {} *const x = {} + {};", t, c.in(0), element_of(but_last(axes.kept.operands[0]), 0, "o"));
  code.line("{} *const y = {} + {};", t, c.out(), element_of(but_last(axes.kept.operands[1]), 0, "o"));
  code.line("for (ptrdiff_t j = 0; j < {}; ++j) y[j] = {};", row, first_of(r, type));
  open_loops(code, axes.reduced.sizes);
  code.loop("j", row);
  code.line("const {} e = x[{} + j];", t, element_of(axes.reduced.operands[0]));
  code.line("y[j] = {};", step_of(code, r, type, "y[j]", "e"));
  code.close();
  close_loops(code, axes.reduced.sizes);
  code.loop("j", row);
  code.line("y[j] = {};", expression(code, r.last, type, {"y[j]", {}, static_cast<double>(axes.count)}));
  code.close();
  close_loops(code, outer);
}

}  // namespace

Status emit_reduce(NodeContext& c) {
  SV_ASSIGN(const Axes axes, axes_of(c));
  for (const Reduction& r : kReductions) {
    if (r.name != c.node().op().name) continue;
    const bool rows = !axes.kept.sizes.empty() && axes.kept.operands[0].back() == 1 && axes.kept.sizes.back() > 1 && axes.count > 1;
    if (rows && r.name != "ReduceLogSumExp") emit_rows(c, r, axes);
    else emit_each(c, r, axes);
  }
  return {};
}

Status emit_arg_reduce(NodeContext& c) {
  SV_ASSIGN(const Lines lines, lines_of(c, 0));
  const bool most = c.node().op().name == std::string_view("ArgMax"), last = c.attributes().get_int("select_last_index") != 0;
  Code& code = c.code();
  code.loop("o", lines.outer);
  code.loop("i", lines.inner);
  code.line("const {} *const x = {} + o * {} + i;", c_type(c.in_type(0)), c.in(0), lines.count * lines.inner);
  code.line("ptrdiff_t best = 0;");
  code.open("for (ptrdiff_t l = 1; l < {}; ++l)", lines.count);
  code.line("const {0} e = x[l * {1}], b = x[best * {1}];", c_type(c.in_type(0)), lines.inner);
  // The first NaN, or the last, is further than any number.
  const char* further = most ? ">" : "<";
  if (kRealTypes.has(c.in_type(0)))
    code.line("if (e != e ? {} : b == b && e {}{} b) best = l;", last ? "1" : "b == b", further, last ? "=" : "");
  else code.line("if (e {}{} b) best = l;", further, last ? "=" : "");
  code.close();
  code.line("{}[o * {} + i] = best;", c.out(), lines.inner);
  code.close(2);
  return {};
}

}  // namespace svengine::tool::emit
