#include "validate/compare/page.h"

#include <algorithm>
#include <cmath>

#include "validate/compare/element.h"

namespace svengine::validate {
namespace {

constexpr const char* kHead = R"(<meta charset="utf-8">
<style>
body { font: 14px sans-serif; margin: 2em; color: #222; }
table { border-collapse: collapse; }
th, td { padding: 3px 10px; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; }
th { cursor: pointer; background: #f4f4f4; position: sticky; top: 0; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
tr.guilty { background: #fdd; }
tr.condition { background: #ffc; }
svg { display: block; }
details { max-width: 60em; }
</style>
)";

constexpr const char* kScript = R"(<script>
document.querySelectorAll('th').forEach(function (th) {
  th.addEventListener('click', function () {
    var body = th.closest('table').tBodies[0], column = th.cellIndex, down = th.dataset.down !== '1';
    th.dataset.down = down ? '1' : '0';
    var key = function (row) { var k = row.cells[column].dataset.k; return k === undefined ? row.cells[column].textContent : Number(k); };
    Array.from(body.rows).sort(function (a, b) {
      var x = key(a), y = key(b);
      return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
    }).forEach(function (row) { body.appendChild(row); });
  });
});
</script>
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string number_cell(double sorted_by, const std::string& text) {
  const double key = std::isfinite(sorted_by) ? sorted_by : 1e300;
  return fmt::format("<td class=n data-k=\"{:g}\">{}</td>", key, escaped(text));
}

/// Bars by decade, on a logarithmic scale: a single element far off is what one looks for.
std::string histogram(const Difference& d) {
  constexpr int kWidth = 9, kHeight = 28;
  if (d.count == 0) return {};
  std::string bars;
  const double most = std::log2(static_cast<double>(d.count) + 1);
  for (int b = 0; b < Difference::kBins; ++b) {
    const int64_t n = d.bins[static_cast<size_t>(b)];
    if (n == 0) continue;
    const double height = std::max(2.0, kHeight * std::log2(static_cast<double>(n) + 1) / most);
    const char* colour = b == Difference::kEqual ? "#8a8" : b == Difference::kNotFinite ? "#c00" : "#68a";
    bars += fmt::format("<rect x={} y={:.1f} width={} height={:.1f} fill=\"{}\"><title>{}: {}</title></rect>", b * kWidth,
                        kHeight - height, kWidth - 1, height, colour, Difference::bin_title(b), n);
  }
  return fmt::format("<svg width={} height={}>{}</svg>", Difference::kBins * kWidth, kHeight, bars);
}

std::string difference_cells(const Difference& d) {
  if (!d.mismatch.empty()) return number_cell(HUGE_VAL, d.mismatch) + "<td></td>";
  return number_cell(d.relative(), fmt::format("{:.3g}", d.relative())) + fmt::format("<td>{}</td>", histogram(d));
}

std::string local_cells(const ComparedValue& v) {
  if (!v.problem.empty()) return number_cell(HUGE_VAL, v.problem) + "<td></td>";
  return v.has_local ? difference_cells(v.local) : number_cell(-1, "-") + "<td></td>";
}

std::string not_finite_cell(const Difference& d) {
  const int64_t got = d.got_nans + d.got_infinities, expected = d.expected_nans + d.expected_infinities;
  return number_cell(static_cast<double>(got), got + expected == 0 ? "" : fmt::format("{} ({})", got, expected));
}

std::string worst_cell(const Difference& d) {
  std::string rows;
  for (const Difference::Element& e : d.elements)
    rows += fmt::format("{}: {:.9g}, expected {:.9g}<br>", index_text(d.dims, e.index), e.got, e.expected);
  return rows.empty() ? "<td></td>" : fmt::format("<td><details><summary>{:.3g}</summary>{}</details></td>", d.worst, rows);
}

std::string row_of(const ComparedValue& v, size_t number) {
  std::string nodes;
  for (const NodeName& n : v.fused) nodes += fmt::format("{} ({})<br>", escaped(n.name), escaped(n.op));
  const std::string computes = v.fused.size() < 2 ? escaped(v.node.op)
                                                  : fmt::format("<details><summary>{} of {} nodes</summary>{}</details>",
                                                                escaped(v.kernels), v.fused.size(), nodes);
  const Difference& shown = v.has_local && v.problem.empty() ? v.local : v.accumulated;
  return fmt::format("<tr class=\"{}\">{}<td>{}</td><td>{}</td><td>{}</td>{}{}{}{}{}</tr>\n",
                     v.guilty         ? "guilty"
                     : v.by_condition || v.random ? "condition"
                                      : "",
                     number_cell(static_cast<double>(number), std::to_string(number)), escaped(v.value), escaped(v.node.name),
                     computes, local_cells(v), number_cell(v.explained, fmt::format("{:.2g}", v.explained)),
                     difference_cells(v.accumulated), not_finite_cell(shown), worst_cell(shown));
}

std::string verdict(const CompareReport& report) {
  if (!report.first) return report.passed() ? "No node is guilty." : "No node is guilty by itself, but an output is wrong.";
  const Guilt& g = *report.first;
  if (g.node) return fmt::format("First guilty: node '{}' ({}), which makes '{}'.", g.node->name, g.node->op, g.value);
  return fmt::format("First guilty: the step that makes '{}'; none of its nodes is guilty when run alone.",
                     report.values[g.at].value);
}

std::string outputs_of(const CompareReport& report) {
  std::string out =
      "<table><thead><tr><th>output<th>accumulated error<th>errors by decade<th>elements over</tr></thead><tbody>\n";
  for (const ComparedOutput& o : report.outputs)
    if (o.compared)
      out += fmt::format("<tr class=\"{}\"><td>{}</td>{}{}</tr>\n", o.accumulated.passed() ? "" : "guilty", escaped(o.name),
                         difference_cells(o.accumulated),
                         number_cell(static_cast<double>(o.accumulated.over), std::to_string(o.accumulated.over)));
  return out + "</tbody></table>\n";
}

}  // namespace

std::string page_of(const CompareReport& report, const std::string& title) {
  std::string out =
      fmt::format("<!DOCTYPE html>\n<html><head><title>{}</title>\n{}</head><body>\n<h1>{}</h1>\n<p><b>{}</b></p>\n",
                  escaped(title), kHead, escaped(title), escaped(verdict(report)));
  out +=
      "<p>Errors are the largest ones, beside the value's largest element. Histograms: equal, then a decade a bar from below "
      "1e-9 to 1 and more, "
      "then what is not finite on one side; heights are logarithmic. A click on a title sorts.</p>\n";
  out += outputs_of(report);
  out +=
      "<p></p><table><thead><tr><th>#<th>value<th>node<th>computes<th>local error<th>by decade<th>explained<th>accumulated "
      "error<th>by decade"
      "<th>not finite (reference)<th>worst elements</tr></thead><tbody>\n";
  for (size_t i = 0; i < report.values.size(); ++i) out += row_of(report.values[i], i);
  return out + "</tbody></table>\n" + kScript + "</body></html>\n";
}

}  // namespace svengine::validate
