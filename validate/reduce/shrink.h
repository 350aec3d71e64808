// A reduced model made smaller by what changes its meaning, as long as the fault stays:
//
//   1. control flow   a branch in place of an If, one trip in place of a Loop
//   2. nodes          passed by (edit_graph.h), of the graph and of every body, by ddmin
//   3. sizes          every length of a dimension that weights and inputs have: 1 in all of them, or half of it, and again
//   4. weights        one element for all where that broadcasts, else zeros
//
// Results are other ones than those that were recorded, so only a check that does not compare with recorded ones can judge it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "importers/onnx/onnx_file.h"
#include "validate/reduce/recording.h"

namespace svengine::validate {

/// A model that is more than a part of another, and what its inputs are.
struct Variant {
  onnx_proto::ModelProto model;
  std::vector<std::string> inputs, outputs;
  Recording data;
};

struct ShrinkReport {
  int inlined_bodies = 0;
  int bypassed_nodes = 0;
  int shrunk_sizes = 0;    // of a dimension, wherever it stands
  int shrunk_weights = 0;  // to one element
  int zeroed_weights = 0;
  bool any() const { return inlined_bodies + bypassed_nodes + shrunk_sizes + shrunk_weights + zeroed_weights > 0; }
};

struct ShrinkContext {
  const onnx::OnnxFile& file;  // which has the tensors
  /// Whether the variant is a model and has the fault; may give its outputs the shapes that they have now.
  std::function<Result<bool>(Variant&)> test;
  int most = 100;  // nodes of a graph, weights, and sizes that are tried
};

/// `variant` has the fault, and has it afterwards.
Result<ShrinkReport> shrink(Variant& variant, const ShrinkContext& context);

}  // namespace svengine::validate
