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

/// One operator in a file, whether the engine takes it or not.
struct OperatorUse {
  std::string domain, name;
  int64_t nodes = 0;    // those of bodies and functions too
  std::string problem;  // empty: it is known, in the opset that the file imports
};

/// What can be said of a file without reading its weights or building its graph, so of a refused one too.
struct FileSurvey {
  Model model;  // without a graph
  std::vector<OperatorUse> operators;
  std::vector<std::pair<std::string, std::string>> inputs, outputs;  // names and types as declared, or why a type cannot be
  int64_t initializers = 0;
};

}  // namespace svengine
