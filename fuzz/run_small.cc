#include "engine/base/hash.h"
#include "fuzz/support.h"
#include "fuzz/under_limits.h"
#include "importers/onnx/export.h"
#include "importers/onnx/import.h"
#include "runtime/session.h"
#include "tests/support/random_tensor.h"

namespace svengine::fuzz {
namespace {

constexpr int64_t kMostElements = 1 << 12;  // of an input
constexpr double kMostFlops = 3e7;          // of a plan: a second of the reference kernels under sanitizers

/// One size a symbol; unknown dimensions are 2.
int64_t size_of_dim(const Dim& dim) {
  if (dim.is_static()) return dim.value();
  return dim.is_symbolic() ? 1 + static_cast<int64_t>(hash64(std::string_view(dim.symbol())) % 3) : 2;
}

std::optional<Tensor> value_of(const Type& type, uint64_t seed) {
  Dims dims;
  if (type.shape.has_rank())
    for (const Dim& d : type.shape.dims()) dims.push_back(size_of_dim(d));
  if (!check_dims(dims).ok() || element_count(dims) > kMostElements || type.block > 0) return std::nullopt;
  if (type.dtype == DType::string) {
    std::vector<std::string> texts(static_cast<size_t>(element_count(dims)), "a b");
    return Tensor::of_strings(std::move(dims), std::move(texts));
  }
  if (is_handle(type.dtype) || size_of(type.dtype) == 0) return std::nullopt;
  if (!Tensor::allocate(type.dtype, dims).ok()) return std::nullopt;
  return tests::random_tensor_of(type.dtype, std::move(dims), seed, -2, 3);
}

double flops_of(const Session& session) {
  double flops = 0;
  for (const auto& plan : session.plans())
    for (const Step& step : plan->steps) flops += step.cost.flops + step.cost.bytes;
  return flops;
}

}  // namespace

const kernels::KernelTable& fuzzed_kernels() {
  return *kernels::all_kernel_sets().front();
}

void export_and_read(const Graph& graph) {
  const std::string path = scratch_folder() + "/exported.onnx";
  if (!taken(export_onnx(graph, {.opset = 24}, path))) return;
  const Result<Model> again = import_onnx(path);
  if (!again.ok()) finding("what was exported is refused: " + again.error().message());
}

void run_small(Graph graph) {
  const UnderLimits limits;
  SessionOptions options;
  options.kernels = &fuzzed_kernels();
  options.topology = parse_topology("1x1").value();
  std::vector<Tensor> inputs;
  for (const Value* v : graph.inputs()) {
    std::optional<Tensor> value = value_of(v->type, inputs.size() + 1);
    if (!value) return;
    inputs.push_back(std::move(*value));
  }
  const std::optional<std::unique_ptr<Session>> session = taken(Session::create(std::move(graph), options));
  if (!session || !taken((*session)->prepare(inputs)) || flops_of(**session) > kMostFlops) return;
  const std::optional<std::vector<Tensor>> results = taken((*session)->run(inputs));
  if (!results) return;
  if (results->size() != (*session)->outputs().size()) finding(fmt::format("{} results", results->size()));
  for (size_t i = 0; i < results->size(); ++i) {
    const DType declared = (*session)->outputs()[i].type.dtype;
    if ((*results)[i].type() != declared)
      finding(fmt::format("output {} is {}, not {}", i, name_of((*results)[i].type()), name_of(declared)));
    read_all((*results)[i]);
  }
}

}  // namespace svengine::fuzz
