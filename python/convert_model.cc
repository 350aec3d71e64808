// The work behind svengine.convert(): validate/convert's, as dicts that svengine/conversion.py makes classes of.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "importers/onnx/import.h"
#include "python/arguments.h"
#include "python/bindings.h"
#include "python/convert.h"
#include "python/model_inputs.h"
#include "python/options.h"
#include "validate/convert/verify.h"
#include "validate/inputs/random_inputs.h"

namespace nb = nanobind;

namespace svengine::python {
namespace {

using Names = std::vector<std::string>;
using validate::ConvertReport, validate::VerifiedOutput;

Result<validate::ConvertOptions> convert_options(const Arguments& a) {
  using Data = onnx::WriteOptions::Data;
  validate::ConvertOptions out{.from = a.get<Names>("from"), .to = a.get<Names>("to"), .opset = a.get<std::optional<int>>("opset"),
                               .simplify = a.get<bool>("simplify"), .growth_bytes = a.get<int64_t>("growth")};
  if (out.opset && (*out.opset < 13 || *out.opset > kNewestOpset)) return error("opset={}: 13 to {} can be written", *out.opset, kNewestOpset);
  const auto type = a.get<std::string>("type"), data = a.get<std::string>("data");
  const auto keep = a.get<Names>("keep_float32");
  if (type == "float16" || type == "bfloat16" || type == "double") {
    const DType to = type == "double" ? DType::f64 : type == "float16" ? DType::f16 : DType::bf16;
    out.type = validate::ChangeTypeOptions{to, a.get<bool>("keep_io"), keep};
  } else if (!type.empty()) {
    return error("type='{}': there are float16, bfloat16 and double", type);
  } else if (a.get<bool>("keep_io") || !keep.empty()) {
    return error("keep_io and keep_float32 go with type");
  }
  if (data != "as_is" && data != "external" && data != "embedded") return error("data='{}': there are as_is, external and embedded", data);
  out.write.data = data == "as_is" ? Data::as_is : data == "external" ? Data::external : Data::embedded;
  return out;
}

nb::dict to_python(const ConvertReport& report) {
  nb::dict out;
  out["opset"] = report.opset;
  out["simplified"] = nb::none();
  if (report.simplified) {
    nb::dict simplified;
    simplified["nodes_before"] = report.simplified->nodes_before;
    simplified["nodes_after"] = report.simplified->nodes_after;
    simplified["constant_bytes_before"] = report.simplified->bytes_before;
    simplified["constant_bytes_after"] = report.simplified->bytes_after;
    out["simplified"] = simplified;
  }
  nb::dict saturated;
  for (const validate::Saturated& s : report.saturated) saturated[text(s.name)] = s.count;
  out["saturated"] = saturated;
  nb::list problems;
  for (const std::string& problem : report.problems) problems.append(text(problem));
  out["problems"] = problems;
  return out;
}

nb::list to_python(const std::vector<VerifiedOutput>& verified) {
  nb::list out;
  for (const VerifiedOutput& v : verified) {
    nb::dict row;
    row["name"] = text(v.name);
    row["passed"] = v.comparison.passed;
    row["over"] = v.comparison.over;
    row["elements"] = v.comparison.count;
    row["worst"] = v.comparison.worst_abs;
    row["mismatch"] = text(v.comparison.mismatch);
    out.append(row);
  }
  return out;
}

std::vector<VerifiedOutput> verify_written(const std::string& path, const std::string& output, nb::handle inputs,
                                           const validate::ConvertOptions& options, const SessionOptions& session) {
  Model written = value_of(import_onnx(output));
  const std::vector<Tensor> given =
      inputs.is_none() ? value_of(validate::random_inputs(written.graph, {}, 1)) : model_inputs(written.graph, inputs, output);
  const nb::gil_scoped_release other_threads_run;
  return value_of(validate::verify_converted(std::move(written.graph), given, path, output, options, session));
}

nb::dict convert_file(const std::string& path, const std::string& output, const nb::dict& values) {
  const Arguments arguments(values);
  const validate::ConvertOptions options = value_of(convert_options(arguments));
  SessionArguments how;
  how.threads = arguments.get<std::optional<int>>("threads");
  how.kernels = arguments.get<std::string>("kernels");
  SessionOptions session = value_of(how.resolve());
  check(choose_kernels(session));
  const bool is_verified = arguments.get<bool>("verify");
  if (is_verified) check(validate::check_can_verify(path, output));
  const ConvertReport report = [&] {
    const nb::gil_scoped_release other_threads_run;
    return value_of(validate::convert(path, output, options, pass_context(*session.kernels)));
  }();
  nb::dict out = to_python(report);
  out["outputs"] = nb::none();
  if (is_verified) out["outputs"] = to_python(verify_written(path, output, arguments["inputs"], options, session));
  return out;
}

}  // namespace

void bind_convert(nb::module_& module) {
  module.def("convert", convert_file, nb::arg("path"), nb::arg("output"), nb::arg("options"));
}

}  // namespace svengine::python
