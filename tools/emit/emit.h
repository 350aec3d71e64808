// A graph as C: one source without dependencies but the C library, and its header.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine::tool::emit {

struct Emitted {
  std::string header, source;
  int64_t workspace_bytes = 0;  // NAME_WORKSPACE_BYTES
  int64_t constant_bytes = 0;
  int64_t multiply_adds = 0;    // of products and convolutions
  std::map<std::string, int> operators;  // how many nodes of each
};

/// `name`, an identifier, begins all names of the file. `model` is what a comment says the file was made of. All shapes are concrete; every node
/// that cannot be written is in the one error.
Result<Emitted> emit_c(const Graph& graph, const std::string& name, const std::string& model);

}  // namespace svengine::tool::emit
