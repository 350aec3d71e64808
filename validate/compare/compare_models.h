// Where does a model first compute something else than a reference does?
//
//   reference, node by node:      x ──> conv ──> a ──> norm ──> b ──> relu ──> c ──> ...    values with names
//                                 │                                            │
//   tested, on the reference's x: ├──> [conv + norm + relu] ──> c' ── compare ─┤            LOCAL error: this step's own
//                                 │                                            │
//   tested, on its own x:         └──> [conv + norm + relu] ──> c" ── compare ─┘            ACCUMULATED: what has come together
//                                                               └──> ... the next step
//
// Both runs proceed in lockstep, a step of the tested engine and the reference's nodes up to it at a time, so that of each run
// only those values are kept that something still reads. What is compared is every value that exists in both: the tested engine
// keeps its fusions (tested_graph.h). A step whose local error is more than precision explains (precision.h) is guilty. Where it
// computes several nodes of the file, these are then run one by one, unfused, on the reference's inputs: the first that is guilty
// by itself is named; if none is, the fault is in what fusing them made.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "validate/compare/difference.h"
#include "validate/compare/precision.h"
#include "validate/compare/reference.h"

namespace svengine::validate {

constexpr double kCoarse = 16;

struct CompareOptions {
  SessionOptions tested;
  /// Both, where given, in place of what precision explains, for local and accumulated errors. Without them an output may be off
  /// by 1e-3 of an element and 1e-5 of its largest one, as in `svengine test`; where the network has float16 and the like, or
  /// quantises, by kCoarse times what precision explains of its worst step.
  std::optional<double> rtol, atol;
  /// Steps are planned alone; this runs the network once more as a session runs it, with layouts and memory planned for the whole, and compares
  /// its outputs. Not where the network has random nodes.
  bool whole = false;
};

/// A node of the file, for people: made printable.
struct NodeName {
  std::string name, op;
};

struct ComparedValue {
  std::string value;
  NodeName node;                  // that makes it, in the file
  std::vector<NodeName> fused;    // all nodes of the file that the step computes; one: it is not fused
  std::string kernels;            // operator of the step in the engine's graph
  Difference local, accumulated;  // of the second, `over` counts elements beyond svengine::validate::Tolerance
  bool has_local = false;         // false: the reference has not all that the step reads
  std::string problem;            // the step cannot be computed from the reference's inputs
  double explained = 0;           // e of precision.h
  bool random = false;            // the step gives other numbers each time: the tested engine goes on with the reference's
  bool by_condition = false;      // the local error is over, but disturbing the inputs, or what is between the nodes, explains it
  bool guilty = false;
};

/// What is known of a step whose local error is not explained.
struct Guilt {
  size_t at = 0;                  // of Report::values
  std::optional<NodeName> node;   // nothing: none of the step's nodes alone, but what fusing made of them
  std::string value;              // that it makes
  Difference difference;          // its local error, when run by itself
  std::string problem;            // in place of a difference: "cannot be computed: ..."
  std::vector<NodeName> between;  // nodes before it, back to values that the reference has, whose own values it has not
};

struct ComparedOutput {
  std::string name;
  Difference accumulated;
  bool compared = false;  // false: the reference has no such value
  std::optional<Difference> whole;  // of the network run whole, to the same bounds; beside its own steps where the reference has no such value
};

struct CompareReport {
  std::vector<ComparedValue> values;  // in the order in which the tested engine computes them
  std::vector<ComparedOutput> outputs;
  std::optional<Guilt> first;  // the first guilty step, looked at closely
  size_t guilty = 0;
  size_t steps = 0;              // of the tested engine
  size_t without_reference = 0;  // values of the tested engine that the reference has not
  bool steps_passed() const;     // no node is guilty, and the steps' outputs are right
  bool passed() const;           // so are those of the whole
};

/// `model`: as imported. `inputs`: its. Fails where one of the sides cannot be run.
Result<CompareReport> compare_with(const Graph& model, const std::vector<Tensor>& inputs, Reference& reference,
                                   const CompareOptions& options);

}  // namespace svengine::validate
