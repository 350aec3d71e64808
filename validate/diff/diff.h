// What is different between two model files: structure, attributes, weights, versions, texts.
//
// Nodes and values are matched by what they compute (match.h), so that what is only called otherwise shows as renamed. Weights stay where
// they are in the files and are compared in pieces; memory is that of the two structures.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/onnx/onnx_file.h"
#include "validate/diff/weight_difference.h"

namespace svengine::validate {

/// What a difference is in, which is also what --ignore takes; `structure` is never ignored.
enum class DiffClass : uint8_t {
  structure,  // inputs, outputs, nodes, edges, attributes, functions, opsets, types of inputs and outputs
  weights,    // elements of initializers (their types and shapes are structure)
  names,      // of nodes, values, weights, inputs, outputs, graphs
  types,      // declared types of inner values
  docs,       // doc_string of whatever has one
  metadata,   // producer, IR and model version, domain, metadata_props, quantization annotations
};
std::string_view name_of(DiffClass kind);

enum class Change : uint8_t { added, removed, changed, renamed };
std::string_view name_of(Change change);

struct DiffEntry {
  DiffClass kind = DiffClass::structure;
  Change change = Change::changed;
  std::string scope;     // "" the model's graph, else where: "function com.acme:Gelu", "node 'if' > then_branch"
  std::string subject;   // "node", "input", "output", "weight", "value", "opset", "function", "model", "graph"
  std::string name;      // as in A, or in B of what was added
  std::string new_name = {};  // in B, of what is in both and called otherwise
  std::string op = {};        // of a node: its operator
  std::string property = {};  // what of it: "attribute 'epsilon'", "input 2"; empty: the thing itself
  std::string before = {}, after = {};
  std::optional<WeightDifference> weight = {};
};

struct DiffOptions {
  std::vector<DiffClass> ignored = {};
  double atol = 0;  // elements of weights that are at most so far apart are equal
};

struct DiffCounts {
  int64_t added = 0, removed = 0, changed = 0, renamed = 0;
};

struct DiffReport {
  std::vector<DiffEntry> differences;  // without what is ignored
  int64_t nodes_a = 0, nodes_b = 0, weights_a = 0, weights_b = 0;  // of the model's graph
  int64_t nodes_matched = 0;

  bool equal() const { return differences.empty(); }
  DiffCounts count(std::string_view subject) const;
};

/// Fails on tensors that cannot be read. Names are as in the files: not for printing as they are.
Result<DiffReport> diff_models(const onnx::OnnxFile& a, const onnx::OnnxFile& b, const DiffOptions& options = {});

}  // namespace svengine::validate
