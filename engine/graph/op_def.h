// What the engine knows of one operator. engine/ops/<family>/<operator>.cc holds one OpDef each; import, planning, the sweep
// tests, cost estimates and the coverage table are derived from it.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/dtype_set.h"
#include "engine/graph/domains.h"
#include "engine/graph/graph.h"
#include "engine/graph/input_set.h"
#include "engine/graph/op_inputs.h"

namespace svengine {

class InferContext;
class OpRegistry;
class LowerContext;
class CanonicalizeContext;
class GradientContext;
class EvaluateContext;
class ExpandContext;
struct CustomOperator;
struct TransposedNode;

/// What an attribute that a node leaves out stands for, in an AttributeDef. Numbers and texts only: lists of these
/// are constants to the compiler.
class AttributeDefault {
 public:
  constexpr AttributeDefault() = default;
  constexpr AttributeDefault(int value) : value_(int64_t{value}) {}
  constexpr AttributeDefault(int64_t value) : value_(value) {}
  constexpr AttributeDefault(float value) : value_(value) {}
  constexpr AttributeDefault(const char* value) : value_(value) {}

  /// Null where it is of another type, or there is none.
  template <class T>
  constexpr const T* get() const {
    return std::get_if<T>(&value_);
  }
  constexpr bool is_none() const { return value_.index() == 0; }

 private:
  std::variant<std::monostate, int64_t, float, const char*> value_;
};

struct AttributeDef {
  const char* name;
  AttributeKind kind;
  bool required = false;
  AttributeDefault default_value = {};
  bool internal = false;  ///< set by canonicalisation, import and passes alone: a file that has it is refused
};

constexpr AttributeDef internal_attribute(const char* name, AttributeKind kind, AttributeDefault default_value = {}) {
  return {name, kind, false, default_value, true};
}

/// A type parameter of an operator ("T"): inputs that are all of one type, one of these.
struct TypeParameter {
  const char* name;
  DTypeSet types;
  InputSet inputs;  // the last input of a variadic operator stands for all behind it
};

/// How an operator deals with NCHWc values, for the layout pass.
enum class BlockedMode : int8_t {
  never,    // plain in, plain out
  prefers,  // data input 0 (and `inputs`) blocked, outputs of its type blocked, when `can_block` agrees
  follows,  // element by element: any layout, the same for all inputs but scalars; f(0) is finite, so padding lanes stay finite
  converts,  // from one to the other: Reorder
};

struct BlockedLayout {
  BlockedMode mode = BlockedMode::never;
  // The others are for `prefers`.
  /// Can this node, with these types, work on blocks of that many channels?
  bool (*can_block)(const Node&, int block) = nullptr;
  /// This one of the inputs that are blocked is read plain all the same, unless it is blocked already (the image of a first
  /// convolution with few channels).
  bool (*reads_plain)(const Node&, size_t input) = nullptr;
  /// Inputs that are blocked besides input 0 (a residual).
  InputSet inputs = {};
  /// The output is plain (a sum over all pixels), only inputs are blocked.
  bool writes_plain = false;

