// The graphs that are attributes of a node, as passes change them.
#pragma once
#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "engine/graph/graph.h"

namespace svengine {

/// The attribute that says how many values the bodies of a node capture of the graph around it: the node's last inputs, and the last ones
/// of every body, in the same order.
inline constexpr const char* kCaptured = "captured";

inline bool has_body(const Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(),
                     [](const auto& entry) { return std::holds_alternative<Subgraph>(entry.second); });
}

/// A copy of a body, and the attribute that it is.
struct Body {
  std::string name;
  Graph graph;
};

inline std::vector<Body> bodies_of(const Node& node) {
  std::vector<Body> out;
  for (const auto& [name, value] : node.attributes)
    if (const Subgraph* body = std::get_if<Subgraph>(&value)) out.push_back({name, (*body)->clone()});
  return out;
}

/// Gives the copies back.
inline void set_bodies(Node& node, std::vector<Body> bodies) {
  for (Body& b : bodies) node.attributes.set(b.name, Subgraph(std::make_shared<const Graph>(std::move(b.graph))));
}

}  // namespace svengine
