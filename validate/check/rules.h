// What `check` looks for. A rule has a name, by which people find it in the documents, and a level.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace svengine::validate {

/// error: the file is not valid ONNX, or cannot be what was meant. warning: valid, but odd, or nothing this engine runs. note: good to
/// know.
enum class Level : uint8_t { note, warning, error };
inline constexpr size_t kLevels = 3;
std::string_view name_of(Level level);

struct Rule {
  std::string_view name;
  Level level;
  std::string_view what;  // one line: what a finding of it says of the model
};

inline constexpr Rule kRules[] = {
    // The file: model_rules.cc
    {"ir-version", Level::error, "The IR version is missing, below 1, or newer than the newest known"},
    {"graph-missing", Level::error, "The model has no graph"},
    {"opset-missing", Level::error, "The model imports no opset, though its IR version is 3 or newer"},
    {"opset-in-old-ir", Level::error, "An opset is imported by a model of IR version 1 or 2, which has none"},
    {"opset-twice", Level::error, "One domain is imported twice"},
    {"opset-range", Level::error, "An imported opset is below 1, or no number that an opset can have"},
    {"opset-newer", Level::warning, "An imported opset is newer than the newest known: its operators are taken as those of that one"},
    {"domain-not-imported", Level::error, "A node is of a domain that the model, or the function around it, does not import"},
    {"domain-spelling", Level::error, "A node is of domain 'ai.onnx', which the model imports as '': the same, but ONNX's checker refuses it"},
    {"metadata-twice", Level::error, "A key of the model's metadata is there twice"},
    {"training-info", Level::note, "The model has training information, which is not looked at"},
    // Names: name_rules.cc
    {"name-empty", Level::error, "A graph, an input, an output or an initializer has no name"},
    {"name-text", Level::error, "A name is not UTF-8 or has control characters"},
    {"name-length", Level::warning, "A name is longer than 4,096 bytes, which this engine does not take"},
    {"node-name-twice", Level::note, "Two nodes of one graph have one name"},
    // Where values come from: value_rules.cc
    {"value-twice", Level::error, "A value is defined twice: by two nodes, inputs or initializers"},
    {"value-shadowed", Level::error, "A node of a body computes a value that the graph around it has already"},
    {"input-shadowed", Level::warning, "An input or initializer of a body has the name of a value around it, which hides that"},
    {"value-undefined", Level::error, "A node reads a value that nothing defines"},
    {"node-order", Level::error, "A node reads a value that is only computed behind it"},
    {"cycle", Level::error, "Nodes need each other's results"},
    {"output-undefined", Level::error, "An output of a graph, body or function is computed by nothing in it"},
    {"output-twice", Level::warning, "A value is listed twice among the outputs of a graph, which its name cannot tell apart"},
    {"initializer-not-input", Level::error, "An initializer is no input of its graph, which IR versions up to 3 demand"},
    // What nobody uses: unused_rules.cc
    {"unused-node", Level::warning, "Nothing needs what a node computes"},
    {"unused-initializer", Level::warning, "No node reads an initializer"},
    {"unused-input", Level::note, "No node reads an input"},
    {"unused-function", Level::note, "Nothing calls a function"},
    // Attributes: attribute_rules.cc
    {"attribute-name", Level::error, "An attribute has no name"},
    {"attribute-twice", Level::error, "A node has an attribute twice"},
    {"attribute-content", Level::error, "An attribute has no type, two values, a value of another type than it declares, or none where one must be"},
    {"attribute-reference", Level::error,
     "An attribute refers to one of a function, but is in none, has a value too, or the function does not declare it"},
    {"attribute-unknown", Level::error, "The operator has no such attribute in the imported opset"},
    {"attribute-missing", Level::error, "An attribute that the operator must have is missing"},
    {"attribute-type", Level::error, "An attribute is of another type than the operator's"},
    {"perm-negative", Level::error, "A permutation has a negative axis, which ONNX does not count from the back"},
    // Operators: operator_rules.cc
    {"operator-name", Level::error, "A node names no operator"},
    {"operator-unknown", Level::error, "ONNX has no such operator in the imported opset"},
    {"operator-deprecated", Level::error, "The operator is deprecated in the imported opset"},
    {"operator-foreign", Level::note, "An operator is neither ONNX's nor a function of the model: its inputs and attributes are not checked"},
    {"node-empty", Level::error, "A node has neither inputs nor outputs"},
    {"input-count", Level::error, "A node has more or fewer inputs than its operator takes"},
    {"output-count", Level::error, "A node has more or fewer outputs than its operator gives"},
    {"input-missing", Level::error, "An input that must be there is left empty"},
    {"output-missing", Level::error, "An output that must be there is left empty"},
    {"training-outputs", Level::error, "BatchNormalization gives its running statistics without training_mode, or lacks them with it"},
    {"engine-operator", Level::warning, "This engine lacks an operator of the model"},
    {"opset-lacks", Level::error, "The opset asked for with --opset lacks an operator, or has it deprecated"},
    {"opset-differs", Level::note, "An operator has another form in the opset asked for with --opset"},
    // Bodies: body_rules.cc
    {"if-arity", Level::error, "A branch of an If takes inputs, or gives another number of outputs than the node has"},
    {"loop-arity", Level::error, "The body of a Loop takes or gives another number of values than the node has"},
    {"scan-arity", Level::error, "The body of a Scan takes or gives another number of values than the node has"},
    // Functions: function_rules.cc
    {"function-name", Level::error, "A function has no name, or no domain"},
    {"function-twice", Level::error, "Two functions have one name, domain and overload"},
    {"function-cycle", Level::error, "A function calls itself, directly or through others"},
    {"function-limit", Level::error, "There are more than 10,000 functions, or calls nested more than 100 deep"},
    {"function-parameter", Level::error, "An input, an output or an attribute of a function is declared twice"},
    {"function-opset", Level::error, "A function's operator has another form in the opset that the function imports than in the model's"},
    {"function-call", Level::error, "A node has more inputs or outputs than the function it calls"},
    // Types and shapes: declaration_rules.cc, inference_rules.cc
    {"type-missing", Level::error, "An input or output of the graph has no type, no element type or no shape"},
    {"type-unknown", Level::error, "A declared type has an element or key that is none of ONNX's"},
    {"dimension-negative", Level::error, "A declared dimension is negative"},
    {"engine-type", Level::warning, "A declared type is one that this engine has not"},
    {"declared-twice", Level::warning, "The type of a value is declared twice"},
    {"declared-nothing", Level::note, "The type of a value is declared that does not exist"},
    {"declared-type", Level::error, "A value is of another element type than it is declared with"},
    {"declared-shape", Level::error, "A value has another shape than it is declared with"},
    {"symbol-conflict", Level::error, "A symbolic dimension stands for two sizes"},
    {"type-constraint", Level::error,
     "An operator does not take the element type of an input, does not give that of a declared output, or inputs that must be of one type are not"},
    {"inference", Level::error, "Shapes, attributes or values of a node cannot be: no result follows from them"},
    {"inference-in-branch", Level::warning, "The same within a branch of an If, which may never be taken"},
    {"resize-scale", Level::warning, "A Resize by a scale gives another size, or other values, in other engines"},  // resize_rules.cc
    {"engine-limit", Level::warning, "A node needs what this engine does not support"},
    // Tensors in the file: tensor_rules.cc, sparse_rules.cc
    {"tensor-type", Level::error, "A tensor's element type is missing or none of ONNX's"},
    {"tensor-dims", Level::error, "A tensor has a negative dimension, more than 32 of them, or more than 2^48 elements"},
    {"tensor-fields", Level::error, "A tensor has no data, data in two fields, or in a field of another type"},
    {"tensor-data", Level::error, "A tensor's data do not fit its type and dimensions"},
    {"tensor-segment", Level::warning, "A tensor is cut into segments, which nobody reads"},
    {"tensor-bool", Level::warning, "A bool is neither 0 nor 1"},
    {"sparse-tensor", Level::error, "Values, indices and dimensions of a sparse tensor do not fit each other"},
    {"sparse-order", Level::error, "Indices of a sparse tensor are out of range or not in ascending order"},
    // Data in other files: external_rules.cc
    {"external-location", Level::error, "External data have no location, or one that leaves the model's folder"},
    {"external-file", Level::error, "A file of external data is missing, a link, or not a regular file"},
    {"external-range", Level::error, "Offset or length of external data is not a number, or does not fit the tensor and the file"},
    {"external-entry", Level::warning, "An entry of external data is unknown or there twice"},
    {"external-checksum", Level::error, "A file of external data has another checksum than the model says"},
    // Weights: weight_rules.cc
    {"weight-nan", Level::warning, "Weights are not numbers (NaN)"},
    {"weight-infinity", Level::note, "Weights are infinite"},
    {"weight-subnormal", Level::note, "Weights are subnormal: slow on many processors, and 0 on others"},
    {"weight-duplicate", Level::note, "Two initializers of 1 KiB or more have equal bytes"},
    {"weights-unread", Level::warning, "Tensors share so many bytes of files that not all were read"},
};
inline constexpr size_t kRuleCount = std::size(kRules);

/// A rule by its name, which must be one of the table: another does not compile.
class RuleName {
 public:
  consteval RuleName(const char* name) : index_(find(name)) {}
  constexpr size_t index() const { return index_; }
  constexpr const Rule& rule() const { return kRules[index_]; }

 private:
  static size_t no_such_rule();  // not constant
  static constexpr size_t find(std::string_view name) {
    for (size_t i = 0; i < kRuleCount; ++i)
      if (kRules[i].name == name) return i;
    return no_such_rule();
  }

  size_t index_;
};

}  // namespace svengine::validate
