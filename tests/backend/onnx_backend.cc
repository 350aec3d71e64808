// Runs ONNX's backend tests (Debian's libonnx-testdata): every model with every data set, on one kernel set.
//
//   onnx_backend [--root DIR] [--kernels NAME] [--filter TEXT] [--list FILE] [--must-pass FILE] [--operators yes] [--through text|onnx]
//
// --through prints every graph with bodies (If, Loop, Scan, SequenceMap) in the text form and parses it, or exports and imports it, before it is
// run; other tests are left out.
// --root is another folder of suites of such tests: backend/write_cases.py writes those of an installed package, backend/against_runtime.py
// makes new ones. A test is passed, failed, or refused: the model is not taken, with the reason. Prints every failure, the refusals by
// reason, and the totals; --list writes one line for every test; --operators counts the tests of every operator. FILE of --must-pass has names
// of tests, of which each has to pass.
// Exit code 0 when no test failed, all that must pass have, and there was at least one; 1 otherwise, 2 when the data are missing.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "engine/graph/text.h"
#include "engine/ops/registry.h"
#include "importers/onnx/export.h"
#include "importers/onnx/import.h"
#include "importers/onnx/tensor_file.h"
#include "runtime/session.h"
#include "tests/backend/suites.h"
#include "tests/support/compare.h"

namespace svengine::backend {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRoot = "/usr/lib/python3/dist-packages/onnx/backend/test/data";
constexpr double kBfloatRtol = 1.0 / 64;  // two units of the last place of bfloat16, as in ONNX's runner

/// Tests of Debian's ONNX 1.12 whose data are at fault.
struct Faulty {
  const char *name, *why;
};
constexpr Faulty kFaulty[] = {
    {"node/test_cast_FLOAT_to_BFLOAT16", "its expected values are truncated, not rounded as ONNX says since"},
    {"node/test_adam_multiple", "its expected values have another epsilon than its node"},
};

struct Options {
  std::string root = kRoot, kernels, filter, list, must_pass, operators, through;
};

enum class Verdict { passed, failed, refused };
constexpr const char* kVerdicts[] = {"passed", "failed", "refused"};

struct Outcome {
  Verdict verdict = Verdict::passed;
  std::string why = {};
};
Outcome failed(const Error& e) { return {Verdict::failed, e.message()}; }

/// The test data of ONNX 1.12 hold bfloat16 values as uint16: NumPy has no such type.
Tensor as_declared(const Tensor& t, DType declared) {
  return declared == DType::bf16 && t.type() == DType::u16 ? Tensor::wrap(DType::bf16, t.dims(), t.raw(), t.owner()) : t;
}

Result<std::vector<Tensor>> load_all(const fs::path& set, const std::string& kind, const std::vector<Session::Port>& ports) {
  std::vector<Tensor> tensors;
  for (const Session::Port& port : ports) {
    SV_ASSIGN(Tensor t, load_value_proto(set / fmt::format("{}_{}.pb", kind, tensors.size()), port.type.dtype));
    tensors.push_back(as_declared(t, port.type.dtype));
  }
  return tensors;
}

/// The data set gives an input of another rank or size than the model declares (castlike with bfloat16 in ONNX 1.12).
bool contradicts_declaration(const std::vector<Tensor>& inputs, const std::vector<Session::Port>& ports) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& declared = ports[i].type.shape;
    if (!declared.has_rank() || is_container(inputs[i].type())) continue;
    if (declared.rank() != static_cast<int64_t>(inputs[i].dims().size())) return true;
    for (size_t d = 0; d < declared.dims().size(); ++d)
      if (declared[d].is_static() && declared[d].value() != inputs[i].dims()[d]) return true;
  }
  return false;
}

/// Draws follow a generator that the specification leaves open. What it does say of them: type, shape, zeros and ones.
bool is_random(const Case& test) { return test.name.find("test_bernoulli") != std::string::npos; }

Status check_draws(const Tensor& got, const Tensor& expected) {
  if (got.type() != expected.type() || got.dims() != expected.dims())
    return error("is {}[{}], not {}[{}]", name_of(got.type()), to_string(got.dims()), name_of(expected.type()), to_string(expected.dims()));
  for (const double x : tests::to_doubles(got))
    if (x != 0 && x != 1) return error("drew {}, neither 0 nor 1", x);
  return {};
}

