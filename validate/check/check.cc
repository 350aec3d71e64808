#include "validate/check/check.h"

#include <new>

#include "engine/ops/registry.h"
#include "importers/io/names.h"
#include "validate/check/context.h"

namespace svengine::validate {

Result<CheckReport> check_model(const onnx::OnnxFile& file, const CheckOptions& options) {
  try {
    Context context(file, options, all_ops());
    for (const auto group : {check_model_level, check_names, check_values, check_operators, check_attributes, check_bodies, check_functions,
                             check_declarations, check_tensors, check_sparse_tensors, check_unused, check_inference})
      group(context);
    if (options.weights) check_weights(context);
    CheckReport report;
    for (const Body& body : context.bodies) report.nodes += body.nodes->size();
    for_each_tensor(
        context, [&](const auto&, const auto&) { ++report.tensors; }, [&](const auto&, const auto&) { ++report.tensors; });
    context.found.sort_by_level();
    report.findings = std::move(context.found);
    return report;
  } catch (const std::bad_alloc&) {
    return error("{}: not enough memory to check the model", printable(file.path()));
  }
}

Result<CheckReport> check_model(const std::string& path, const CheckOptions& options) {
  SV_ASSIGN(const onnx::OnnxFile file, onnx::OnnxFile::open(path));
  return check_model(file, options);
}

}  // namespace svengine::validate
