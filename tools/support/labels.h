// Names of classes, and the best few of a row of scores.
#pragma once
#include <string>
#include <vector>

#include "engine/base/tensor.h"

namespace svengine::tool {

/// One label a line; a file of a size that no list of labels has is refused.
Result<std::vector<std::string>> load_labels(const std::string& path);

struct Candidate {
  int64_t index = 0;
  double score = 0;        // as the network gives it
  double probability = 0;  // the score itself where the row is a distribution already, else softmax of the row
};

/// The `count` highest of scores[begin, begin + size), best first; equal scores in the order of their indices; NaN last.
std::vector<Candidate> best_of(const Tensor& scores, int64_t begin, int64_t size, size_t count);

/// "class 7", or its label.
std::string label_of(const std::vector<std::string>& labels, int64_t index);

}  // namespace svengine::tool