Status compare(const Session& session, const std::vector<Tensor>& outputs, const std::vector<Tensor>& expected, const Case& test) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const double rtol = expected[i].type() == DType::bf16 ? std::max(test.rtol, kBfloatRtol) : test.rtol;
    Status same = is_random(test) ? check_draws(outputs[i], expected[i]) : tests::all_close(outputs[i], expected[i], rtol, test.atol);
    if (!same.ok()) return std::move(same).error().in(fmt::format("output '{}'", session.outputs()[i].name));
  }
  return {};
}

Result<Outcome> run_data_set(Session& session, const fs::path& set, const Case& test) {
  SV_ASSIGN(std::vector<Tensor> inputs, load_all(set, "input", session.inputs()));
  if (contradicts_declaration(inputs, session.inputs())) return Outcome{Verdict::refused, "its data contradict the model's declared input shape"};
  SV_ASSIGN(std::vector<Tensor> expected, load_all(set, "output", session.outputs()));
  SV_ASSIGN(std::vector<Tensor> outputs, session.run(inputs));
  SV_TRY(compare(session, outputs, expected, test));
  return Outcome{};
}

Status run_light(Session& session, const Case& test) {
  std::vector<Tensor> inputs, expected;
  for (const Session::Port& port : session.inputs()) {
    SV_ASSIGN(Tensor input, light_input(port.type.shape));
    inputs.push_back(std::move(input));
  }
  for (size_t i = 0; i < session.outputs().size(); ++i) {
    SV_ASSIGN(TensorFile output, load_tensor_proto(light_output(test, i)));
    expected.push_back(std::move(output.tensor));
  }
  SV_ASSIGN(const std::vector<Tensor> outputs, session.run(inputs));
  return compare(session, outputs, expected, test);
}

/// A Scan of a whole batch, which only opset 8 has.
constexpr const char* kOnlyOld = "node/test_scan_sum";

/// Operators with bodies, all of ai.onnx.
bool can_go_round(const Case& test, const std::string& form) {
  if (form == "onnx" && test.name == kOnlyOld) return false;
  const std::vector<std::string> operators = operators_of(test.model);
  const auto is_foreign = [](const std::string& op) { return op.find('.') != op.npos; };
  const auto has_body = [](const std::string& op) { return op == "If" || op == "Loop" || op == "Scan" || op == "SequenceMap"; };
  return std::any_of(operators.begin(), operators.end(), has_body) && std::none_of(operators.begin(), operators.end(), is_foreign);
}

Result<Graph> gone_through(const Graph& graph, const std::string& form) {
  if (form == "text") return parse_graph(print_graph(graph, {.most_elements = std::numeric_limits<int64_t>::max()}), all_ops());
  const fs::path path = fs::temp_directory_path() / fmt::format("svengine_backend_{}.onnx", ::getpid());
  SV_TRY(export_onnx(graph, {.opset = kNewestOpset, .ir_version = 10}, path.string()));
  Result<Model> model = import_onnx(path.string());
  fs::remove(path);
  if (!model.ok()) return std::move(model).error();
  return std::move(model->graph);
}

Outcome run_test(const Case& test, const kernels::KernelTable* kernels, const std::string& through) {
  Result<Model> model = import_onnx(test.model.string());
  if (!model.ok()) return {Verdict::refused, model.error().message()};
  if (!through.empty()) {
    Result<Graph> graph = gone_through(model->graph, through);
    if (!graph.ok()) return failed(graph.error());
    model->graph = std::move(graph).value();
  }
  SessionOptions options;
  options.kernels = kernels;
  options.topology = detect_topology(1);
  Result<std::unique_ptr<Session>> session = Session::create(std::move(model->graph), options);
  if (!session.ok()) return {Verdict::refused, session.error().message()};
  if (test.data_sets.empty()) {
    const Status status = run_light(**session, test);
    return status.ok() ? Outcome{} : failed(status.error());
  }
  for (const fs::path& set : test.data_sets) {
    Result<Outcome> outcome = run_data_set(**session, set, test);
    if (!outcome.ok()) return failed(std::move(outcome).error().in(set.filename().string()));
    if (outcome->verdict != Verdict::passed) return *outcome;
  }
  return {};
}

