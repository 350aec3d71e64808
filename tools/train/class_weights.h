// The weights of classes in a loss, from the command line.
#pragma once
#include <string>
#include <vector>

#include "engine/base/status.h"

namespace svengine::tool {

/// "1,2.5,1", or the name of a file: .npy of float32 or float64, else text with numbers between blanks, commas or line ends. Errors
/// name the file, and what in it is no number.
Result<std::vector<float>> parse_class_weights(const std::string& text);

}  // namespace svengine::tool
