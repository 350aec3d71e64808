#include "validate/compare/open_reference.h"

#include <filesystem>
#include <optional>

#include "importers/io/names.h"
#include "importers/onnx/import.h"
#include "validate/compare/recorded.h"

namespace svengine::validate {
namespace {

/// The inputs of another model: those that its own are matched with, in its types.
Result<std::vector<Tensor>> inputs_of_other(const Graph& model, const Graph& other, const ValueMatch& match,
                                            const std::vector<Tensor>& inputs, const SessionOptions& how) {
  std::vector<Tensor> out;
  for (const Value* v : other.inputs()) {
    std::optional<size_t> from;
    for (size_t i = 0; i < model.inputs().size(); ++i)
      if (const auto found = match.names.find(model.inputs()[i]->name());
          found != match.names.end() && found->second == v->name())
        from = i;
    if (!from) return error("input '{}' ({}) of the reference has no counterpart in the model", v->name(), to_string(v->type));
    const Tensor& given = inputs[*from];
    out.push_back(given);
    if (given.type() == v->type.dtype || is_handle(given.type())) continue;
    SV_ASSIGN(out.back(), convert(given, v->type.dtype, how));
  }
  return out;
}

}  // namespace

bool is_recorded(const std::string& path) {
  std::error_code problem;
  return std::filesystem::is_directory(path, problem) || std::filesystem::path(path).extension() == ".npz";
}

Result<OpenedReference> open_reference(const std::string& against, const Graph& model, const std::vector<Tensor>& inputs,
                                       const SessionOptions& tested, Witness witness, bool strict) {
  OpenedReference out;
  if (is_recorded(against)) {
    SV_ASSIGN(std::unique_ptr<Recorded> recorded, Recorded::open(against, model));
    out.description = fmt::format("{} recorded values of {}", recorded->size(), printable(against));
    out.reference = std::move(recorded);
    return out;
  }
  SessionOptions how = tested;
  how.exact_convolution = true;
  const kernels::KernelTable* set = kernels::find_kernel_set(against);
  if (set) how.kernels = set;
  SV_TRY(choose_kernels(how));
  if (set || against == kNoOptimize) {
    out.description = fmt::format("the same model node by node, kernels {}", how.kernels->name);
    out.reference = std::make_unique<NodeByNode>(model.clone(), inputs, how, nullptr, std::move(witness));
    return out;
  }
  ImportOptions import;
  import.strict = strict;
  Result<Model> other = import_onnx(against, import);
  if (!other.ok())
    return std::move(other).error().in(
        "the reference is a model, a kernel set of this processor, no-optimize, or recorded values");
  for (const std::string& warning : other->warnings) out.warnings.push_back(fmt::format("{}: {}", printable(against), warning));
  out.match = std::make_unique<ValueMatch>(match_values(model, other->graph));
  SV_ASSIGN(std::vector<Tensor> given, inputs_of_other(model, other->graph, *out.match, inputs, how));
  out.description = fmt::format("{} node by node, kernels {}", printable(against), how.kernels->name);
  out.reference =
      std::make_unique<NodeByNode>(std::move(other->graph), std::move(given), how, &out.match->names, std::move(witness));
  return out;
}

}  // namespace svengine::validate
