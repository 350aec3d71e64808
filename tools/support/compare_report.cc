#include "tools/support/compare_report.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/support/output.h"
#include "validate/compare/element.h"

namespace svengine::tool {
namespace {

using validate::ComparedValue, validate::CompareReport, validate::Difference, validate::Guilt;

std::string error_text(const Difference& d) { return d.mismatch.empty() ? fmt::format("{:.2g}", d.relative()) : "other shape"; }

std::string local_text(const ComparedValue& v) {
  if (!v.problem.empty()) return "not computed";
  return v.has_local ? error_text(v.local) : "-";
}

/// What a sort by local error goes by.
double badness(const ComparedValue& v) {
  if (v.guilty && (!v.problem.empty() || !v.local.mismatch.empty())) return HUGE_VAL;
  return v.has_local ? v.local.relative() : -1;
}

std::string not_finite_text(const Difference& d) {
  const auto side = [](int64_t nans, int64_t infinities) { return fmt::format("{} NaN, {} inf", nans, infinities); };
  if (d.got_nans + d.got_infinities + d.expected_nans + d.expected_infinities == 0) return {};
  const std::string got = side(d.got_nans, d.got_infinities), expected = side(d.expected_nans, d.expected_infinities);
  return got == expected ? got : fmt::format("{}; reference {}", got, expected);
}

std::string step_text(const ComparedValue& v) {
  if (v.fused.size() < 2) return v.node.op;
  constexpr size_t kShown = 4;
  std::string out;
  for (size_t i = v.fused.size() > kShown ? v.fused.size() - kShown : 0; i < v.fused.size(); ++i)
    out += (out.empty() ? "" : "+") + v.fused[i].op;
  return v.fused.size() > kShown ? fmt::format("...+{} ({} nodes)", out, v.fused.size()) : out;
}

/// The end of a long name: exporters put what differs there.
std::string shortened(const std::string& name) {
  constexpr size_t kMost = 44;
  if (name.size() <= kMost) return name;
  size_t begin = name.size() - kMost + 3;
  while (begin < name.size() && (static_cast<unsigned char>(name[begin]) & 0xc0) == 0x80) ++begin;  // within a character
  return "..." + name.substr(begin);
}

std::vector<size_t> rows_of_table(const CompareReport& report, size_t rows) {
  std::vector<size_t> order(report.values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (rows >= order.size()) return order;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return badness(report.values[a]) > badness(report.values[b]); });
  order.resize(rows);
  return order;
}

std::string table_text(const CompareReport& report, size_t rows) {
  using enum Table::Align;
  Table table({"", "value", "node", "computes", "local", "explained", "accumulated", "not finite"},
              {left, left, left, left, right, right, right});
  for (const size_t i : rows_of_table(report, rows)) {
    const ComparedValue& v = report.values[i];
    table.row({v.guilty         ? "GUILTY"
               : v.random       ? "random"
               : v.by_condition ? "condition"
                                : "",
               shortened(v.value), shortened(v.node.name), step_text(v), local_text(v), fmt::format("{:.2g}", v.explained),
               error_text(v.accumulated), not_finite_text(v.has_local ? v.local : v.accumulated)});
  }
  return table.text("  ");
}

std::string bins_text(const Difference& d) {
  std::string out;
  for (int b = 0; b < Difference::kBins; ++b)
    if (const int64_t n = d.bins[static_cast<size_t>(b)])
      out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", Difference::bin_title(b), grouped(n));
  return out;
}

std::string elements_text(const Difference& d, const std::string& indent) {
  using enum Table::Align;
  Table table({"element", "got", "expected", "error"}, {right, right, right, right});
  for (const Difference::Element& e : d.elements)
    table.row({validate::index_text(d.dims, e.index), fmt::format("{:.9g}", e.got), fmt::format("{:.9g}", e.expected),
               fmt::format("{:.3g}", e.error)});
  return d.elements.empty() ? std::string() : table.text(indent);
}

std::string guilt_text(const CompareReport& report) {
  const Guilt& g = *report.first;
  const ComparedValue& v = report.values[g.at];
  std::string out;
  if (g.node) {
    out = fmt::format("first guilty: node '{}' ({}), which makes '{}'\n", g.node->name, g.node->op, g.value);
  } else {
    out = fmt::format("first guilty: step {}, which makes '{}' of {} nodes of the file; none of them is guilty when run alone\n",
                      v.kernels, v.value, v.fused.size());
  }
  if (!g.between.empty()) {
    std::string names;
    for (const validate::NodeName& n : g.between) names += fmt::format("{}'{}' ({})", names.empty() ? "" : ", ", n.name, n.op);
    out += fmt::format("  or one before it, whose values the reference has not: {}\n", names);
  }
  if (!g.problem.empty()) return out + fmt::format("  on the reference's inputs it {}\n", g.problem);
  if (!g.difference.mismatch.empty()) return out + fmt::format("  on the reference's inputs it {}\n", g.difference.mismatch);
  out += fmt::format("  local error {:.3g} of the largest value {:.6g}; precision explains {:.2g}\n", g.difference.relative(),
                     g.difference.largest, v.explained);
  out += fmt::format("  errors beside the largest value: {}\n", bins_text(g.difference));
  return out + elements_text(g.difference, "  ");
}

std::string outputs_text(const CompareReport& report) {
  using enum Table::Align;
  const bool whole = std::ranges::any_of(report.outputs, [](const auto& o) { return o.whole.has_value(); });
  std::vector<std::string> titles{"", "output", "over", "elements", "accumulated"};
  if (whole) titles.emplace_back("whole");
  titles.emplace_back("not finite");
  Table table(titles, {left, left, right, right, right, right});
  for (const validate::ComparedOutput& o : report.outputs) {
    const Difference& d = o.accumulated;
    const bool passed = d.passed() && (!o.whole || o.whole->passed());
    std::vector<std::string> cells{passed ? "pass" : "FAIL", o.name, grouped(d.over), grouped(d.count), error_text(d)};
    if (!o.compared) cells = {passed ? "-" : "FAIL", o.name, "-", "-", "-"};
    if (whole) cells.push_back(o.whole ? error_text(*o.whole) : "-");
    cells.push_back(!o.compared ? "the reference has no such value" : d.mismatch.empty() ? not_finite_text(d) : d.mismatch);
    table.row(std::move(cells));
  }
  return table.text("  ");
}

Json difference_json(const Difference& d) {
  if (!d.mismatch.empty()) return {{"mismatch", d.mismatch}};
  Json bins = Json::object(), elements = Json::array();
  for (int b = 0; b < Difference::kBins; ++b)
    if (d.bins[static_cast<size_t>(b)]) bins[Difference::bin_title(b)] = d.bins[static_cast<size_t>(b)];
  for (const Difference::Element& e : d.elements)
    elements.push_back(
        {{"index", validate::index_text(d.dims, e.index)}, {"got", e.got}, {"expected", e.expected}, {"error", e.error}});
  return {{"elements", d.count},
          {"over", d.over},
          {"atol", d.bound.atol},
          {"rtol", d.bound.rtol},
          {"worst_absolute", d.worst},
          {"worst_relative_to_largest", d.relative()},
          {"mean_absolute", d.mean},
          {"largest_expected", d.largest},
          {"nan", d.got_nans},
          {"infinite", d.got_infinities},
          {"expected_nan", d.expected_nans},
          {"expected_infinite", d.expected_infinities},
          {"histogram", bins},
          {"worst_elements", elements}};
}

Json node_json(const validate::NodeName& node) { return {{"name", node.name}, {"op", node.op}}; }

Json value_json(const ComparedValue& v) {
  Json nodes = Json::array();
  for (const validate::NodeName& n : v.fused) nodes.push_back(node_json(n));
  Json row = {{"value", v.value},   {"node", node_json(v.node)}, {"step", v.kernels},
              {"nodes", nodes},     {"guilty", v.guilty},        {"explained_by_condition", v.by_condition},
              {"random", v.random}, {"explained", v.explained},  {"accumulated", difference_json(v.accumulated)}};
  if (v.has_local && v.problem.empty()) row["local"] = difference_json(v.local);
  if (!v.problem.empty()) row["problem"] = v.problem;
  return row;
}

}  // namespace

