// Bodies (of an If, Loop or Scan) whose nodes round otherwise.
#pragma once
#include "engine/graph/graph.h"

namespace svengine::validate {

/// The node's attributes, but what a node of its bodies makes, bodies within bodies included, is changed at random by as much as precision.h
/// explains of that node: the same for the same seed, and in every trip.
Attributes with_rounded_bodies(const Node& node, uint64_t seed);

}  // namespace svengine::validate
