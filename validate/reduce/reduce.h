// The smallest model that still has a fault.
//
//   1. bisection    halves of the nodes, as long as one has the fault alone: a fault of one node is found in 2 log2(nodes) checks; then the
//                   shortest beginning of what is left, and the shortest end of that
//   2. ddmin        of the nodes that are left (ddmin.h), until none can go
//   3. simplifying  outputs, optional inputs and attributes (which get their defaults) that can go, one by one; if wanted, inputs that can be
//                   weights with the recorded values
//   4. shrinking    bodies of control flow, nodes within them, sizes, weights: shrink.h
//
// Values that lose the nodes which computed them become inputs, with what they were in a recorded run as data (cutter.h, recording.h).
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "importers/onnx/onnx_file.h"
#include "validate/compare/compare_tensors.h"
#include "validate/reduce/cutter.h"
#include "validate/reduce/recording.h"
#include "validate/reduce/shrink.h"

namespace svengine::validate {

/// A candidate on the disk.
struct Candidate {
  std::string model;                         // its path; test_data_set_0 is beside it
  std::vector<std::string> inputs, outputs;
  /// It computes what a part of the whole model computes, so its outputs are to be those that were recorded; else test_data_set_0 has none.
  bool exact = true;
  const Recording* data = nullptr;           // of its inputs
};

/// Whether a candidate still has the fault. An error ends the reduction.
using FaultCheck = std::function<Result<bool>(const Candidate&)>;

struct ReduceProgress {
  std::string stage;
  int nodes = 0;       // of the smallest model with the fault so far
  int64_t checks = 0;
  double seconds = 0;
};

struct ReduceOptions {
  std::string scratch;      // an empty folder for candidates
  double max_seconds = 0;   // 0: no limit; a check that has begun is finished
  bool write_data = true;   // test_data_set_0 beside every candidate
  bool freeze = false;      // inputs become weights with the recorded values where the fault stays
  bool exact = false;       // only parts of the whole, with all of their attributes, inputs, sizes
  SessionOptions session = {};  // computes the outputs of a reduced model that is not exact
  std::function<bool()> stop = {};
  std::function<void(const ReduceProgress&)> progress = {};
};

struct ReduceReport {
  int nodes_before = 0, nodes_after = 0;
  int dropped_attributes = 0, dropped_inputs = 0, dropped_outputs = 0, frozen_inputs = 0;
  int64_t checks = 0;
  double seconds = 0;
  bool complete = false;                     // false: time was up, or somebody stopped it
  std::vector<std::string> operators;        // of the nodes that are left
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> without_data;     // of these inputs, those that were not recorded
  ShrinkReport shrunk;
  bool exact = true;                         // as Candidate's
  Recording data;                            // of inputs and outputs
};

/// `file` holds the reduced model afterwards, to be written by save_reduced(). Fails where the whole model has no fault.
Result<ReduceReport> reduce_model(onnx::OnnxFile& file, const Recording& recording, const FaultCheck& check, const ReduceOptions& options);

/// folder/reduced.onnx, and folder/test_data_set_0 with input_i.pb and output_i.pb: what the recorded run had, or, where the model is no part of
/// the whole any more, what it computes by itself (no outputs where it cannot be run).
Status save_reduced(const onnx::OnnxFile& file, const ReduceReport& report, const std::string& folder);

/// The fault "its outputs are not those that another run of it has": runs candidates with both. Candidates that cannot be run have it not; of
/// the first, the whole model, that is an error.
FaultCheck differs_between(const SessionOptions& session, const SessionOptions& reference, const Tolerance& tolerance);

/// The fault "its outputs are not those that were recorded": runs candidates with `session`, as above. Those that are not exact have it not:
/// nobody knows what they should compute.
FaultCheck differs_from_recording(const Recording& recording, const SessionOptions& session, const Tolerance& tolerance);

}  // namespace svengine::validate
