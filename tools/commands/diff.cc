// svengine diff: what is different between two model files.
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "importers/io/names.h"
#include "tools/commands/commands.h"
#include "tools/support/json.h"
#include "tools/support/options.h"
#include "tools/support/output.h"
#include "validate/diff/diff.h"

namespace svengine::tool {
namespace diff_command {

using validate::Change, validate::DiffEntry, validate::DiffClass, validate::DiffReport;

struct Options {
  std::string a, b;
  std::vector<std::string> ignored, plugins;
  double atol = 0;
  bool all = false, json = false;
};

constexpr size_t kMostRenamed = 10;  // that are listed without --all
constexpr size_t kMostText = 120;    // bytes of a text from the file on one line

Result<validate::DiffOptions> resolve(const Options& options) {
  validate::DiffOptions out;
  out.atol = options.atol;
  for (const std::string& word : options.ignored) {
    bool known = false;
    for (const DiffClass kind : {DiffClass::weights, DiffClass::names, DiffClass::types, DiffClass::docs, DiffClass::metadata})
      if (word == name_of(kind)) out.ignored.push_back(kind), known = true;
    if (!known) return error("--ignore {}: there are weights, names, types, docs, metadata", printable(word));
  }
  return out;
}

/// Marks and lines in colours, where a person looks at them.
class Painter {
 public:
  explicit Painter(bool colours) : colours_(colours) {}

  std::string mark(Change change) const {
    static constexpr const char* kMarks[] = {"+", "-", "~", ">"};
    static constexpr int kColours[] = {32, 31, 33, 36};
    const auto i = static_cast<size_t>(change);
    return colours_ ? fmt::format("\x1b[{}m{}\x1b[0m", kColours[i], kMarks[i]) : kMarks[i];
  }

