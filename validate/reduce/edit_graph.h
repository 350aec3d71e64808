// Edits of a graph that change what it computes: bodies in place of the control flow around them, and nodes that are passed by.
//
//   bypass {Tanh}:    x ── Mul ── Tanh ── Add ── y     becomes    x ── Mul ── Add ── y
//
// Whether the result is a model is for the importer to say: types are not looked at here.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "onnx_proto/svengine_onnx.pb.h"

namespace svengine::validate {

/// The graph and the bodies within, each before those of its own nodes.
void for_each_graph(onnx_proto::GraphProto& graph, const std::function<void(onnx_proto::GraphProto&)>& visit);

/// Leaves only the nodes with these numbers (ascending); who has read an output of another reads what stands at its place among that node's
/// inputs, or the node's first input, instead. Outputs of the graph that nobody computes any more are these inputs where nodes that are left
/// compute them, else copies (Identity). False where a node that is read has nothing that could stand for it.
bool bypass(onnx_proto::GraphProto& graph, const std::vector<int>& kept);

/// Puts the nodes of a body in the place of its node: of a branch of an If, or of a Loop, whose first trip it then is. False for others.
bool inline_body(onnx_proto::GraphProto& graph, int node, const std::string& attribute, int opset);

/// Takes away nodes, weights and inputs of a model's graph that nobody reads; nodes one after the other, from the last.
void drop_unread(onnx_proto::GraphProto& graph);

}  // namespace svengine::validate
