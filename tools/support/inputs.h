// The inputs of a run: from files, or random.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "runtime/session.h"
#include "tools/support/options.h"

namespace svengine::tool {

/// What a network does with an integer input that it uses as indices: they are below this number. Read off the imported graph.
using IndexBounds = std::map<std::string, int64_t>;
IndexBounds find_index_bounds(const Graph& graph);

std::vector<Session::Port> input_ports(const Graph& graph);

struct Inputs {
  std::vector<Tensor> tensors;         // in the order of the ports
  std::vector<std::string> random;     // names of those made up
  uint64_t seed = 0;                   // with this seed
  std::vector<std::string> notes;      // what was assumed: sizes of symbolic dimensions
};

/// Random inputs: reals in [-0.5, 0.5); indices into a table anywhere in it; integers whose name has "mask" are ones, others
/// zeros. Shapes come from files, --shape, --dim, and are 1 where nothing is said.
Result<Inputs> make_inputs(const std::vector<Session::Port>& ports, const InputOptions& options, const IndexBounds& bounds);

/// What was assumed, and which inputs are random with which seed, on standard error.
void print_notes(const Inputs& inputs);

/// The names given by NAME=FILE options, whether the network has them or not.
std::vector<std::string> names_of_files(const InputOptions& options);

}  // namespace svengine::tool
