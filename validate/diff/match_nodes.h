// The steps of match.h that pair nodes.
#pragma once
#include "validate/diff/match.h"

namespace svengine::validate {

/// Partners of the nodes, by their hashes, neighbours, names and order.
Pairs match_nodes(const DiffGraph& a, const Fingerprints& prints_a, const DiffGraph& b, const Fingerprints& prints_b);

/// The longest common subsequence of two lists, as pairs of positions that grow in both.
std::vector<std::pair<int, int>> common_subsequence(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b);

}  // namespace svengine::validate
