// Hostile relatives of an operator's samples: the same node with a dimension, an attribute, a type, a rank, a known value or an
// input changed to what a damaged or malicious file may hold.
//
//   sample ──one Change──> relative          every change of the list
//          ──two Changes─> relative          pairs, chosen at random with a fixed seed
//
// Most are no valid nodes. What is asked of the engine is a typed error or a right result: attempt.h.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "engine/graph/op_def.h"
#include "engine/ops/samples.h"

namespace svengine::tests {

struct RelativeInput {
  DType dtype = DType::f32;
  Dims dims;       // of the tensor at run time
  Shape declared;  // what the graph says of it
  double low = -2, high = 2;
  Tensor value = {};      // defined: these elements
  bool constant = false;  // in the graph; else the caller gives it
  bool absent = false;
};

struct Relative {
  std::string what;  // how it differs from the sample, for people
  std::vector<RelativeInput> inputs;
  Attributes attributes;
  int outputs = 1;
};

struct Change {
  std::string what;
  std::function<void(Relative&)> apply;
};

/// The sample itself.
Relative relative_of(const Sample& sample);

/// Everything that can be changed about a sample. Changes may be applied one after the other.
std::vector<Change> changes_of(const OpDef& op, const Sample& sample);

/// Relative `index` of changes.size() + pairs; the same on every machine.
Relative changed(const Relative& sample, const std::vector<Change>& changes, size_t index);

/// The tensor of an input, random where it has no value. Only for dims of few elements.
Result<Tensor> tensor_of(const RelativeInput& input, uint64_t seed);

}  // namespace svengine::tests
