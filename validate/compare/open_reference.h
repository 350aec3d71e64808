// What a model is compared with, from what people call it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "validate/compare/match_values.h"
#include "validate/compare/reference.h"

namespace svengine::validate {

/// A name for the same model, node by node, on the kernels under test.
inline constexpr const char* kNoOptimize = "no-optimize";

/// Does a path stand for recorded values (recorded.h), and not for a model? A folder or an .npz.
bool is_recorded(const std::string& path);

struct OpenedReference {
  std::unique_ptr<ValueMatch> match;  // of another model's values, else null; the reference looks at it
  std::unique_ptr<Reference> reference;
  std::string description;            // printable
  std::vector<std::string> warnings;  // of another model's file
};

/// `against`: a kernel set's name or kNoOptimize, the path of recorded values, or that of a model. `inputs` are the model's;
/// those of another model are the ones matched with them, in its types. References that are computed sum convolutions themselves
/// (SessionOptions::exact_convolution) and call `witness`; recorded ones do not.
Result<OpenedReference> open_reference(const std::string& against, const Graph& model, const std::vector<Tensor>& inputs,
                                       const SessionOptions& tested, Witness witness = {}, bool strict = false);

}  // namespace svengine::validate
