// A process that was forked off one with an OpenMP team has the team's records, not its threads: libgomp would wait for them for ever. Who
// starts a team asks here first.
#pragma once

namespace svengine {

/// Before this process starts threads. Cheap, thread-safe.
void note_team_start();

/// This process was forked after its parent had started threads.
bool lost_threads_by_fork();

}  // namespace svengine
