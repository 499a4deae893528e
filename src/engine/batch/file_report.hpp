// What is told of a file when its work has come to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace impipe::engine {

enum class FileState { done, skipped, failed };

// How a file ended.
struct FileReport {
  using State = FileState;
  State state = State::done;
  std::int64_t index = 0;        // from 0, in the order of the inputs
  std::filesystem::path input;   // as opened; a source's name when there is no input
  std::filesystem::path output;  // empty when none is written
  std::string stage;             // failed: "decode", "plan", "compute", "encode"
  std::string message;           // failed: why
  // Of a stream: the frame, from 1, that this is about; each frame that is done has a report, in
  // their order, and then the file, with frame 0 and how many there were.
  std::int64_t frame = 0, frames = 0;
  std::int64_t joined = 0;  // bytes that went behind others into `output`
  int tries = 1;            // more where the first failed for a reason that might pass
  // What was measured of the file, or of each of its pages or objects.
  struct Row {
    int page = 0;       // from 1; 0: of a file of one page
    std::string table;  // the one that the row is of, where there are several; else empty
    std::vector<std::string> columns;  // names of the measurements
    // One a column; none for the last ones, a table's.
    std::vector<double> values;
    std::vector<double> objects;  // those of the table's columns, object after object
    std::string hash;             // of the result's pixels, with --hash
    // A measurement that no column or file has, as a histogram.
    struct Array {
      std::string name;
      int channels = 1;
      std::int64_t values = 0;      // a channel
      int columns = 1;              // above 1: the values of a channel are a matrix, row by row
      bool may_be_saved = false;    // -o would write it
      std::vector<double> numbers;  // [channels][values]
    };
    std::vector<Array> arrays;  // of several rows of a file or page the first has them
  };
  std::vector<Row> rows;
  std::span<const std::byte> bytes;  // the encoded result, when it goes to stdout
  std::int64_t clipped = 0;          // values that the output's class cannot hold
  std::vector<std::string> notes;    // what else the user should know of it
  std::vector<std::string> lost;     // what the input has beside its pixels, and the output has not
};

}  // namespace impipe::engine
