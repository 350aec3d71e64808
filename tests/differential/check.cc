#include "tests/differential/check.h"

#include <algorithm>
#include <cstring>

#include "tests/differential/compare.h"
#include "tests/differential/way.h"

namespace svengine::differential {
namespace {

/// Strings, sequences and optionals have no place that a caller could give.
bool have_places(const std::vector<Tensor>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [](const Tensor& t) { return size_of(t.type()) > 0; });
}

/// Tensors for the outputs, full of bytes that are NaN as real numbers and no right integers.
std::vector<MutableTensor> poisoned_like(const std::vector<Tensor>& outputs) {
  std::vector<MutableTensor> places;
  for (const Tensor& t : outputs) {
    places.push_back(Tensor::allocate(t.type(), t.dims()).value());
    if (places.back().byte_size()) std::memset(places.back().raw(), 0xff, places.back().byte_size());
  }
  return places;
}

class Checker {
 public:
  Checker(const RandomGraph& random, const CheckOptions& options, const Progress& progress)
      : random_(random), options_(options), progress_(progress), choose_(options.seed) {}

  std::string run() {
    if (!random_.refused.empty()) return refused();
    if (!random_.complaint.empty()) problems_ += "typing with symbols: " + random_.complaint + "\n";
    for (const kernels::KernelTable* kernels : options_.kernels) {
      if (kernels != options_.kernels[0]) node_by_node(kernels);
      const bool plain = choose_.chance(0.5);
      if (plain) session({kernels, false});
      sessions(kernels);
    }
    if (differences_.empty()) return problems_;
    return problems_ + unexplained(random_.graph, random_.values, differences_, *options_.kernels[0], random_.loose);
  }

 private:
  /// With and without passes: they may refuse it later, or never get to the node, but they must not differ in that.
  std::string refused() {
    for (const kernels::KernelTable* kernels : options_.kernels) {
      std::string said[2];
      for (const bool optimize : {false, true}) {
        const Way way{kernels, optimize};
        progress_(way.name());
        Result<std::unique_ptr<Session>> session = session_for(random_, way);
        const auto result = session.ok() ? (*session)->run(random_.inputs) : Result<std::vector<Tensor>>(session.error());
        said[optimize] = result.ok() ? "" : result.error().message();
      }
      if (said[0].empty() != said[1].empty())
        problems_ += fmt::format("{}: {} runs although: {}\n", kernels->name, said[0].empty() ? "the graph" : "the optimised graph", random_.refused);
    }
    return problems_;
  }

  void node_by_node(const kernels::KernelTable* kernels) {
    progress_(fmt::format("{}, node by node", kernels->name));
    Values values = inputs();
    Status status = compute_all(random_.graph, values, *kernels);
    if (!status.ok()) problems_ += fmt::format("{}, node by node: {}\n", kernels->name, status.error().message());
    for (const auto& node : random_.graph.nodes())
      for (const Value* v : node->outputs())
        if (values.count(v)) compare(v, values[v], fmt::format("{}, node by node", kernels->name));
  }

  Values inputs() const {
    Values values;
    for (size_t i = 0; i < random_.inputs.size(); ++i) values[random_.graph.inputs()[i]] = random_.inputs[i];
    return values;
  }

  void compare(const Value* v, const Tensor& got, const std::string& what) {
    if (!agrees(*v, got, random_.values.at(v))) differences_.push_back({v, got, what});
  }

  std::vector<Tensor> session(const Way& way) {
    progress_(way.name());
    Result<std::unique_ptr<Session>> session = session_for(random_, way);
    if (!session.ok()) return complain(way, session.error().message());
    Result<std::vector<Tensor>> first = (*session)->run(random_.inputs);
    if (!first.ok()) return complain(way, first.error().message());
    for (size_t i = 0; i < first->size(); ++i) compare(random_.graph.outputs()[i], (*first)[i], way.name());
    if (!choose_.chance(0.5)) return std::move(first).value();
    Result<std::vector<Tensor>> second =
        have_places(*first) ? (*session)->run_into(random_.inputs, poisoned_like(*first)) : (*session)->run(random_.inputs);
    if (!second.ok()) return complain(way, "second run: " + second.error().message());
    compare_bits(*first, *second, way.name() + ", second run");
    return std::move(first).value();
  }

  std::vector<Tensor> complain(const Way& way, const std::string& message) {
    problems_ += fmt::format("{}: {}\n", way.name(), message);
    return {};
  }

  void compare_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b, const std::string& what) {
    for (size_t i = 0; i < a.size() && i < b.size(); ++i)
      if (!same_bits(a[i], b[i])) problems_ += fmt::format("{}: other bits in %{}\n", what, random_.graph.outputs()[i]->name());
  }

  /// Starting threads takes longer than most graphs, so not all of them get some.
  void sessions(const kernels::KernelTable* kernels) {
    const std::vector<Tensor> one = session({kernels});
    if (random_.trained) {
      const Way again{kernels, true, 1, choose_.of({Recompute::cheap, Recompute::segments})};
      compare_bits(one, session(again), again.name());
    }
    if (!choose_.chance(0.25)) return;
    const Way many{kernels, true, kSomeThreads};
    compare_bits(one, session(many), many.name());
  }

  const RandomGraph& random_;
  const CheckOptions& options_;
  const Progress& progress_;
  Choices choose_;
  std::string problems_;
  std::vector<Difference> differences_;
};

}  // namespace

std::string check(const RandomGraph& graph, const CheckOptions& options, const Progress& progress) {
  return Checker(graph, options, progress).run();
}

}  // namespace svengine::differential