  /// May that input be blocked? All others are plain, weights that another node computes among them.
  bool reads_blocked(size_t input) const {
    const bool named = mode == BlockedMode::prefers && (input == 0 || inputs.has(input));
    return mode == BlockedMode::follows || mode == BlockedMode::converts || named;
  }
};

struct Cost {
  double flops = 0;  // multiply and add count as two
  double bytes = 0;  // read and written once: inputs, weights, outputs
};

/// Inputs that training updates by other means than gradients, and the outputs that hold what one batch gave in their place.
struct RunningStatistics {
  size_t mean, variance;  // indices of inputs (running) and, where attribute "training_mode" is set, of outputs (of the batch)
};

/// For what holds of every node of an operator.
inline bool always(const Node&) { return true; }

/// What passes, autodiff and the planner may know of an operator besides what it computes.
struct OpTraits {
  /// Inputs whose values decide output shapes (Reshape: {1}). They must be known when the node is planned.
  InputSet shape_inputs = {};
  /// Does output 0 of this node equal input 0, and may the node go? Other outputs are the caller's concern. Types may be unknown.
  bool (*is_identity)(const Node&) = nullptr;
  /// Output 0 where it follows from the inputs' types alone, all of which are static (Shape, Size).
  Tensor (*value_of_types)(const Node&) = nullptr;
  /// Output 0 is input 0's bytes under another shape: no step at all.
  bool is_view = false;
  /// The outputs hold elements of those inputs that have their type, whatever that is: nothing is computed. Views do so anyway.
  bool (*moves_elements)(const Node&) = nullptr;
  /// Output 0 may overwrite input 0 of the same type: the last thing done, element by element.
  bool may_overwrite = false;
  /// Other inputs are read until the last element is written, so none may lie in the memory that is overwritten.
  bool reads_others_late = false;
  /// The inputs as they are stored, one after the other, are output 0, so their producers may write it. Lowering leaves out what
  /// is in its place already. All types are concrete.
  bool (*aliases_concat)(const Node&) = nullptr;
  /// What the node becomes when what it reads has its dimensions in another order: graph/transposed_node.h. Null: no Transpose moves past it.
  std::optional<TransposedNode> (*transposed)(const Node&, const std::vector<int64_t>& perm) = nullptr;
  /// Would the node read Transpose(x, perm) as that input at the cost of reading x, once passes have taken the Transpose into it?
  bool (*takes_transpose)(const Node&, size_t input, const std::vector<int64_t>& perm) = nullptr;
  /// Of a composite operator: among the nodes that it is made of are some that no plan holds (a Scan), whatever shapes are known.
  bool has_host_parts = false;
  /// For element-wise functions that kernels apply in their epilogue: the "activation" attributes of a fused operator that
  /// stand for this node; nothing when this node's parameters are not known.
  std::optional<Attributes> (*activation)(const Node&) = nullptr;
  /// Of a norm that keeps running statistics.
  std::optional<RunningStatistics> running_statistics = {};
  /// An optional input of which only the shape is read ("the shape of x", in nodes that gradients are made of), or -1. Where that
  /// shape is known, the pass `shapes` writes it into attribute "shape" and takes the input away, so that the value may die.
  int shape_only_input = -1;
  /// Of nodes that gradients are made of: the one input with respect to which the gradient is known, in which the node is linear; or -1.
  /// Another one that needs a gradient is refused.
  int linear_input = -1;
};

/// How far results may be from PyTorch's, ONNX Runtime's and those of the backend tests.
struct Tolerance {
  double rtol = 1e-5;
  double atol = 1e-6;
};

struct OpDef {
  const char* name;                // as in ONNX
  const char* domain = "";         // "" is ai.onnx
  int since = 1;                   // oldest opset whose form is understood
  int until = kNewestOpset;        // newest opset whose form is understood; other domains have numbers of their own
  int specified_since = 0;         // the specification's first opset, where others write it into models of older ones; 0: since
  /// As the specification names them in the newest form.
  OpInputs inputs = "";
  Arity outputs = {};
  std::vector<AttributeDef> attributes = {};

  /// Turns a node of an older opset into the canonical (newest) form: attributes that became inputs and so on. Optional.
  Status (*canonicalize)(CanonicalizeContext&) = nullptr;
  /// In place of `lower` and `evaluate`, for composite operators: the nodes that compute this one together. graph/expand.h.
  Status (*expand)(ExpandContext&) = nullptr;
  /// Output types from input types, attributes and known values. Refuses what the operator cannot take.
  Status (*infer)(InferContext&) = nullptr;
  /// Emits the steps that compute the node, all shapes being concrete.
  Status (*lower)(LowerContext&) = nullptr;
  /// Of an operator that refuses what its inputs' values are (indices outside): emits the step that looks at them, and nothing else, in place of
  /// `lower` where all outputs are empty. Plans leave out other nodes that have nothing to compute.
  Status (*check_values)(LowerContext&) = nullptr;
  /// In place of `lower`, for what plans cannot hold: handles (is_handle()), output shapes that follow from values (NonZero), bodies.
  /// Computes the outputs from inputs that are there, in the calling thread, between the segments of a run: evaluate_context.h.
  Status (*evaluate)(EvaluateContext&) = nullptr;
  /// What the inputs may be, as the specification's type constraints say. Checked before `infer`.
  std::vector<TypeParameter> types = {};
  /// Element types that `lower` computes with as they are. Where the specification allows others (float16, say), pass `widen_types` puts Casts
  /// around the node, to the narrowest of these that holds every value, and a type attribute ("dtype") follows; so `lower` never sees
  /// them. Operators without `lower` (evaluate, views) see every type.
  DTypeSet kernel_types = kDenseTypes - kNarrowFloatTypes;
  /// The same where it depends on the node's attributes.
  DTypeSet (*kernel_types_of)(const Node&) = nullptr;
  /// Optional: by default one operation an output element, every input and output once.
  Cost (*cost)(const Node&) = nullptr;

