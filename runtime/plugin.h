// Shared libraries that bring operators along: svengine/operators.h.
#pragma once
#include <string>

#include "engine/base/status.h"

namespace svengine {

/// Not in a program of one static file, where a second C library would come along with a plug-in and be at odds with its own.
bool can_load_plugins();

/// Loads the file and registers its operators for the whole process; one that is loaded already is no error. The caller's floating-point mode stays,
/// whatever the library's initialisers do. Refuses what is no plug-in or one of another version. Thread-safe.
Status load_plugin(const std::string& path);

}  // namespace svengine
