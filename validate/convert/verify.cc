#include "validate/convert/verify.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "engine/base/dtype_set.h"
#include "importers/io/names.h"
#include "importers/onnx/import.h"
#include "validate/compare/element.h"

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

double largest_of(const Tensor& tensor) {
  const Statistics s = statistics_of(tensor);
  return s.finite ? std::max(std::abs(s.min), std::abs(s.max)) : 0;
}

Result<std::unique_ptr<Session>> open(const std::string& path, const SessionOptions& options) {
  SV_ASSIGN(Model model, import_onnx(path));
  Result<std::unique_ptr<Session>> session = Session::create(std::move(model.graph), options);
  if (!session.ok()) return std::move(session).error().in(printable(path));
  return session;
}

/// The original with the same cut: its inner values are outputs of a model that is only held in a file of its own.
Result<std::unique_ptr<Session>> open_original(const std::string& original, const std::string& output, const ConvertOptions& options,
                                               const SessionOptions& session) {
  if (options.from.empty() && options.to.empty()) return open(original, session);
  const std::string part = output + ".original.onnx";
  ConvertOptions cut{.from = options.from, .to = options.to};
  cut.write.data = onnx::WriteOptions::Data::as_is;
  const Result<ConvertReport> report = convert(original, part, cut, pass_context(*session.kernels));
  Result<std::unique_ptr<Session>> out = report.ok() ? open(part, session) : Result<std::unique_ptr<Session>>(Error(report.error()));
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
  std::filesystem::remove(part + ".data", ignored);
  return out;
}

}  // namespace

Status check_can_verify(const std::string& original, const std::string& output) {
  std::error_code missing;
  if (!std::filesystem::equivalent(original, output, missing)) return {};
  return error("'{}' is the model itself, which could not be run beside what is written over it; write another file, or do not verify", printable(output));
}

Result<std::vector<VerifiedOutput>> verify_converted(std::unique_ptr<Session> written, const std::vector<Tensor>& inputs,
                                                     const std::string& original, const std::string& output, const ConvertOptions& options, const SessionOptions& session) {
  const PassContext context = pass_context(*session.kernels);
  Result<std::vector<Tensor>> got = written->run(inputs);
  if (!got.ok()) return std::move(got).error().in(printable(output));
  const std::vector<Session::Port> ports = written->inputs();
  written.reset();
  SV_ASSIGN(const std::unique_ptr<Session> source, open_original(original, output, options, session));
  std::vector<Tensor> tensors;
  for (const Session::Port& port : source->inputs()) {
    const auto place = std::find_if(ports.begin(), ports.end(), [&](const Session::Port& p) { return p.name == port.name; });
    if (place == ports.end()) return error("the written model has no input '{}'", printable(port.name));
    SV_ASSIGN(Tensor tensor, cast(inputs[static_cast<size_t>(place - ports.begin())], port.type.dtype, context));
    tensors.push_back(std::move(tensor));
  }
  Result<std::vector<Tensor>> expected = source->run(tensors);
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
    out.push_back({source->outputs()[i].name, compare(value, wanted, tolerance_for(options, wanted.type(), dense ? largest_of(wanted) : 0))});
  }
  return out;
}

}  // namespace svengine::validate