std::set<std::string> lines_of(const std::string& path) {
  std::set<std::string> out;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) out.insert(line);
  return out;
}

/// Without what differs from test to test: file names in front, names of nodes.
std::string reason_of(const Outcome& outcome, const Case& test) {
  const std::string file = test.model.string() + ": ";
  std::string why = outcome.why.starts_with(file) ? outcome.why.substr(file.size()) : outcome.why;
  return why.substr(0, std::min(why.find(" (node"), size_t{140}));
}

class Summary {
 public:
  void add(const Case& test, const Outcome& outcome) {
    ++totals_[static_cast<size_t>(outcome.verdict)];
    list_ += fmt::format("{:<72} {}{}{}\n", test.name, kVerdicts[static_cast<size_t>(outcome.verdict)], outcome.why.empty() ? "" : ": ", outcome.why);
    if (outcome.verdict == Verdict::failed) fmt::print("failed: {}: {}\n", test.name, outcome.why);
    if (outcome.verdict == Verdict::refused) ++reasons_[reason_of(outcome, test)];
    for (const std::string& op : operators_of(test.model)) {
      auto& [passed, all] = operators_[op];
      passed += outcome.verdict == Verdict::passed;
      ++all;
    }
  }

  const std::string& list() const { return list_; }
  int count(Verdict verdict) const { return totals_[static_cast<size_t>(verdict)]; }

  std::string reasons() const {
    std::string out;
    for (const auto& [reason, count] : reasons_) out += fmt::format("refused {:>4}: {}\n", count, reason);
    return out;
  }

  /// Every operator with the tests that contain it: passed of all.
  std::string operators() const {
    std::string out;
    int whole = 0;
    for (const auto& [name, count] : operators_) {
      whole += count.first == count.second;
      out += fmt::format("{:<40} {:>4} of {:>4}{}\n", name, count.first, count.second, count.first == count.second ? "" : "  *");
    }
    return out + fmt::format("operators with all tests passed: {} of {}\n", whole, operators_.size());
  }

 private:
  int totals_[3] = {};
  std::string list_;
  std::map<std::string, int> reasons_;
  std::map<std::string, std::pair<int, int>> operators_;
};

Outcome judge(const Case& test, const kernels::KernelTable* kernels, bool is_debian, const std::string& through) {
  for (const Faulty& faulty : kFaulty)
    if (is_debian && test.name == faulty.name) return {Verdict::refused, faulty.why};
  return run_test(test, kernels, through);
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
  std::set<std::string> must_pass = options.must_pass.empty() ? std::set<std::string>() : lines_of(options.must_pass);
  Summary summary;
  for (const Case& test : find_cases(options.root)) {
    if (test.name.find(options.filter) == std::string::npos || (!options.through.empty() && !can_go_round(test, options.through))) {
      must_pass.erase(test.name);
      continue;
    }
    const Outcome outcome = judge(test, kernels, options.root == kRoot, options.through);
    if (outcome.verdict == Verdict::passed) must_pass.erase(test.name);
    summary.add(test, outcome);
  }
  for (const std::string& name : must_pass) fmt::print("must pass, but has not: {}\n", name);
  const int passed = summary.count(Verdict::passed), wrong = summary.count(Verdict::failed), refused = summary.count(Verdict::refused);
  const std::string totals = fmt::format("ONNX backend tests, kernels {}: {} passed, {} failed, {} refused, of {}\n", kernels->name, passed, wrong,
                                         refused, passed + wrong + refused);
  if (!options.list.empty()) std::ofstream(options.list) << summary.list() << summary.operators() << totals;
  fmt::print("{}{}{}", summary.reasons(), options.operators.empty() ? "" : summary.operators(), totals);
  return wrong == 0 && must_pass.empty() && passed > 0 ? 0 : 1;
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
    if (name == "--must-pass") options.must_pass = argv[i + 1];
    if (name == "--through") options.through = argv[i + 1];
    if (name == "--operators") options.operators = argv[i + 1];
  }
  return svengine::backend::run(options);
}
