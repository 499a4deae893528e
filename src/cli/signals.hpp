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

// As the first signal does; false where work may not end by itself, or one came before. Any thread.
bool ask_to_stop(int signal);
// What is said on stderr when the process, or the run, ends at once.
void say_ended_by(int signal);
// Ends the process at once, for signal handlers too.
[[noreturn]] void leave(int code);

// For processes that do not do a run alone. `end` is called by `leave` before the process ends; a
// stop is told to `socket` as well, as the signal's number; and before another run begins signals
// of the one before are forgotten.
void leave_by_way_of(void (*end)(int code));
void forward_signals_to(int socket);
void forget_signals();

}  // namespace impipe::cli
