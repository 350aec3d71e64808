// The lists that changes_of joins, one for everything that a node consists of.
#pragma once
#include "tests/hostile/relatives.h"

namespace svengine::tests {

/// Dimensions 0, 1, 2^31, 2^62, symbolic and unknown: one alone, and all that are of one size.
void add_dimension_changes(const Relative& sample, std::vector<Change>& changes);
/// One dimension less or more, none, eight, unknown.
void add_rank_changes(const Relative& sample, std::vector<Change>& changes);
/// Shapes that only a run shows: by which an operand would broadcast to more than the output that was inferred, or that others are not
/// compared with.
void add_undeclared_shapes(const Relative& sample, std::vector<Change>& changes);
/// Inputs that are not there, inputs that are constants, other numbers of outputs.
void add_presence_changes(const OpDef& op, const Relative& sample, std::vector<Change>& changes);
void add_type_changes(const Relative& sample, std::vector<Change>& changes);
/// Elements of inputs: known ones (shapes, axes, indices) one by one and all together, others all together.
void add_value_changes(const Relative& sample, std::vector<Change>& changes);
void add_attribute_changes(const OpDef& op, const Relative& sample, std::vector<Change>& changes);

/// 0, -1, the limits, and what overflows when it is multiplied.
inline constexpr int64_t kHostileIntegers[] = {
    0, 1, -1, 2, 7, int64_t{1} << 31, -(int64_t{1} << 31), int64_t{1} << 62, INT64_MAX, INT64_MIN};

}  // namespace svengine::tests
