// Limits for who runs what he does not trust: on the memory that tensors, packed weights and arenas take, and on time. They are the process's, and
// off unless set. Thread-safe.
//
// Memory is refused when it is asked for, so before anything is computed in it: plans take all of theirs before a run, and a run whose shapes
// come with the data takes that of its next part before that part. Not counted: pages of mapped files, the graph, strings.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "engine/base/status.h"

namespace svengine {

/// Bytes that may be in use at one time, beyond what is in use now; 0: any number.
void set_memory_limit(size_t bytes);
/// What allocate_aligned() and arenas have given out and not got back.
size_t memory_in_use();

/// For allocators, before they ask the system: false when the limit does not leave that much.
bool take_memory(size_t bytes);
/// The same without a limit.
void count_memory(size_t bytes);
/// The counterpart of both, when the memory is back.
void give_back_memory(size_t bytes);
/// As allocate_aligned(), counted but never refused for the limit: for a few bytes whose lack is no answer (shapes, scalars).
std::shared_ptr<std::byte> allocate_beyond_limit(size_t bytes);
/// For messages: ": 6.0 MiB are over the limit of 8.0 MiB, of which 4.0 MiB are in use", or nothing where the limit is not the reason.
std::string memory_limit_text(size_t bytes);

/// From now on; 0: no limit.
void set_time_limit(double seconds);
/// Fails when the time is over. Asked before every part of a run, and so in every trip of a loop.
Status check_time_limit();

}  // namespace svengine
