#include "tests/differential/other_shapes.h"

#include <algorithm>

#include "engine/graph/passes/pass.h"
#include "tests/differential/compare.h"
#include "tests/differential/damage.h"
#include "tests/differential/use_all_nodes.h"
#include "tests/differential/way.h"

namespace svengine::differential {
namespace {

constexpr size_t kOrder[] = {0, 1, 0, 2, 1, 0};  // which of the cases runs

/// Inputs, and what is computed from them node by node.
struct Case {
  std::vector<Tensor> inputs;
  Values values;
  std::string refused;
  bool limited = false;  // too much for this test
};

/// One size, wherever it is a dimension, becomes another: a batch, or a sequence.
std::vector<Tensor> of_other_size(const std::vector<Tensor>& inputs, Choices& choose) {
  std::vector<int64_t> sizes;
  for (const Tensor& t : inputs) sizes.insert(sizes.end(), t.dims().begin(), t.dims().end());
  if (sizes.empty()) return inputs;
  const int64_t from = choose.of(sizes), to = choose.chance(0.2) ? 0 : choose.between(1, 2 * from + 1);
  std::vector<Tensor> changed;
  for (const Tensor& t : inputs) {
    Dims dims = t.dims();
    std::replace(dims.begin(), dims.end(), from, to);
    changed.push_back(with_dims(t, dims));
    if (changed.back().dims() != dims) return inputs;  // too large, and the others would not fit it
  }
  return changed;
}

/// Equal sizes have one name, as of_other_size takes them.
Shape names_of(const Dims& dims) {
  std::vector<Dim> names;
  for (const int64_t d : dims) names.push_back(Dim(fmt::format("d{}", d)));
  return Shape(std::move(names));
}

std::vector<Tensor> of_other_dims(std::vector<Tensor> inputs, Choices& choose) {
  for (Tensor& t : inputs)
    if (choose.chance(0.3)) t = with_other_dims(t, choose);
  return inputs;
}

class ShapeChecker {
 public:
  ShapeChecker(const RandomGraph& random, const CheckOptions& options, const Progress& progress, Choices choose, bool named)
      : random_(random), options_(options), progress_(progress), choose_(choose) {
    // What bodies that do not run would give is known by types alone, which say less now.
    cases_.push_back(has_bodies(random.graph) ? computed(random.inputs) : Case{random.inputs, random.values, {}, false});
    for (int i = 0; i < 2; ++i)
      cases_.push_back(computed(named || choose_.chance(0.7) ? of_other_size(random.inputs, choose_) : of_other_dims(random.inputs, choose_)));
  }

  std::string run() {
    for (const kernels::KernelTable* kernels : options_.kernels)
      runs({kernels, choose_.chance(0.8), choose_.chance(0.25) ? kSomeThreads : 1});
    for (size_t i = 0; i < cases_.size(); ++i)
      if (!differences_[i].empty())
        problems_ += unexplained(random_.graph, cases_[i].values, differences_[i], *options_.kernels[0], random_.loose);
    return problems_;
  }

 private:
  Case computed(std::vector<Tensor> inputs) {
    Case made{std::move(inputs), {}, {}, false};
    for (size_t i = 0; i < made.inputs.size(); ++i) made.values[random_.graph.inputs()[i]] = made.inputs[i];
    made.values = leaf_values(random_.graph, made.values);
    const Status status = compute_all(random_.graph, made.values, *options_.kernels[0]);
    if (!status.ok()) made.refused = status.error().message(), made.limited = is_limit_of_test(status.error());
    return made;
  }

  void runs(const Way& way) {
    Result<std::unique_ptr<Session>> session = session_for(random_, way);
    if (!session.ok()) {
      problems_ += fmt::format("{}: {}\n", way.name(), session.error().message());
      return;
    }
    std::vector<Tensor> first[std::size(kOrder)];
    for (const size_t at : kOrder) {
      if (cases_[at].limited) continue;
      progress_(fmt::format("{}, inputs {}", way.name(), at));
      run(**session, way, at, first[at]);
    }
  }

  void run(Session& session, const Way& way, size_t at, std::vector<Tensor>& first) {
    const Case& wanted = cases_[at];
    const std::string what = fmt::format("{}, inputs {}", way.name(), at);
    const Result<std::vector<Tensor>> got = session.run(wanted.inputs);
    if (got.ok() != wanted.refused.empty())
      problems_ += fmt::format("{}: {}\n", what, got.ok() ? "runs although: " + wanted.refused : got.error().message());
    if (!got.ok() || !wanted.refused.empty()) return;
    for (size_t i = 0; i < got->size(); ++i) {
      const Value* v = random_.graph.outputs()[i];
      if (!agrees(*v, (*got)[i], wanted.values.at(v))) differences_[at].push_back({v, (*got)[i], what});
      if (!first.empty() && !same_bits(first[i], (*got)[i])) problems_ += fmt::format("{}: other bits in %{} than before\n", what, v->name());
    }
    first = *got;
  }

  const RandomGraph& random_;
  const CheckOptions& options_;
  const Progress& progress_;
  Choices choose_;
  std::vector<Case> cases_;
  std::vector<Difference> differences_[3];
  std::string problems_;
};

}  // namespace

std::string check_other_shapes(RandomGraph& random, const CheckOptions& options, const Progress& progress) {
  if (random.trained && has_bodies(random.graph)) return {};  // bodies of gradients declare the shapes that they were made for
  if (!use_all_nodes(random.graph)) return {};
  Choices choose(options.seed);
  const bool named = random.trained || choose.chance(0.5);  // rules of gradients ask for ranks
  for (size_t i = 0; i < random.inputs.size(); ++i) random.graph.inputs()[i]->type.shape = named ? names_of(random.inputs[i].dims()) : Shape();
  if (const Status s = infer_anew(random.graph); !s.ok()) return "typing without shapes: " + s.error().message() + "\n";
  return ShapeChecker(random, options, progress, choose, named).run();
}

}  // namespace svengine::differential
