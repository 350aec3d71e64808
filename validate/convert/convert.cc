#include "validate/convert/convert.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "importers/io/names.h"
#include "importers/onnx/export.h"
#include "importers/onnx/import.h"
#include "importers/onnx/old_forms.h"
#include "importers/onnx/support_check.h"
#include "validate/check/check.h"
#include "validate/convert/extract.h"
#include "validate/convert/older_forms.h"
#include "validate/convert/weights_stay.h"

namespace svengine::validate {
namespace {

/// Most operators take bfloat16 since this opset.
constexpr int kBfloat16Since = 22;

/// Nodes in canonical form are of opset 13 or newer.
Result<int> opset_for(const Model& model, const ConvertOptions& options) {
  const bool bfloat16 = options.type && options.type->to == DType::bf16;
  if (options.opset && bfloat16 && *options.opset < kBfloat16Since)
    return error("operators take bfloat16 since opset {}, not in {}", kBfloat16Since, *options.opset);
  if (options.opset) return *options.opset;
  int64_t out = bfloat16 ? kBfloat16Since : 13;
  for (const OpsetImport& import : model.opsets)
    if (import.domain.empty()) out = std::max(out, std::min<int64_t>(import.version, kNewestOpset));
  return static_cast<int>(out);
}

/// In place of the inputs that stand for them, weights that become what they are as they are written; `saturated` must be there then.
void add_late_weights(const ChangedTypes& changed, const PassContext& context, std::vector<Saturated>& saturated, onnx::OnnxFile& file) {
  onnx_proto::GraphProto& graph = *file.model().mutable_graph();
  std::set<std::string_view> names;
  for (const LateWeight& weight : changed.late) {
    const std::string& name = weight.value->name();
    names.insert(name);
    const DType type = weight.value->type.dtype;
    const auto make = [=, &context, &saturated](const onnx::ByteSink& sink) {
      Result<int64_t> lost = cast_in_parts(weight.tensor, type, context, sink);
      if (!lost.ok()) return Status(std::move(lost).error().in(printable(name)));
      if (*lost) saturated.push_back({weight.name, *lost});
      return Status();
    };
    *graph.add_initializer() = file.add(name, onnx::LateTensor{type, weight.tensor.dims(), make});
  }
  auto& inputs = *graph.mutable_input();
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(), [&](const auto& input) { return names.contains(input.name()); }), inputs.end());
}

Result<onnx::OnnxFile> through_graph(const onnx::OnnxFile& file, const ConvertOptions& options, const PassContext& context, ConvertReport& report) {
  SV_ASSIGN(Model model, import_onnx(file));
  std::vector<Shape> shapes;  // as declared: inference may know less
  for (const Value* output : model.graph.outputs()) shapes.push_back(output->type.shape);
  if (options.type) SV_TRY(check_keep(model.graph, *options.type));
  SV_TRY(onnx::replace_old_forms(model.graph, context.ops));
  if (options.simplify) {
    SV_ASSIGN(report.simplified, simplify(model.graph, context, options.growth_bytes));
  }
  ChangedTypes changed;
  if (options.type) {
    SV_ASSIGN(changed, change_type(model.graph, *options.type, context));
    report.saturated = changed.saturated;
  }
  SV_ASSIGN(report.opset, opset_for(model, options));
  SV_TRY(make_older(model.graph, report.opset, context));
  SV_TRY(widen_young_types(model.graph, report.opset, context.ops));
  for (size_t i = 0; i < shapes.size(); ++i)
    if (Shape& shape = model.graph.outputs()[i]->type.shape; !shape.has_rank()) shape = shapes[i];
  SV_ASSIGN(onnx::OnnxFile out, export_model(model.graph, {.opset = report.opset,
                                                           .ir_version = model.ir_version,
                                                           .producer_name = model.producer_name,
                                                           .producer_version = model.producer_version,
                                                           .doc = model.doc,
                                                           .metadata = model.metadata}));
  add_late_weights(changed, context, report.saturated, out);
  return out;
}

Result<std::vector<std::string>> new_problems(const CheckReport& before, const std::string& output) {
  SV_ASSIGN(const CheckReport after, check_model(output, {.weights = false}));
  std::vector<std::string> out;
  for (const Finding& finding : after.findings.list())
    if (finding.rule->level == Level::error && before.findings.count_of(*finding.rule) == 0)
      out.push_back(fmt::format("{}: {} ({})", finding.where, finding.message, finding.rule->name));
  return out;
}

}  // namespace

Result<ConvertReport> convert(const std::string& path, const std::string& output, const ConvertOptions& options, const PassContext& context) {
  SV_ASSIGN(onnx::OnnxFile file, onnx::OnnxFile::open(path));
  const bool external = !data_files(file, path).empty();
  std::vector<std::string> written{output};
  if (options.write.data != onnx::WriteOptions::Data::embedded) written.push_back(output + ".data");
  SV_TRY(check_weights_stay(file, path, written));
  if (!options.from.empty() || !options.to.empty()) SV_TRY(extract(file, options.from, options.to));
  ConvertReport report{.opset = onnx::opset_of(file.model(), "")};
  if (!options.opset && !options.simplify && !options.type) {
    SV_TRY(onnx::write_model(file, output, options.write));
    return report;
  }
  SV_ASSIGN(const onnx::OnnxFile changed, through_graph(file, options, context, report));
  onnx::WriteOptions write = options.write;
  // "As it is" of a graph's constants: where the file's own were.
  if (write.data == onnx::WriteOptions::Data::as_is && external) write.data = onnx::WriteOptions::Data::external;
  SV_ASSIGN(const CheckReport before, check_model(file, {.weights = false}));  // which the output may replace
  SV_TRY(onnx::write_model(changed, output, write));
  SV_ASSIGN(report.problems, new_problems(before, output));
  return report;
}

}  // namespace svengine::validate
