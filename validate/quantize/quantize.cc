#include "validate/quantize/quantize.h"

#include <algorithm>

#include "importers/onnx/export.h"
#include "validate/convert/older_forms.h"

namespace svengine::validate {

namespace {

int64_t quantizable_nodes(const Graph& graph) {
  return std::count_if(graph.nodes().begin(), graph.nodes().end(), [](const auto& node) { return is_quantizable(*node); });
}

}  // namespace

Result<std::unordered_map<std::string, Range>> calibrate_scheme(const Graph& graph, const Scheme& scheme, InputSamples& samples,
                                                                const CalibrationOptions& options) {
  std::vector<std::string> names;
  for (const auto& group : scheme.groups)
    for (const Value* value : group) names.push_back(value->name());
  SV_ASSIGN(const std::vector<Range> ranges, calibrate(graph, names, samples, options));
  std::unordered_map<std::string, Range> out;
  for (size_t i = 0; i < names.size(); ++i) out.emplace(names[i], ranges[i]);
  return out;
}

Result<QuantizedCounts> quantize_static(Graph& graph, InputSamples& samples, const StaticOptions& options) {
  SV_ASSIGN(std::vector<Node*> products, select_nodes(graph, options.nodes));
  if (products.empty()) return error("no node is left to quantise; Conv, ConvTranspose, MatMul and Gemm of float32 can be");
  QuantizedCounts counts{.products = static_cast<int64_t>(products.size()), .left = quantizable_nodes(graph) - static_cast<int64_t>(products.size())};
  const Scheme scheme = make_scheme(graph, std::move(products));
  for (const auto& group : scheme.groups) counts.values += static_cast<int64_t>(group.size());
  SV_ASSIGN(const auto ranges, calibrate_scheme(graph, scheme, samples, options.calibration));
  SV_TRY(insert_quantization(graph, scheme, ranges, options.insert));
  return counts;
}

Status write_quantized(const Graph& graph, const Model& from, const std::string& producer_version, const std::string& path) {
  constexpr int kOldestWithAxis = 13;
  constexpr int64_t kOldestIr = 8;
  ExportOptions options;
  options.opset = kOldestWithAxis;
  for (const OpsetImport& opset : from.opsets)
    if (canonical_domain(opset.domain).empty()) options.opset = std::max(options.opset, static_cast<int>(opset.version));
  options.ir_version = std::max(kOldestIr, from.ir_version);
  options.producer_name = "svengine quantize";
  options.producer_version = producer_version;
  options.doc = from.doc;
  options.metadata = from.metadata;
  options.opset = std::min(options.opset, kNewestOpset);
  SessionOptions session;
  SV_TRY(choose_kernels(session));
  Graph older = graph.clone();
  SV_TRY(make_older(older, options.opset, pass_context(*session.kernels)));
  return export_onnx(older, options, path);
}

}  // namespace svengine::validate
