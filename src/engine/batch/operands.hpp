// The second inputs of a pipeline: what `--with b=PATH` means for each file.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/codec.hpp"
#include "io/files/file_stamp.hpp"
#include "io/files/read_picture.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::engine {

// One `--with NAME=PATH`. A file serves all inputs and is decoded once; in a folder the partner of
// an input has its relative path, with any known extension. Any thread.
class Operand {
 public:
  // Throws Error (usage) when there is nothing at the path.
  Operand(std::string name, std::filesystem::path path);

  const std::string& name() const { return name_; }
  // Throws Error (file_failed) when there is none.
  std::filesystem::path partner(const std::filesystem::path& relative) const;
  io::ImageInfo info(const std::filesystem::path& partner, io::PipeBudget& pipes,
                     const io::Reading& reading);
  struct Decoded {
    HostImage image;
    io::Inexact inexact;
    io::FileStamp stamp;  // of the file, when it was read
  };
  Decoded decode(const std::filesystem::path& partner, const io::DecodeOptions& options);
  // options.page of the file that was read into `bytes`.
  Decoded decode_page(const std::filesystem::path& partner, std::span<const std::byte> bytes,
                      const io::DecodeOptions& options) const;

 private:
  std::string name_;
  std::filesystem::path path_;
  bool is_folder_ = false;
  std::mutex mutex_;
  std::optional<io::ImageInfo> shared_info_;  // of a file, as what follows
  io::Bytes content_;                         // of a pipe, until it is decoded
  Decoded shared_;
};

// The operands of texts "NAME=PATH". Throws Error (usage) for a text of another form, for names
// that the pipeline does not use (`wanted`), and for wanted ones that are not given.
std::vector<std::unique_ptr<Operand>> parse_operands(std::span<const std::string> texts,
                                                     std::span<const std::string> wanted);

}  // namespace impipe::engine
