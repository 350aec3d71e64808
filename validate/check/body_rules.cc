// Bodies of If, Loop and Scan: as many values in and out as their node has.
#include <algorithm>

#include "importers/io/names.h"
#include "validate/check/context.h"

namespace svengine::validate {
namespace {

using onnx_proto::NodeProto;

/// Names at the end that are empty stand for nothing.
int present(const google::protobuf::RepeatedPtrField<std::string>& names) {
  int count = names.size();
  while (count > 0 && names.Get(count - 1).empty()) --count;
  return count;
}

int64_t int_attribute(const NodeProto& node, std::string_view name, int64_t otherwise) {
  for (const auto& a : node.attribute())
    if (a.name() == name && a.has_i()) return a.i();
  return otherwise;
}

void check_if(Context& c, const Body& around, const Body& branch) {
  const NodeProto& node = around.nodes->Get(branch.owner);
  if (branch.graph->input_size() > 0)
    c.add("if-arity", around, branch.owner,
          fmt::format("{} declares {} inputs; a branch takes what it needs from around it", printable(branch.attribute, 60),
                      branch.graph->input_size()));
  if (branch.graph->output_size() != node.output_size())
    c.add("if-arity", around, branch.owner,
          fmt::format("{} gives {} outputs, the node has {}", printable(branch.attribute, 60), branch.graph->output_size(),
                      node.output_size()));
}

/// Inputs: trip count, condition, carried values. The body takes trip number, condition and the carried ones; it gives condition, carried
/// values and what is put together over the trips.
void check_loop(Context& c, const Body& around, const Body& body) {
  const NodeProto& node = around.nodes->Get(body.owner);
  const int carried = std::max(present(node.input()), 2) - 2;
  const int inputs = body.graph->input_size(), outputs = body.graph->output_size();
  if (inputs != carried + 2)
    c.add("loop-arity", around, body.owner,
          fmt::format("the body takes {} inputs; trip number, condition and {} carried values are {}", inputs, carried, carried + 2));
  if (outputs < carried + 1)
    c.add("loop-arity", around, body.owner,
          fmt::format("the body gives {} outputs; a condition and {} carried values are {}", outputs, carried, carried + 1));
  else if (node.output_size() != outputs - 1)
    c.add("loop-arity", around, body.owner,
          fmt::format("the node has {} outputs, the body gives {} besides the condition", node.output_size(), outputs - 1));
}

void check_scan(Context& c, const Body& around, const Body& body) {
  const NodeProto& node = around.nodes->Get(body.owner);
  // In opset 8 the sequences' lengths come first.
  const int first = c.opset_of(around, node.domain()) < 9 ? 1 : 0;
  const int inputs = present(node.input()) - first;
  const int64_t scanned = int_attribute(node, "num_scan_inputs", 0), states = inputs - scanned;
  if (scanned < 1 || states < 0) {
    c.add("scan-arity", around, body.owner, fmt::format("num_scan_inputs is {}, the node has {} inputs", scanned, inputs));
    return;
  }
  if (body.graph->input_size() != inputs)
    c.add("scan-arity", around, body.owner, fmt::format("the body takes {} inputs, the node has {}", body.graph->input_size(), inputs));
  if (body.graph->output_size() < states)
    c.add("scan-arity", around, body.owner,
          fmt::format("the body gives {} outputs; {} state variables go through it", body.graph->output_size(), states));
  else if (node.output_size() != body.graph->output_size())
    c.add("scan-arity", around, body.owner,
          fmt::format("the node has {} outputs, the body gives {}", node.output_size(), body.graph->output_size()));
}

}  // namespace

void check_bodies(Context& c) {
  for (const Body& body : c.bodies) {
    if (body.parent < 0 || !body.graph) continue;
    const Body& around = c.bodies[static_cast<size_t>(body.parent)];
    const Schema* schema = c.schema_of(around, around.nodes->Get(body.owner));
    if (!schema || !schema->domain.empty()) continue;
    if (schema->name == "If") check_if(c, around, body);
    if (schema->name == "Loop") check_loop(c, around, body);
    if (schema->name == "Scan") check_scan(c, around, body);
  }
}

}  // namespace svengine::validate
