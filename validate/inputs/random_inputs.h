// Inputs for a network that nobody has given any: random, and of a kind that most networks can work with.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine::validate {

/// What a network does with an integer input that it uses as indices: they are below this number. Read off the imported graph.
using IndexBounds = std::map<std::string, int64_t>;
IndexBounds find_index_bounds(const Graph& graph);

/// Reals in [-0.5, 0.5); indices anywhere below their bound; integers whose name has "mask" are ones. Other integers of at most 8 bits are any
/// that the type has, of more bits zeros. A function of seed and stream, which is the input's number. Fails on strings, sequences, optionals
/// and maps, of which there are no random values, naming the input.
Result<Tensor> random_input(const std::string& name, DType type, const Dims& dims, uint64_t seed, uint64_t stream, const IndexBounds& bounds);

/// For all inputs of a graph, in order. Symbolic dimensions have the sizes in `sizes`, or 1; so have unknown ones. Fails where a rank is unknown,
/// or `sizes` names a dimension that no input has.
Result<std::vector<Tensor>> random_inputs(const Graph& graph, const std::map<std::string, int64_t>& sizes, uint64_t seed);

}  // namespace svengine::validate
