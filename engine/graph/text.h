// The text form of a graph, for `svengine inspect --after PASS` and for tests: it prints and parses.
//
//   graph "resnet"
//   input %image: float32[N, 3, 224, 224]
//   const %axes: int64[2] = {2, 3}
//   const %conv1.weight: float32[64, 3, 7, 7] = ...9408 elements, fnv1a 5b1c7d0e4f2a9386
//   %y: float32[N, 64, 112, 112] = Conv(%image, %conv1.weight, -) {group = 1, pads = [3, 3, 3, 3]} @"conv1"
//   %z: float32[N, 64, 112, 112]{c16} = svengine.FusedConv(%"a name: with spaces") {activation = "Relu"}
//   %m: float32[*] = If(%c, %y) {captured = 1, then_branch = graph "yes" {
//     input %y: float32[2]
//     output %y
//   }, else_branch = graph "no" {
//     ...
//   }}
//   output %y
//
// One thing a line; '#' begins a comment. A dimension is a number, a name (quoted unless it is an identifier) or '?'; '*'
// alone is an unknown rank; {c16} is an NCHWc layout of 16 channels a block. '-' is an absent optional input. @"name" is the
// node's name where it is not the operator's. A body is a graph of its own, with its captured values as its last inputs. What a sequence,
// optional or map holds stands in parentheses: sequence(float32[3])[], map(int64, float32[*])[]. Reals always have a point, an exponent, or
// are inf or nan; an empty list says its kind: ints[], floats[], strings[]. Elements of floats of 16 bits and less are their bits: 0x3c00.
// Constants with many elements are printed by a digest of their bytes, for people and for comparing, and cannot be parsed; what is parsed,
// but never printed, is a progression: {3, 5, ...}.
#pragma once
#include <string>
#include <string_view>

#include "engine/graph/op_registry.h"

namespace svengine {

struct TextOptions {
  /// Constants and tensor attributes with more elements than this are printed by their digest.
  int64_t most_elements = 16;
};

std::string print_graph(const Graph& graph, const TextOptions& options = {});

/// The inverse of print_graph; errors name line and column. The graph has passed verify().
Result<Graph> parse_graph(std::string_view text, const OpRegistry& ops);

}  // namespace svengine
