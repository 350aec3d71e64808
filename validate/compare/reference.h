// Where the values come from that a model's are compared with.
#pragma once
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/session.h"
#include "validate/compare/lone_node.h"

namespace svengine::validate {

/// Values by their names in the model that is compared. Used in lockstep: what will be asked for is announced, and what has been
/// asked for as often as announced may go.
class Reference {
 public:
  virtual ~Reference() = default;

  /// Is there, or will there be, a value of that name?
  virtual bool has(const std::string& name) const = 0;
  /// One more value() and release() of it will come.
  virtual void expect(const std::string& name) = 0;
  /// The value, after as much of the reference has been computed as that takes.
  virtual Result<Tensor> value(const std::string& name) = 0;
  virtual void release(const std::string& name) = 0;
  /// Whatever has not been asked for, for who looks at all values.
  virtual Status finish() = 0;
};

/// Sees every node of a reference when it has run; the inputs of a slot that is absent or a constant are undefined.
using Witness = std::function<Status(const Node& node, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs)>;

/// A graph as it was imported, every node computed by itself, in its order, and as far as it is needed. A value lives until the
/// last node has read it and nobody expects it.
class NodeByNode : public Reference {
 public:
  /// `names`: of the values, by their names in the model that is compared; null: they are the same. Options' `optimize` is not
  /// looked at.
  NodeByNode(Graph graph, std::vector<Tensor> inputs, const SessionOptions& options,
             const std::unordered_map<std::string, std::string>* names, Witness witness = {});

  bool has(const std::string& name) const override { return find(name) != nullptr; }
  void expect(const std::string& name) override;
  Result<Tensor> value(const std::string& name) override;
  void release(const std::string& name) override;
  Status finish() override;

 private:
  const Value* find(const std::string& name) const;
  Status compute_next();
  void drop_if_done(const Value* value);

  Graph graph_;
  SessionOptions options_;
  Witness witness_;
  std::unordered_map<std::string, const Value*> by_name_;  // of the model's
  std::unordered_map<const Value*, Tensor> values_;
  std::unordered_map<const Value*, size_t> readers_;  // inputs of nodes that have not run
  std::unordered_map<const Value*, size_t> expected_;
  Graph::NodeList::const_iterator next_;
};

}  // namespace svengine::validate
