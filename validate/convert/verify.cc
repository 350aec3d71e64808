#include "validate/convert/verify.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "engine/base/dtype_set.h"
#include "importers/io/names.h"
#include "importers/onnx/import.h"
#include "validate/compare/element.h"
#include "validate/compare/reference.h"

namespace svengine::validate {
namespace {

/// Every value is rounded to the type, so outputs may be off by many of its unit roundoffs u: 64 of the largest output and 16 of their own are
/// what networks of 50 layers stay within (MobileNetV2 in float16: 40 of the largest). Wrong ones are off by their own size.
Tolerance tolerance_for(const ConvertOptions& options, DType expected, double largest) {
  // Of a network that is in bfloat16 already roundings of inner values may move from one node to the next: one unit in the last place.
  if (!options.type) return expected == DType::bf16 ? Tolerance{.rtol = 0x1p-7, .atol = {}} : Tolerance();
  if (options.type->to != DType::f16 && options.type->to != DType::bf16) return {};
  const double roundoff = options.type->to == DType::f16 ? 0x1p-11 : 0x1p-8;
  return {16 * roundoff, 64 * roundoff * largest};
}

std::vector<std::string> names_of(const std::vector<Value*>& values) {
  std::vector<std::string> names;
  for (const Value* v : values) names.push_back(v->name());
  return names;
}

double largest_of(const Tensor& tensor) {
  const Statistics s = statistics_of(tensor);
  return s.finite ? std::max(std::abs(s.min), std::abs(s.max)) : 0;
}

/// The original with the same cut: its inner values are outputs of a model that is only held in a file of its own.
Result<Model> open_original(const std::string& original, const std::string& output, const ConvertOptions& options, const SessionOptions& session) {
  if (options.from.empty() && options.to.empty()) return import_onnx(original);
  const std::string part = output + ".original.onnx";
  ConvertOptions cut{.from = options.from, .to = options.to};
  cut.write.data = onnx::WriteOptions::Data::as_is;
  const Result<ConvertReport> report = convert(original, part, cut, pass_context(*session.kernels));
  Result<Model> out = report.ok() ? import_onnx(part) : Result<Model>(Error(report.error()));
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
  std::filesystem::remove(part + ".data", ignored);
  return out;
}

Result<std::vector<Tensor>> outputs_of(Graph graph, const std::vector<Tensor>& inputs, const SessionOptions& session) {
  const std::vector<std::string> names = names_of(graph.outputs());
  NodeByNode run(std::move(graph), inputs, session, nullptr);
  for (const std::string& name : names) run.expect(name);
  std::vector<Tensor> out;
  for (const std::string& name : names) {
    SV_ASSIGN(Tensor value, run.value(name));
    out.push_back(std::move(value));
  }
  return out;
}

}  // namespace

Status check_can_verify(const std::string& original, const std::string& output) {
  std::error_code missing;
  if (!std::filesystem::equivalent(original, output, missing)) return {};
  return error("'{}' is the model itself, which could not be run beside what is written over it; write another file, or do not verify",
               printable(output));
}

Result<std::vector<VerifiedOutput>> verify_converted(Graph written, const std::vector<Tensor>& inputs, const std::string& original,
                                                     const std::string& output, const ConvertOptions& options,
                                                     SessionOptions session) {
  if (!session.seed) session.seed = 1;
  const PassContext context = pass_context(*session.kernels);
  const std::vector<std::string> input_names = names_of(written.inputs());
  Result<std::vector<Tensor>> got = outputs_of(std::move(written), inputs, session);
  if (!got.ok()) return std::move(got).error().in(printable(output));
  SV_ASSIGN(Model source, open_original(original, output, options, session));
  std::vector<Tensor> tensors;
  for (const Value* v : source.graph.inputs()) {
    const auto place = std::find(input_names.begin(), input_names.end(), v->name());
    if (place == input_names.end()) return error("the written model has no input '{}'", printable(v->name()));
    SV_ASSIGN(Tensor tensor, cast(inputs[static_cast<size_t>(place - input_names.begin())], v->type.dtype, context));
    tensors.push_back(std::move(tensor));
  }
  const std::vector<std::string> names = names_of(source.graph.outputs());
  Result<std::vector<Tensor>> expected = outputs_of(std::move(source.graph), tensors, session);
  if (!expected.ok()) return std::move(expected).error().in(printable(original));
  if (expected->size() != got->size()) return error("the written model has {} outputs, the original {}", got->size(), expected->size());
  std::vector<VerifiedOutput> out;
  for (size_t i = 0; i < expected->size(); ++i) {
    const Tensor& wanted = (*expected)[i];
    Tensor value = (*got)[i];
    const bool dense = kDenseTypes.has(wanted.type()) && kDenseTypes.has(value.type());
    if (dense) {
      SV_ASSIGN(value, cast(value, wanted.type(), context));
    }
    out.push_back({names[i], compare(value, wanted, tolerance_for(options, wanted.type(), dense ? largest_of(wanted) : 0))});
  }
  return out;
}

}  // namespace svengine::validate
