// What the emitter of an operator sees of its node, and of the file that becomes of the graph.
#pragma once
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/base/hash.h"
#include "engine/graph/op_def.h"
#include "tools/emit/c_text.h"
#include "tools/emit/helpers.h"
#include "tools/emit/loops.h"

namespace svengine::tool::emit {

/// Arrays of constants, each one once.
class Constants {
 public:
  explicit Constants(std::string prefix) : prefix_(std::move(prefix)) {}
  /// The name of an array with these elements.
  std::string add(const Tensor& tensor);
  /// Their definitions, at the end of `text`.
  void write(std::string& text) const;
  int64_t bytes() const { return bytes_; }

 private:
  std::string prefix_;
  std::vector<Tensor> tensors_;
  std::map<std::pair<int, Hash128>, size_t> known_;
  int64_t bytes_ = 0;
};

/// What nodes put into the file besides their functions.
struct Shared {
  explicit Shared(std::string prefix_) : prefix(prefix_), constants(std::move(prefix_)) {}
  std::string prefix;  // of every name at file scope: "mlp_"
  Constants constants;
  Helpers helpers;
  int64_t multiply_adds = 0;
};

/// A parameter of a node's function, and what it is called with.
struct Parameter {
  enum class Kind : uint8_t { input, output, temporary, constant };
  Kind kind;
  DType type;
  std::string name;
  size_t index = 0;          // of the node's input or output
  std::string constant = {};  // the array
  int64_t bytes = 0;         // of a temporary
};

class NodeContext {
 public:
  NodeContext(const Node& node, std::vector<bool> wanted, Shared& shared) : node_(node), wanted_(std::move(wanted)), shared_(shared) {}

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes; }
  size_t input_count() const { return node_.inputs().size(); }
  bool has_input(size_t i) const { return node_.input(i) != nullptr; }
  DType in_type(size_t i) const { return node_.input(i)->type.dtype; }
  DType out_type(size_t i = 0) const { return node_.output(i)->type.dtype; }
  Dims in_dims(size_t i) const { return *node_.input(i)->type.shape.concrete(); }
  Dims out_dims(size_t i = 0) const { return *node_.output(i)->type.shape.concrete(); }
  int64_t in_count(size_t i) const { return element_count(in_dims(i)); }
  int64_t out_count(size_t i = 0) const { return element_count(out_dims(i)); }
  /// Somebody reads output i, and it has elements.
  bool wants(size_t i) const { return i < wanted_.size() && wanted_[i]; }
  /// The known value of an input, else null.
  const Tensor* constant(size_t i) const;
  /// The same as integers; empty where the input is absent. Only for what is known.
  std::vector<int64_t> integers(size_t i) const;

  Code& code() { return code_; }
  const Code& code() const { return code_; }
  /// Names of pointers in the function.
  std::string in(size_t i);
  std::string out(size_t i = 0);
  /// Memory for the time of the call; contents undefined.
  std::string temporary(DType type, int64_t count);
  std::string array(const Tensor& constant);
  template <class T>
  std::string array(std::span<const T> values) {
    return array(Tensor::of<T>({static_cast<int64_t>(values.size())}, values));
  }
  /// Input i at an index: a number where the input is a single known one.
  std::string element(size_t i, const std::string& index);

  /// The name of a function of helpers.h for this type, which is then in the file.
  std::string helper(std::string_view name, DType type) { return shared_.helpers.use(name, type, shared_.prefix); }
  /// The function gives back an int, not 0 where the node fails: index out of range.
  void may_fail() { may_fail_ = true; }
  void count_multiply_adds(int64_t count) { shared_.multiply_adds += count; }

  bool fails() const { return may_fail_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  std::string parameter(Parameter parameter);

  const Node& node_;
  std::vector<bool> wanted_;
  Shared& shared_;
  Code code_;
  std::vector<Parameter> parameters_;
  bool may_fail_ = false;
  int temporaries_ = 0;
};

/// "expf" or "exp".
inline std::string c_function(std::string_view name, DType type) { return fmt::format("{}{}", name, type == DType::f32 ? "f" : ""); }

}  // namespace svengine::tool::emit