std::string title_of(const ComparedSides& sides) { return fmt::format("{} against {}", sides.model, sides.reference); }

std::string compare_text(const CompareReport& report, const ComparedSides& sides, size_t rows) {
  Table head;
  head.row(
      {"tested", fmt::format("{}, kernels {}, {}", sides.model, sides.kernels, sides.optimised ? "optimised" : "node by node")});
  head.row({"reference", sides.reference});
  if (const validate::ValueMatch* m = sides.match)
    head.row({"matched", fmt::format("{} values by name, {} by place, {} not at all", m->by_name, m->by_place, m->unmatched)});
  head.row({"compared", fmt::format("{} values of {} steps", report.values.size(), report.steps)});
  std::string out = head.text();
  out += "errors are the largest ones, beside the value's largest element\n";
  out += table_text(report, rows);
  if (rows < report.values.size()) out += fmt::format("  ... the {} largest local errors; --all shows every value\n", rows);
  out += outputs_text(report);
  if (report.first) out += guilt_text(report);
  const size_t failed = static_cast<size_t>(
      std::ranges::count_if(report.outputs, [](const auto& o) { return o.compared && !o.accumulated.passed(); }));
  if (report.passed()) return out + "pass: no node is guilty\n";
  if (report.steps_passed())
    return out + "FAIL: every step is right, the network run whole is not: the fault is the engine's, in layouts or memory of its plan\n";
  if (report.guilty == 0)
    return out +
           fmt::format("FAIL: {} outputs are wrong, no node by itself: errors that precision explains are enlarged\n", failed);
  return out + fmt::format("FAIL: {} of {} values have errors of their own, {} outputs are wrong\n", report.guilty,
                           report.values.size(), failed);
}

