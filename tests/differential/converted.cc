#include "tests/differential/converted.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "engine/graph/bodies.h"
#include "engine/ops/registry.h"
#include "importers/onnx/export.h"
#include "importers/onnx/export_node.h"
#include "importers/onnx/import.h"
#include "importers/onnx/old_forms.h"
#include "importers/onnx/write_model.h"
#include "tests/differential/compare.h"
#include "tests/differential/way.h"
#include "validate/check/check.h"
#include "validate/convert/change_type.h"
#include "validate/convert/older_forms.h"
#include "validate/convert/simplify.h"

namespace svengine::differential {
namespace {

/// A file in memory where that is possible, removed at the end: a sync of a busy disk takes longer than most graphs.
class ScratchFile {
 public:
  ScratchFile() {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code none;
    const bool has_memory = access(memory.c_str(), W_OK) == 0;
    path_ = (has_memory ? memory : std::filesystem::temp_directory_path(none)) / fmt::format("svengine_converted_{}.onnx", getpid());
  }
  ~ScratchFile() { unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What a graph of the engine may have and an ONNX model may not, or has not any more.
constexpr std::string_view kExpected[] = {
    "type-missing",      // an output of unknown rank
    "operator-unknown",  // ONNX Runtime's, in ONNX's domain
};
/// Types that no wider one stands for in an older opset: `convert` tells of them, too.
constexpr std::string_view kWithoutWider[] = {
    "bfloat16",                     // in containers and bodies
    "BitShift of opset 11",         // of signed integers, since 28
    "QuantizeLinear of opset",      // to 16 bits and less than 8, since 21
    "DequantizeLinear of opset",
};

bool is_without_wider(const validate::Finding& finding) {
  const auto names = [&](std::string_view text) { return finding.message.find(text) != std::string::npos; };
  return finding.rule->name == std::string_view("type-constraint") && std::ranges::any_of(kWithoutWider, names);
}

/// Errors but these, one after the other.
std::string faults(const validate::CheckReport& report) {
  std::string out;
  for (const validate::Finding& finding : report.findings.list()) {
    const bool expected = std::ranges::find(kExpected, finding.rule->name) != std::end(kExpected) || is_without_wider(finding);
    if (finding.rule->level == validate::Level::error && !expected)
      out += fmt::format("{}: {} ({}); ", finding.where, finding.message, finding.rule->name);
  }
  return out;
}

/// Whether the newest opset has all operators and attributes of the graph and its bodies.
bool is_onnx(const Graph& graph) {
  return std::ranges::all_of(graph.nodes(), [](const auto& node) {
    const OpDef& op = node->op();
    const std::vector<Body> bodies = bodies_of(*node);
    return op.domain != std::string_view(kInternalDomain) && (*op.domain || op.until >= kNewestOpset) &&
           node->attributes.get_float("label_smoothing") == 0 && std::ranges::all_of(bodies, [](const Body& body) { return is_onnx(body.graph); });
  });
}

class Converter {
 public:
  Converter(const RandomGraph& random, const CheckOptions& options, const Progress& progress)
      : random_(random), options_(options), progress_(progress), choose_(options.seed), kernels_(choose_.of(options.kernels)) {}

  std::string run() {
    write("written", random_.graph.clone(), kNewestOpset);
    const int opset = static_cast<int>(choose_.between(onnx::kOldestExport, kNewestOpset - 1));
    write(fmt::format("opset {}", opset), random_.graph.clone(), opset);
    Graph simple = random_.graph.clone();
    const Result<validate::SimplifyReport> simplified = validate::simplify(simple, pass_context(*kernels_));
    if (simplified.ok()) write("simplified", std::move(simple), kNewestOpset);
    else problems_ += fmt::format("simplified: {}\n", simplified.error().message());
    if (choose_.chance(0.5)) in_type(choose_.of({DType::f64, DType::f16, DType::bf16}));
    return differences_.empty() ? problems_
                                : problems_ + unexplained(random_.graph, random_.values, differences_, *options_.kernels[0], random_.loose);
  }

 private:
  /// Not where an infinity or NaN is, which double need not come to, nor of operators that no model has.
  void in_type(DType type) {
    if (random_.special || random_.trained || !are_finite(random_.values)) return;
    Graph graph = random_.graph.clone();
    const std::string how(name_of(type));
    const Result<validate::ChangedTypes> changed = validate::change_type(graph, {.to = type}, pass_context(*kernels_));
    if (!changed.ok()) problems_ += fmt::format("{}: {}\n", how, changed.error().message());
    if (!changed.ok() || !changed->late.empty()) return;
    type_ = type;
    write(how, std::move(graph), kNewestOpset);
  }

  void write(const std::string& how, Graph graph, int opset) {
    progress_(how);
    const Status status = write_at(how, std::move(graph), opset);
    if (!status.ok()) problems_ += fmt::format("{}: {}\n", how, status.error().message());
  }

  Status write_at(const std::string& how, Graph graph, int opset) {
    SV_TRY(make_of_opset(graph, opset, pass_context(*kernels_)));
    const Result<onnx::OnnxFile> file = export_model(graph, {.opset = opset});
    if (!file.ok()) return opset == kNewestOpset && is_onnx(graph) ? Status(file.error()) : Status();
    const ScratchFile written;
    SV_TRY(onnx::write_model(*file, written.path()));
    SV_ASSIGN(const validate::CheckReport report, validate::check_model(written.path()));
    if (const std::string found = faults(report); !found.empty()) problems_ += fmt::format("{}: {}\n", how, found);
    SV_ASSIGN(Model model, import_onnx(written.path()));
    for (const std::string& warning : model.warnings) problems_ += fmt::format("{}: import: {}\n", how, warning);
    check_names(how, model.graph);
    return compare(how, std::move(model.graph));
  }

  /// Outputs keep their names; a value that is listed again has another one there.
  void check_names(const std::string& how, const Graph& graph) {
    const std::vector<Value*>& outputs = random_.graph.outputs();
    for (size_t i = 0; i < outputs.size() && i < graph.outputs().size(); ++i) {
      const bool again = std::find(outputs.begin(), outputs.end(), outputs[i]) < outputs.begin() + static_cast<std::ptrdiff_t>(i);
      const std::string& name = graph.outputs()[i]->name();
      if (!again && name != outputs[i]->name()) problems_ += fmt::format("{}: output %{} is called %{}\n", how, outputs[i]->name(), name);
    }
  }

  Status compare(const std::string& how, Graph graph) {
    std::vector<DType> types;
    for (const Value* v : graph.inputs()) types.push_back(v->type.dtype);
    SV_ASSIGN(const std::unique_ptr<Session> session, session_for(std::move(graph), {kernels_, choose_.chance(0.5)}, random_.loose));
    std::vector<Tensor> inputs = random_.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) SV_TRY(cast_to(inputs[i], types[i]));
    SV_ASSIGN(std::vector<Tensor> got, session->run(inputs));
    if (got.size() != random_.graph.outputs().size()) return error("{} outputs instead of {}", got.size(), random_.graph.outputs().size());
    for (size_t i = 0; i < got.size(); ++i) {
      const Value* v = random_.graph.outputs()[i];
      const Tensor& wanted = random_.values.at(v);
      if (has_bodies(random_.graph) && got[i].count() == 0 && wanted.count() == 0) continue;  // of what no trip gives types say all, the file's less
      if (type_ == DType::f16 || type_ == DType::bf16) continue;  // what that loses is not to be told from a fault
      if (type_ == DType::f64) SV_TRY(cast_to(got[i], v->type.dtype));
      if (type_ == DType::f64 && got[i].dims() != wanted.dims()) continue;  // numbers that are equal in float32 made a shape
      if (!agrees(*v, got[i], wanted)) differences_.push_back({v, got[i], fmt::format("{}, {}", how, kernels_->name)});
    }
    return {};
  }

  Status cast_to(Tensor& tensor, DType type) const {
    if (tensor.type() == type || !is_float(tensor.type()) || !is_float(type)) return {};
    SV_ASSIGN(tensor, validate::cast(tensor, type, pass_context(*kernels_)));
    return {};
  }

  const RandomGraph& random_;
  const CheckOptions& options_;
  const Progress& progress_;
  Choices choose_;
  const kernels::KernelTable* kernels_;
  DType type_ = DType::undefined;  // what float32 has become
  std::string problems_;
  std::vector<Difference> differences_;
};

}  // namespace

Status make_of_opset(Graph& graph, int opset, const PassContext& context) {
  SV_TRY(onnx::replace_old_forms(graph, context.ops));
  if (opset == kNewestOpset) return {};
  SV_TRY(validate::make_older(graph, opset, context));
  return validate::widen_young_types(graph, opset, context.ops);
}

std::string check_converted(const RandomGraph& random, const CheckOptions& options, const Progress& progress) {
  return Converter(random, options, progress).run();
}

}  // namespace svengine::differential