 private:
  bool colours_;
};

std::string shown(const std::string& text) { return printable(text, kMostText); }

std::string title(const DiffEntry& d) {
  std::string out = d.subject;
  if (!d.op.empty()) out += ' ' + shown(d.op);
  if (!d.name.empty() || d.subject == "node") out += fmt::format(" '{}'", shown(d.name));
  if (!d.new_name.empty()) out += fmt::format(" (now '{}')", shown(d.new_name));
  return out;
}

std::string change_text(const DiffEntry& d) {
  if (d.weight) return printable(to_text(*d.weight), 400);
  if (d.change == Change::added) return shown(d.after);
  if (d.change == Change::removed) return shown(d.before);
  return fmt::format("{} -> {}", d.before.empty() ? "none" : shown(d.before), d.after.empty() ? "none" : shown(d.after));
}

/// Everything but what is only renamed, in the order of the graphs; what is different in one node stands together.
std::string changes_text(const DiffReport& report, const Painter& painter) {
  std::string out, scope;
  const DiffEntry* above = nullptr;
  for (const DiffEntry& d : report.differences) {
    if (d.change == Change::renamed) continue;
    if (d.scope != scope) out += fmt::format("in {}:\n", shown(scope = d.scope));
    if (d.property.empty()) {
      const std::string what = change_text(d);
      out += fmt::format("{} {}{}{}\n", painter.mark(d.change), title(d), what.empty() ? "" : ": ", what);
      above = nullptr;
      continue;
    }
    if (!above || above->subject != d.subject || above->name != d.name || above->scope != d.scope)
      out += fmt::format("{} {}\n", painter.mark(Change::changed), title(d));
    above = &d;
    out += fmt::format("    {} {}: {}\n", painter.mark(d.change), shown(d.property), change_text(d));
  }
  return out;
}

std::string renamed_text(const DiffReport& report, const Painter& painter, bool all) {
  std::string out;
  for (const char* subject : {"input", "output", "weight", "node", "value"}) {
    size_t listed = 0;
    const auto count = static_cast<size_t>(report.count(subject).renamed);
    for (const DiffEntry& d : report.differences) {
      if (d.change != Change::renamed || d.subject != subject) continue;
      if (!all && listed == kMostRenamed) {
        out += fmt::format("  ... and {} more {}s renamed (--all lists them)\n", grouped(static_cast<int64_t>(count - listed)), subject);
        break;
      }
      ++listed;
      out += fmt::format("{} {} '{}' -> '{}'{}\n", painter.mark(Change::renamed), subject, shown(d.name), shown(d.new_name),
                         d.scope.empty() ? "" : " in " + shown(d.scope));
    }
  }
  return out;
}

std::string summary(const DiffReport& report) {
  std::string out;
  for (const char* subject : {"node", "weight", "input", "output", "value"}) {
    const validate::DiffCounts counts = report.count(subject);
    const auto add = [&](int64_t count, const char* what) {
      if (count) out += fmt::format("{}{} {}{} {}", out.empty() ? "" : ", ", grouped(count), subject, count == 1 ? "" : "s", what);
    };
    add(counts.added, "added");
    add(counts.removed, "removed");
    add(counts.changed, "changed");
    add(counts.renamed, "renamed");
  }
  return out.empty() ? "no node, weight, input or output differs" : out;
}

Json to_json(const DiffEntry& d) {
  Json out = {{"kind", std::string(name_of(d.kind))},
              {"change", std::string(name_of(d.change))},
              {"scope", d.scope},
              {"subject", d.subject},
              {"name", d.name},
              {"new_name", d.new_name},
              {"op", d.op},
              {"property", d.property},
              {"before", d.before},
              {"after", d.after}};
  if (!d.weight) return out;
  const validate::WeightDifference& w = *d.weight;
  Json weight = {{"type", w.type_a},         {"compared", w.compared}, {"elements", w.count},        {"different", w.different},
                 {"over_tolerance", w.over}, {"largest", w.largest},   {"largest_at", w.largest_at}, {"mean", w.mean}};
  weight["a"] = w.largest_a, weight["b"] = w.largest_b;
  weight["nan"] = Json::array(), weight["infinite"] = Json::array();
  for (const int64_t n : {w.nans_a, w.nans_b}) weight["nan"].push_back(n);
  for (const int64_t n : {w.infinities_a, w.infinities_b}) weight["infinite"].push_back(n);
  out["weight"] = std::move(weight);
  return out;
}

Json to_json(const Options& options, const DiffReport& report) {
  Json out = {{"a", options.a}, {"b", options.b}, {"equal", report.equal()}, {"nodes_matched", report.nodes_matched}};
  out["nodes"] = Json::array(), out["weights"] = Json::array();
  for (const int64_t n : {report.nodes_a, report.nodes_b}) out["nodes"].push_back(n);
  for (const int64_t n : {report.weights_a, report.weights_b}) out["weights"].push_back(n);
  out["differences"] = Json::array();
  for (const DiffEntry& d : report.differences) out["differences"].push_back(to_json(d));
  return out;
}

Result<int> run(const Options& options) {
  SV_ASSIGN(const validate::DiffOptions wanted, resolve(options));
  SV_ASSIGN(const onnx::OnnxFile a, onnx::OnnxFile::open(options.a));
  SV_ASSIGN(const onnx::OnnxFile b, onnx::OnnxFile::open(options.b));
  SV_ASSIGN(const DiffReport report, diff_models(a, b, wanted));
  if (options.json) {
    put_json(to_json(options, report));
    return report.equal() ? kSuccess : kFailed;
  }
  if (report.equal()) {
    print("equal: {} nodes, {} weights\n", grouped(report.nodes_a), grouped(report.weights_a));
    return kSuccess;
  }
  const Painter painter(isatty(STDOUT_FILENO) && !std::getenv("NO_COLOR"));
  put(changes_text(report, painter));
  put(renamed_text(report, painter, options.all));
  print("different: {}; {} of {} and {} nodes matched\n", summary(report), grouped(report.nodes_matched), grouped(report.nodes_a),
        grouped(report.nodes_b));
  return kFailed;
}

}  // namespace diff_command

Action add_diff(Command& program) {
  using namespace diff_command;
  auto options = std::make_shared<Options>();
  Command& command = *program.add_subcommand("diff", "Show what is different between two models");
  command.add_option("A", options->a, "An ONNX model")->required()->type_name("");
  command.add_option("B", options->b, "Another one")->required()->type_name("");
  command
      .add_option("--ignore", options->ignored,
                  "What does not count, with commas: weights, names, types, docs, metadata\n(elements of weights; types of inner values)")
      ->delimiter(',')
      ->one_at_a_time()
      ->type_name("WHAT");
  command.add_option("--atol", options->atol, "Elements of weights at most this far apart are equal (default: 0, equal bytes)")
      ->check(not_negative())
      ->type_name("A");
  command.add_flag("--all", options->all, "List everything that is renamed");
  add_plugins(command, options->plugins);
  add_json(command, options->json);
  command.footer(
      "Nodes are matched by what they compute, not by their names: + added, - removed, ~ changed, > renamed.\n"
      "Exit code 0 when the models are equal, 1 when they differ, 2 when one cannot be read.\n"
      "Examples:\n  svengine diff before.onnx after.onnx\n  svengine diff exported.onnx trained.onnx --ignore weights,names,docs,metadata\n"
      "  svengine diff a.onnx b.onnx --atol 1e-6 --json");
  return [options] { return run(*options); };
}

}  // namespace svengine::tool
