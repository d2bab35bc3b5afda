// Ctrl-C and a request to end, for commands that can stop and go on later.
#pragma once

namespace boolgrad::cli {

/// From now on the first such signal only sets a flag. Asked a second time, the program ends at
/// once.
void watch_for_interruption();

/// Whether one came.
bool interrupted();

}  // namespace boolgrad::cli
