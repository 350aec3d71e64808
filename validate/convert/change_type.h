// A network in another floating-point type.
//
// One walk in the order of the nodes. Every float32 value becomes one of the wanted type, unless the node that reads it cannot have it so:
//
//   x: f32 ── Conv ── Resize(scales: f32) ── NonMaxSuppression ── y       to float16:
//
//   x: f16 ── Conv ── Resize(scales: f32) ── Cast f32 ── NonMaxSuppression ── y
//
// What an operator takes are its type parameters (OpDef::types). Nodes with bodies (If, Loop, Scan), and those that were asked for, stay in
// float32 with Casts around them.
#pragma once
#include <string>
#include <vector>

#include "engine/graph/graph.h"
#include "engine/graph/passes/pass.h"

namespace svengine::validate {

struct ChangeTypeOptions {
  DType to = DType::f16;           // f16, bf16 or f64
  bool keep_io = false;            // inputs and outputs stay float32
  std::vector<std::string> keep = {};  // operators or nodes by name that stay in float32
};

/// A tensor in another element type, rounded as Cast does.
Result<Tensor> cast(const Tensor& tensor, DType to, const PassContext& context);

/// A weight of which elements were too large for the new type, and became its largest number (masks are often -3.4e38).
struct Saturated {
  std::string name;
  int64_t count = 0;
};

/// Fails where a name of `keep` is no operator or node of the graph, and where a node refuses what its neighbours have become.
Result<std::vector<Saturated>> change_type(Graph& graph, const ChangeTypeOptions& options, const PassContext& context);

}  // namespace svengine::validate
