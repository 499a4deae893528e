// A process that does the runs of others, one after the other, with devices that stay open.
#pragma once

#include <string>

namespace impipe::cli::serve {

struct ServerOptions {
  std::string socket;   // its path; empty: in XDG_RUNTIME_DIR
  std::string devices;  // that are opened at once, as --device names them; empty: any GPU
  std::string idle;     // seconds without a run after which it ends, as text
  // "4,5" of a server that began itself anew: its socket, and what keeps others from it.
  std::string listener;
};

// Serves until nothing has come for so long, or a signal ends it. Throws Error where it can't
// begin.
int serve(const ServerOptions& options);
// Whether this process does that.
bool is_server();

}  // namespace impipe::cli::serve
