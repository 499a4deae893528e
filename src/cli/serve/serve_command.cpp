// impipe serve: keeps a card warm for shell loops.
#include "cli/command.hpp"
#include "cli/serve/server.hpp"

namespace impipe::cli {

void add_serve(CommandSet& commands) {
  Command& command = commands.add("serve");
  command.usage = "impipe serve";
  command.summary = "Keep a card open for the runs of a shell loop (--via)";
  command.examples =
      "impipe serve --device cuda:0 &\n"
      "for f in *.png; do impipe --via 'imgaussfilt 2' \"$f\" -o out/ --device cuda:0; done\n";
  command.notes =
      "Runs with --via, or with IMPIPE_SERVE=1, are done by it one after the other, as if they "
      "were "
      "local:\ntheir folder, files, umask and variables are theirs, and so are signals and "
      "exit codes.\nWhere there is no server, where it has another build, other limits or is at "
      "work for longer, a run\nis done locally, and says so. SIGTERM ends the server.\n";
  auto options = std::make_shared<serve::ServerOptions>();
  options->idle = "600";
  CLI::App* app = command.app;
  option(app, "--socket", options->socket, "PATH",
         "Listen there, in a folder that is yours alone (default: impipe.sock in XDG_RUNTIME_DIR); "
         "runs have it from IMPIPE_SOCKET");
  option(app, "--idle", options->idle, "SECONDS",
         "End when nothing has come for so long (default 600)");
  option(app, "--device", options->devices, "ID",
         "Open these devices at once: one of impipe devices, or several (default: any GPU)")
      ->transform(auto_as_none);
  app->add_option("--listener", options->listener)->group("");  // of a server that begins anew
  command.run = [options] { return serve::serve(*options); };
}

}  // namespace impipe::cli
