// Runs ONNX's backend tests (Debian's libonnx-testdata): every model with every data set, on one kernel set.
//
//   onnx_backend [--root DIR] [--kernels NAME] [--filter TEXT] [--list FILE]
//
// --root is another folder of suites of such tests; backend/against_runtime.py makes them. Prints every failure and the totals; --list
// writes one line for every test: passed, failed or not applicable, and why.
// Exit code 0 when every applicable test passed and there was at least one, 1 when one failed, 2 when the data are missing.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "importers/onnx/import.h"
#include "importers/onnx/tensor_file.h"
#include "runtime/session.h"
#include "tests/backend/applicable.h"
#include "tests/support/compare.h"

namespace svengine::backend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRoot = "/usr/lib/python3/dist-packages/onnx/backend/test/data";
constexpr const char* kSuites[] = {"node", "simple", "pytorch-converted", "pytorch-operator"};

struct Options {
  std::string root = kRoot, kernels, filter, list;
};

struct Totals {
  int passed = 0, failed = 0, not_applicable = 0;
};

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const auto& e : fs::directory_iterator(folder)) entries.push_back(e.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// The test data of ONNX 1.12 hold bfloat16 values as uint16: NumPy has no such type.
Tensor as_declared(const Tensor& t, DType declared) {
  return declared == DType::bf16 && t.type() == DType::u16 ? Tensor::wrap(DType::bf16, t.dims(), t.raw(), t.owner()) : t;
}

Result<std::vector<Tensor>> load_all(const fs::path& set, const std::string& kind, const std::vector<Session::Port>& ports) {
  std::vector<Tensor> tensors;
  for (const Session::Port& port : ports) {
    SV_ASSIGN(TensorFile t, load_tensor_proto(set / fmt::format("{}_{}.pb", kind, tensors.size())));
    tensors.push_back(as_declared(t.tensor, port.type.dtype));
  }
  return tensors;
}

/// The data set gives an input of another rank or size than the model declares (castlike with bfloat16 in ONNX 1.12).
bool contradicts_declaration(const std::vector<Tensor>& inputs, const std::vector<Session::Port>& ports) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& declared = ports[i].type.shape;
    if (!declared.has_rank()) continue;
    if (declared.rank() != static_cast<int64_t>(inputs[i].dims().size())) return true;
    for (size_t d = 0; d < declared.dims().size(); ++d)
      if (declared[d].is_static() && declared[d].value() != inputs[i].dims()[d]) return true;
  }
  return false;
}

enum class Outcome { passed, contradiction };

Result<Outcome> run_data_set(Session& session, const fs::path& set) {
  SV_ASSIGN(std::vector<Tensor> inputs, load_all(set, "input", session.inputs()));
  if (contradicts_declaration(inputs, session.inputs())) return Outcome::contradiction;
  SV_ASSIGN(std::vector<Tensor> expected, load_all(set, "output", session.outputs()));
  SV_ASSIGN(std::vector<Tensor> outputs, session.run(inputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    Status same = tests::all_close(outputs[i], expected[i], 1e-3, 1e-7);  // the bounds of ONNX's own test runner
    if (!same.ok()) return std::move(same).error().in(fmt::format("output '{}'", session.outputs()[i].name));
  }
  return Outcome::passed;
}

Result<Outcome> run_test(const fs::path& folder, const kernels::KernelTable* kernels) {
  SV_ASSIGN(Model model, import_onnx((folder / "model.onnx").string()));
  SessionOptions options;
  options.kernels = kernels;
  options.topology = detect_topology(1);
  SV_ASSIGN(std::unique_ptr<Session> session, Session::create(std::move(model.graph), options));
  bool any = false;
  for (const fs::path& set : sorted_entries(folder)) {
    if (!set.filename().string().starts_with("test_data_set_")) continue;
    any = true;
    Result<Outcome> outcome = run_data_set(*session, set);
    if (!outcome.ok()) return std::move(outcome).error().in(set.filename().string());
    if (*outcome == Outcome::contradiction) return outcome;
  }
  if (!any) return error("the folder holds no test_data_set_*");
  return Outcome::passed;
}

void run_one(const fs::path& folder, const kernels::KernelTable* kernels, Totals& totals, std::string& list) {
  const std::string name = folder.parent_path().filename().string() + "/" + folder.filename().string();
  std::optional<std::string> why = not_applicable((folder / "model.onnx").string());
  const Result<Outcome> status = why ? Result<Outcome>(Outcome::passed) : run_test(folder, kernels);
  if (status.ok() && *status == Outcome::contradiction) why = "the data set contradicts the model's declared input shape";
  if (why) {
    ++totals.not_applicable;
    list += fmt::format("{:<72} not applicable: {}\n", name, *why);
    return;
  }
  ++(status.ok() ? totals.passed : totals.failed);
  list += fmt::format("{:<72} {}\n", name, status.ok() ? "passed" : "failed: " + status.error().message());
  if (!status.ok()) fmt::print("failed: {}: {}\n", name, status.error().message());
}

int run(const Options& options) {
  if (!fs::exists(options.root)) {
    fmt::print(stderr, "onnx_backend: {} is missing; install libonnx-testdata (tools/setup.sh test)\n", options.root);
    return 2;
  }
  const kernels::KernelTable* kernels =
      options.kernels.empty() ? kernels::available_kernel_sets().front() : kernels::find_kernel_set(options.kernels);
  if (!kernels) {
    fmt::print(stderr, "onnx_backend: no kernel set '{}' on this processor\n", options.kernels);
    return 2;
  }
  Totals totals;
  std::string list;
  for (const char* suite : kSuites) {
    if (!fs::exists(fs::path(options.root) / suite)) continue;
    for (const fs::path& folder : sorted_entries(fs::path(options.root) / suite))
      if (fs::exists(folder / "model.onnx") && folder.string().find(options.filter) != std::string::npos)
        run_one(folder, kernels, totals, list);
  }
  const std::string summary = fmt::format("ONNX backend tests, kernels {}: {} passed, {} failed, {} not applicable, of {}\n", kernels->name,
                                          totals.passed, totals.failed, totals.not_applicable,
                                          totals.passed + totals.failed + totals.not_applicable);
  if (!options.list.empty()) std::ofstream(options.list) << list << summary;
  fmt::print("{}", summary);
  return totals.failed == 0 && totals.passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace svengine::backend

int main(int argc, char** argv) {
  svengine::backend::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    if (name == "--root") options.root = argv[i + 1];
    if (name == "--kernels") options.kernels = argv[i + 1];
    if (name == "--filter") options.filter = argv[i + 1];
    if (name == "--list") options.list = argv[i + 1];
  }
  return svengine::backend::run(options);
}
