// Turns the text of a pipeline into a Script.
//
//     pipeline := [ stage { '|' stage } ]     nothing hands images on as they are; in a file it is
//                                             an error
//     stage    := name { argument }
//     argument := [ name '=' ] item { ',' item }
//     item     := number [ '%' ] | range | word [ ':' item ] | quoted | matrix
//               | '@' ( path | quoted ) | ':' name | '$' name | letter number
//     range    := number ':' number [ ':' number ]
//     matrix   := '[' row { ';' row } ']' [ '/' number ]     a line's end also ends a row
//     quoted   := '…' | "…"                                  a doubled quote stands for one
//
// Arguments are separated by white space, which includes line ends; it may follow a comma, and
// stand around '|'. A word is letters, digits, any of _./-+%*#~{}@?^!\ and anything beyond ASCII;
// between braces a colon too, as in {index:05}.
#pragma once

#include <string_view>

#include "pipeline/script.hpp"

namespace impipe::pipeline {

// Pipeline files may hold comments: '#' where a word could start, up to the end of the line.
enum class TextKind { command_line, file };

// Any text gives a Script or throws an Error that shows the place. `origin` names the text in
// errors: "pipeline", or the file's path.
Script parse(std::string_view text, std::string_view origin = "pipeline",
             TextKind kind = TextKind::command_line);

}  // namespace impipe::pipeline
