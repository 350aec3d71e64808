// The two runs of compare_models.h, side by side. Internal to it.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "validate/compare/compare_models.h"
#include "validate/compare/tested_graph.h"

namespace svengine::validate {

class Lockstep {
 public:
  Lockstep(const Graph& model, const TestedGraph& tested, Reference& reference, const CompareOptions& options);

  Result<CompareReport> run(const std::vector<Tensor>& inputs);

 private:
  using Values = std::unordered_map<const Value*, Tensor>;
  /// What a step gives, and was given.
  struct Outcome {
    std::vector<Tensor> accumulated, local, local_inputs;
    bool has_local = false;
    std::string problem;
    double length = 1;
  };

  void announce();
  Status do_step(size_t number);
  Result<Outcome> run_step(const Step& step);
  /// What the reference has for the inputs of a step, in the types that the step takes; nothing where it lacks one.
  Result<std::optional<std::vector<Tensor>>> inputs_of_reference(const Step& step, const std::vector<Tensor>& own);
  /// A value in the type that it has in the file: what the engine keeps wider may be too large for that.
  Result<Tensor> as_in_file(const std::string& name, const Tensor& tensor) const;
  /// A value of the file, in its type there; undefined: the reference has not got it.
  Result<Tensor> value_of_reference(const Value& v, const SessionOptions& how);
  Status compare_output(size_t number, size_t output, Outcome& outcome);
  enum class Explanation : uint8_t { none, condition, random };
  /// Does the node give other results when run again? Or does disturbing the inputs move the output as far as its error goes?
  Result<Explanation> explanation_of(const Node& node, const SessionOptions& how, size_t output,
                                     const std::vector<Tensor>& inputs, const Tensor& got, const Difference& difference,
                                     double relative);
  /// Does rounding otherwise between these nodes of the file move what they give as far as its error goes?
  Result<bool> is_rounding_within(const std::vector<const Node*>& nodes, const std::string& output, const Tensor& expected,
                                  const Difference& difference);
  Bound local_bound(const Precision& precision, DType expected, double largest) const;
  Bound accumulated_bound(DType expected, double largest) const;
  Status look_closely(size_t step, size_t at);
  /// One node of the file, unfused, on the reference's inputs, or on `made` where it has none; true: it is guilty.
  Result<bool> look_at_node(const Node& node, Values& made, Guilt& guilt);
  Status compare_outputs(const std::vector<Tensor>& inputs);
  /// The outputs of a session; nothing where they are not asked for.
  Result<std::vector<Tensor>> run_whole(const std::vector<Tensor>& inputs) const;
  NodeName name_of_node(const Node& node) const;

  const Graph& model_;
  const TestedGraph& tested_;
  Reference& reference_;
  const CompareOptions& options_;
  std::unordered_map<std::string, const Value*> in_file_;
  std::vector<std::unordered_set<std::string>> needed_;  // of the reference, by step
  std::vector<std::vector<const Node*>> nodes_;          // of the file, by step: spanned_nodes.h
  std::unordered_map<const Value*, size_t> readers_;
  Values accumulated_, local_;  // of the second, only what the reference has not
  double coarse_ = 0;           // the most that precision explains of a step in coarse types
  CompareReport report_;
};

}  // namespace svengine::validate
