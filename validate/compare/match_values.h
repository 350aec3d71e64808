// Which value of one model is which of another.
#pragma once
#include <string>
#include <unordered_map>

#include "engine/graph/graph.h"

namespace svengine::validate {

struct ValueMatch {
  std::unordered_map<std::string, std::string> names;  // of the model's values: the reference's
  size_t by_name = 0, by_place = 0, unmatched = 0;     // values that nodes make
};

/// Inputs and outputs by name, or by number where names differ. Then values that nodes make, by name: one of the same name is the
/// same unless rank, size or kind contradict, or it is only a number and made by another operator (exporters count). What is left
/// is found by its place: a node whose operator and matched inputs are a reference's node's is that node, in order; and so
/// backwards from matched outputs.
ValueMatch match_values(const Graph& model, const Graph& reference);

}  // namespace svengine::validate
