// Handles of the C interface: what a program holds is no address but the number of a place in a table, with the count of how often the place was
// used. So a handle that is null, of another kind, or freed before is known as such, whatever lies in memory by then.
//
//     handle   | used 24 bits | place 24 bits | kind 8 bits |      on the table's side: used, kind, object
//
// Looking one up takes no lock. Freeing an object while another thread calls with it is an error that nobody can find: as with any handle.
#pragma once
#include <cstdint>

namespace svengine {

enum class HandleKind : uint8_t { none, network, context, trainer };

/// A new handle of the object; null when the table or memory is full.
void* make_handle(HandleKind kind, void* object) noexcept;
/// The object; null when the handle is none of a living object of that kind.
void* object_of(HandleKind kind, const void* handle) noexcept;
/// The same, and the handle is void from now on.
void* release_handle(HandleKind kind, const void* handle) noexcept;

}  // namespace svengine
