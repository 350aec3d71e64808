// A random graph as a careless or damaged file may hold it: constants of other lengths and ranks, other attributes, inputs of other shapes than
// were meant, and inputs of which no shape is declared, so that nothing but the run itself could have told that something does not fit.
//
// Passes read constants when a model is loaded. What they take for granted of them ("as many numbers as the image has channels") must have
// been looked at by then, also where the image's shape is not known yet: a damaged tensor ends at a page that cannot be read.
#pragma once
#include "tests/differential/graph_maker.h"

namespace svengine::differential {

/// A tensor of the same elements, or some of them, or some of them again, that ends at a page that cannot be read; the same tensor where that
/// would be too large for a test.
Tensor with_dims(const Tensor& t, Dims dims);
Tensor with_other_dims(const Tensor& t, Choices& choose);

/// Damages some leaves and attributes, those of bodies too, always the same of a seed and their names, and computes all values anew. Where a node
/// then refuses its inputs, `refused` says why. False where inference refuses it too, for no importer gives such a graph to a session, and where
/// it is too large for a test or a body computes what it need not.
bool damage(RandomGraph& random, uint64_t seed, const kernels::KernelTable& kernels);

}  // namespace svengine::differential
