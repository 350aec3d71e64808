// What rounding between the nodes of a fused step, and between those of a body, does to its output.
//
// A step that computes several nodes of the file rounds once what they round one by one. Where numbers nearly cancel on the way, that tells: the
// mean of 3000 and 3010 may be off by a unit in the last place, 1e-4, and the two normalised numbers, which are 1 and -1 for all inputs that are
// nearly these, then by 2e-5. No disturbance of the step's inputs moves them; one of the mean does. A body is optimised as any graph is, and a
// Loop hands what it rounds from trip to trip.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "engine/graph/graph.h"
#include "runtime/session.h"

namespace svengine::validate {

/// What a node of the file reads and no other of the step makes; undefined: nobody has it.
using ReadValue = std::function<Result<Tensor>(const Value&)>;

/// `output` of the last of `nodes`, which are run one by one, unfused, in their order. What each makes, and what the nodes of its bodies make, is
/// changed at random by as much as precision.h explains of it, the same for the same seed, and not at all without one. Nothing where a node reads
/// what nobody has.
Result<std::optional<Tensor>> rounded_within(const std::vector<const Node*>& nodes, const Value& output, const ReadValue& read,
                                             const SessionOptions& options, std::optional<uint64_t> seed);

}  // namespace svengine::validate
