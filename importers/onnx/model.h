// What an ONNX file holds: the graph in canonical form, and what the file says of itself.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine {

struct OpsetImport {
  std::string domain;  // "" is ai.onnx
  int64_t version = 0;
};

/// Texts are as in the file, except that control characters and what is not UTF-8 are shown as \xNN.
struct Model {
  Graph graph;
  std::string path;  // empty when imported from bytes
  int64_t ir_version = 0;
  std::vector<OpsetImport> opsets;
  std::string producer_name, producer_version;
  std::string domain;
  int64_t model_version = 0;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  /// What is odd about the file, though it could be read: for the user's eyes.
  std::vector<std::string> warnings;
};

}  // namespace svengine
