// Does a converted model compute what the original computes?
#pragma once
#include <string>
#include <vector>

#include "runtime/session.h"
#include "validate/compare/compare_tensors.h"
#include "validate/convert/convert.h"

namespace svengine::validate {

struct VerifiedOutput {
  std::string name;  // the original's
  Comparison comparison;
};

/// An error where writing `output` replaces the model at `original`: afterwards there would be nothing to compare it with but itself.
Status check_can_verify(const std::string& original, const std::string& output);

/// Runs the written model and the one at `original`, with the same cut (options.from, options.to), on the same inputs: those of `written`, in its
/// order and types. Outputs are compared in the original's types, and to the precision of the type that values have now. The cut original is held
/// in a file beside `output` for a while. One model after the other is run, node by node: beside what the files map, no more weights are in memory
/// than a node's, packed or widened. Nodes that draw numbers draw the same in both, where they have kept the names of their outputs.
Result<std::vector<VerifiedOutput>> verify_converted(Graph written, const std::vector<Tensor>& inputs, const std::string& original,
                                                     const std::string& output, const ConvertOptions& options,
                                                     SessionOptions session);

}  // namespace svengine::validate
