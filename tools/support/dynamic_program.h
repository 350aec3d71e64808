// Plug-ins and the program of one static file.
#pragma once

namespace svengine::tool {

/// Where the command line names plug-ins and this program cannot load any, being one static file: goes on as `svengine-dynamic`, the same
/// program for the dynamic loader, in the same folder. Returns where nothing is to be done, or there is no such program; loading then says
/// so.
void become_dynamic_for_plugins(int argc, char** argv);

}  // namespace svengine::tool
