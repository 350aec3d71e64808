// What an operator is tested on: its inputs' types and values, and its attributes, as OpDef::samples has them in text. Programs that run
// models never parse it.
//
//   (float32[2, 3, 5, 7], float32[4, 3, 3, 3]) {pads = [1, 1, 1, 1]}      random values from -2 on and below 2
//   (uint8[3, 4] 0 to 256, int64[2]{1, -1})                               others; a constant of the graph
//   (float32[7], -, int8[4, 9]{3, 5, ...}) {axis = 1} 2                   an absent input; 3, 5, 7, 9 and so on; two outputs
//
// Samples follow one another. Types, elements and attributes are written as in graph/text.h.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/graph/op_registry.h"

namespace svengine {

/// Random values in [low, high) of this type and shape, or given ones. DType::undefined: an absent input.
struct SampleInput {
  DType dtype = DType::f32;
  Dims dims;
  double low = -2, high = 2;
  Tensor value = {};  // defined: used as it is, and a constant of the graph

  bool is_absent() const { return dtype == DType::undefined && !value.defined(); }
};

struct Sample {
  std::vector<SampleInput> inputs;
  std::vector<std::pair<std::string, Attribute>> attributes = {};
  int outputs = 1;
};

/// Errors name line and column. `ops` are for bodies.
Result<std::vector<Sample>> parse_samples(std::string_view text, const OpRegistry& ops);

}  // namespace svengine
