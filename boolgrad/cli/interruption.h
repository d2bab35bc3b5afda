// Handles SIGINT and SIGTERM for commands that can be resumed.
#pragma once

namespace boolgrad::cli {

/// Installs the handlers. The first signal sets a flag, the second one ends the program.
void watch_for_interruption();

/// Whether a signal was received.
bool interrupted();

}  // namespace boolgrad::cli
