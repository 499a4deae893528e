// SIGINT and SIGTERM: the first asks the run to stop, a second one ends the program at once. No
// partial file stays in either case.
#pragma once

namespace impipe::cli {

// Also ignores SIGPIPE and SIGXFSZ: a closed stdout, or a file larger than the limit (ulimit -f),
// is an error of `write`.
void install_signal_handlers();
// While true, the first signal only asks for a stop; else it ends the program at once.
void let_running_work_end(bool let);
// The signal that asked for a stop, or 0. Any thread.
int stop_signal();

}  // namespace impipe::cli