Json compare_json(const CompareReport& report, const ComparedSides& sides) {
  Json values = Json::array(), outputs = Json::array();
  for (const ComparedValue& v : report.values) values.push_back(value_json(v));
  for (const validate::ComparedOutput& o : report.outputs)
    outputs.push_back({{"name", o.name},
                       {"passed", o.compared ? Json(o.accumulated.passed()) : Json(nullptr)},
                       {"accumulated", o.compared ? difference_json(o.accumulated) : Json(nullptr)},
                       {"whole", o.whole ? difference_json(*o.whole) : Json(nullptr)}});
  Json out = {{"model", sides.model},         {"kernels", sides.kernels},
              {"optimised", sides.optimised}, {"reference", sides.reference},
              {"seed", sides.seed},           {"ms", sides.milliseconds},
              {"passed", report.passed()},    {"steps", report.steps},
              {"guilty", report.guilty},      {"without_reference", report.without_reference}};
  if (const validate::ValueMatch* m = sides.match)
    out["matched"] = {{"by_name", m->by_name}, {"by_place", m->by_place}, {"unmatched", m->unmatched}};
  if (const auto& g = report.first) {
    out["first_guilty"] = {{"node", g->node ? node_json(*g->node) : Json(nullptr)},
                           {"value", g->value},
                           {"step_value", report.values[g->at].value},
                           {"local", difference_json(g->difference)}};
    if (!g->problem.empty()) out["first_guilty"]["problem"] = g->problem;
    Json between = Json::array();
    for (const validate::NodeName& n : g->between) between.push_back(node_json(n));
    out["first_guilty"]["between"] = between;
  }
  out["outputs"] = outputs;
  out["values"] = values;
  return out;
}

}  // namespace svengine::tool
