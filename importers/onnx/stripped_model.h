// A model's bytes without its weights, for protobuf to parse.
//
// Protobuf would copy every tensor into objects of its own. So a scanner walks the file's wire format first and writes a
// stripped_model: the same ModelProto, in which every TensorProto is nothing but its name and, in raw_data, the place of the
// original in the file:
//
//   file:      graph{ node.. initializer{ name dims raw_data[98 MB] } .. }
//                                ^ offset, length
//   stripped_model:  graph{ node.. initializer{ name raw_data[offset, length] } .. }
//
// What the importer does not take is left out as well, which bounds what hostile bytes can make of memory and stack: unknown
// fields; the contents of lists of sparse and other tensors and types in attributes, and of training_info (all these stay as empty messages,
// so that they can be reported). Bodies and functions are stripped as the graph is, to a bounded depth. What stays is
// charged with the memory that protobuf will need for it, and refused beyond `max_cost`.
#pragma once
#include <string>

#include "engine/base/status.h"
#include "importers/onnx/wire.h"

namespace svengine::onnx {

inline constexpr size_t kMaxCost = size_t{1} << 30;

/// What of a file the stripped model has.
enum class Keep : uint8_t {
  what_runs,   // what the importer takes, as above
  everything,  // but the contents of tensors: for what writes the model again
};

/// The stripped model of a serialised ModelProto. Linear in the bytes of the structure: weights are stepped over.
Result<std::string> make_stripped_model(Bytes model, size_t max_cost = kMaxCost, Keep keep = Keep::what_runs);

/// Where a TensorProto of the stripped model lies in the file, from its raw_data.
struct TensorPlace {
  size_t offset = 0;
  size_t size = 0;
};
Result<TensorPlace> place_from(const std::string& raw_data);

}  // namespace svengine::onnx
