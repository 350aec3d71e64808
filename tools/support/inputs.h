// The inputs of a run: from files, or random.
#pragma once
#include <string>
#include <vector>

#include "runtime/session.h"
#include "tools/support/options.h"
#include "validate/inputs/random_inputs.h"

namespace svengine::tool {

using validate::find_index_bounds, validate::IndexBounds;

std::vector<Session::Port> input_ports(const Graph& graph);

struct Inputs {
  std::vector<Tensor> tensors;         // in the order of the ports
  std::vector<std::string> random;     // names of those made up
  uint64_t seed = 0;                   // with this seed
  std::vector<std::string> notes;      // what was assumed: sizes of symbolic dimensions
  std::vector<std::string> assumed;    // the options that would have said so: "--dim N=SIZE"
};

/// What is not given is random (validate::random_input()). Shapes come from files, --shape, --dim, and are 1 where nothing is said.
Result<Inputs> make_inputs(const std::vector<Session::Port>& ports, const InputOptions& options, const IndexBounds& bounds);

/// What was assumed, and which inputs are random with which seed, on standard error.
void print_notes(const Inputs& inputs);

/// The names given by NAME=FILE options, whether the network has them or not.
std::vector<std::string> names_of_files(const InputOptions& options);

}  // namespace svengine::tool
