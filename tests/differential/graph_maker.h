// Random graphs, node by node. What a node's operator refuses is taken away again, so every graph can be computed.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/differential/choices.h"
#include "tests/differential/evaluate.h"

namespace svengine::differential {

struct RandomGraph {
  Graph graph;                 // its types are concrete, or with symbols where input_types has none
  std::vector<Tensor> inputs;  // of graph.inputs()
  Values values;               // of everything, inputs and constants included
  bool special = false;        // some inputs hold NaN, infinities, -0 and subnormal numbers
  bool loose = false;          // convolutions may be Winograd's
  bool trained = false;        // has a backward pass
  std::string complaint = {};  // what typing the graph with symbols said, which static shapes did not
  std::string refused = {};    // why a damaged graph cannot be computed; values are missing then
};

/// Called with a description of a node that is about to be computed, so that a crash can be traced.
using Progress = std::function<void(const std::string&)>;

class GraphMaker {
 public:
  GraphMaker(uint64_t seed, const kernels::KernelTable& kernels, Progress progress);
  /// Makes a body of a node of another graph. Its values are those of a first trip; inputs that moves add are captured.
  explicit GraphMaker(GraphMaker& around);

  Choices choose;

  /// A new value: a graph input or a constant, which of them is chosen. Numbers are evenly in [low, high), and at some rate
  /// awkward; integers their whole parts.
  Value* leaf(DType type, Dims dims, double low = -2, double high = 2);
  Value* leaf(Tensor tensor);
  /// The same, always a constant: weights.
  Value* weight(Dims dims, double low = -1, double high = 1);
  Value* constant(Tensor tensor);
  Value* integers(const std::vector<int64_t>& values);
  Value* scalar(float value);
  /// A new graph input of that value.
  Value* input(Tensor tensor);
  /// The same of a sequence or an optional, in a body.
  Value* input(Tensor container, Type type);
  /// A given tensor: a constant, seldom an input, which then decides shapes only when the graph runs.
  Value* known(Tensor tensor);

  /// Any value there is that `fits`; null when there is none. Later ones are likelier, which makes graphs deep.
  Value* existing(const std::function<bool(const Value&)>& fits);
  Value* existing_real();
  /// An existing real value, or a new one of rank 0 to 3.
  Value* some_real();
  /// A real value of that rank, existing or new.
  Value* real_of_rank(size_t rank);
  Value* real_of(const Dims& dims);

  /// A new node and its results; null when the operator refuses, or when an input that must be there is missing.
  Node* node(const OpDef& op, std::vector<Value*> inputs, Attributes attributes = {}, size_t outputs = 1);
  /// An operator of ai.onnx.
  Node* node(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {}, size_t outputs = 1);
  /// A node whose result is a sequence or an optional. Only who asks for it sees it: it is no existing() value and no output of the graph.
  Value* container(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {});
  /// Its first output. A null first input gives null, so that calls can be nested.
  Value* add(std::string_view op, std::vector<Value*> inputs, Attributes attributes = {});

  Dims dims(const Value* v) const { return made_.values.at(v).dims(); }
  const Tensor& tensor(const Value* v) const { return made_.values.at(v); }
  Graph& graph() { return made_.graph; }
  const Graph& graph() const { return made_.graph; }
  size_t nodes() const { return made_.graph.nodes().size(); }
  /// The type that its real numbers have, mostly: float32, at times another.
  DType real() const { return real_; }
  /// Of how many bodies within one another this is one.
  int depth() const { return depth_; }

  /// A size: mostly small, seldom 0, often 1.
  int64_t size();
  /// Channels 1 .. 40, mostly about multiples of 8 and 16.
  int64_t channels();
  /// Dims that broadcast with these: some 1, some leading ones left out.
  Dims broadcast_of(Dims dims);

  /// The body, with nodes of which all results are read; null where one's shape alone is, which the node would not be computed for. The maker is
  /// used up.
  Subgraph take_body(const std::vector<Value*>& outputs);
  /// Chooses outputs, then symbols, then perhaps a backward pass. The maker is used up.
  Result<RandomGraph> finish();

 private:
  Value* adopt(Value* v, Tensor t);
  /// Now and then two operands that are alike are one value.
  void share_operands(std::vector<Value*>& inputs);
  Node* add_node(const OpDef& op, std::vector<Value*> inputs, Attributes attributes, size_t outputs, bool containers);
  Status choose_outputs();
  void make_symbolic();
  Status differentiate();
  Status compute_again();

  const kernels::KernelTable& kernels_;
  Progress progress_;
  RandomGraph made_;
  std::vector<Value*> order_;  // all tensors, as they came
  uint64_t tensors_ = 0, bodies_ = 0;
  uint64_t seed_;
  int depth_ = 0;
  DType real_ = DType::f32;
};

/// The graph of a seed: the same on every machine, as long as the same operators exist and refuse the same.
Result<RandomGraph> random_graph(uint64_t seed, const kernels::KernelTable& kernels, const Progress& progress);

}  // namespace svengine::differential