  /// Adds the nodes that compute the gradients of this node's inputs from those of its outputs: graph/gradient.h. Absent: a
  /// gradient that is needed through this operator is refused.
  Status (*gradient)(GradientContext&) = nullptr;

  /// Of an operator that a program or plug-in has registered: engine/ops/custom_operator.h. Null: it is the engine's.
  const CustomOperator* custom = nullptr;

  OpTraits traits = {};
  BlockedLayout blocked = {};
  Tolerance tolerance = {};
  /// What tests run it on: graph/samples.h.
  std::string samples = {};
};

/// Whether the node reads nothing of that input but its shape and type.
bool reads_shape_alone(const Node& node, size_t input);

/// "" for "ai.onnx", which is the same domain; others as they are.
std::string_view canonical_domain(std::string_view domain);

/// What OpDef::infer sees and sets.
class InferContext {
 public:
  explicit InferContext(Node& node) : node_(node) {}

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  size_t input_count() const { return node_.inputs().size(); }
  size_t output_count() const { return node_.outputs().size(); }
  /// For messages: "input 1 (W)".
  std::string described(size_t i) const { return node_.op().inputs.described(i); }
  bool has_input(size_t i) const { return node_.input(i) != nullptr; }
  bool has_output(size_t i) const { return node_.output(i) != nullptr; }
  const Type& type(size_t i) const { return node_.input(i)->type; }
  const Shape& shape(size_t i) const { return type(i).shape; }
  DType dtype(size_t i) const { return type(i).dtype; }
  /// The value of input i when it is known, else null.
  const Tensor* constant(size_t i) const;
  /// The same as integers.
  std::optional<std::vector<int64_t>> integers(size_t i) const;

  /// Does nothing when the node has no such output.
  void set(size_t output, Type type);
  void set(size_t output, DType dtype, Shape shape) { set(output, Type{dtype, std::move(shape)}); }

 private:
  Node& node_;
};

/// Checks arity and attributes, runs infer, and puts the node's description into its errors. The outputs' types are set.
Status infer_types(Node& node);

/// What OpDef::canonicalize sees: the node as the file has it, and the means to change it.
class CanonicalizeContext {
 public:
  CanonicalizeContext(Graph& graph, Node& node, const OpRegistry& ops, int opset)
      : graph_(graph), node_(node), ops_(ops), opset_(opset) {}

  Graph& graph() { return graph_; }
  Node& node() { return node_; }
  Attributes& attributes() { return node_.attributes; }
  const OpRegistry& ops() const { return ops_; }
  /// The opset the file imports for this operator's domain.
  int opset() const { return opset_; }
  /// An integer-list attribute becomes constant int64 input `slot` (Squeeze's axes, Slice's starts, ...). No-op when absent.
  void attribute_to_input(std::string_view attribute, size_t slot);
  /// Sets input `slot`, growing the list with absent inputs as needed.
  void set_input(size_t slot, Value* value);

 private:
  Graph& graph_;
  Node& node_;
  const OpRegistry& ops_;
  int opset_;
};

/// Types of the node's dense inputs and outputs that its `lower` does not compute with (OpDef::kernel_types); empty where it may be
/// lowered as it is.
DTypeSet types_to_widen(const Node& node);

/// Default cost: one operation an output element; every input and output moved once. Unknown dimensions count as 1.
Cost cost_of(const Node& node);
/// Bytes of a value as stored, padding lanes included; unknown dimensions count as 1.
double stored_bytes(const Type& type);

}  // namespace svengine
