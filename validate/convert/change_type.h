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
#include "importers/onnx/onnx_file.h"

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

/// A weight whose elements change type when they are written, so that there is never more than a part of them in both.
struct LateWeight {
  Value* value = nullptr;  // an input of the graph in place of the weight, which it has not
  Tensor tensor;           // the weight, float32
  std::string name;        // and what it was called
};

struct ChangedTypes {
  std::vector<Saturated> saturated;
  std::vector<LateWeight> late;  // of at least kLateBytes in float32; whoever takes the graph gives them their data
};
inline constexpr size_t kLateBytes = size_t{256} << 10;

/// The elements of a float32 tensor, finite ones no larger than the type's largest number, as bytes of that type: parts of at most some MiB
/// one after the other, behind which pages of a mapped file are given back. How many were too large.
Result<int64_t> cast_in_parts(const Tensor& tensor, DType to, const PassContext& context, const onnx::ByteSink& sink);

/// Fails where a name of `keep` is no operator or node of the graph: asked of the network as it came, of which simplification may leave less.
Status check_keep(const Graph& graph, const ChangeTypeOptions& options);

/// Fails where a node refuses what its neighbours have become.
Result<ChangedTypes> change_type(Graph& graph, const ChangeTypeOptions& options, const PassContext& context);

}  // namespace svengine::validate
