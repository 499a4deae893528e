// Finds and decodes the partners of the inputs.
#include "engine/batch/operands.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/expression.hpp"
#include "core/text.hpp"
#include "io/files/read_picture.hpp"
#include "io/files/zarr_folder.hpp"

namespace impipe::engine {
namespace fs = std::filesystem;

Operand::Operand(std::string name, fs::path path) : name_(std::move(name)), path_(std::move(path)) {
  std::error_code error;
  is_folder_ = fs::is_directory(path_, error) && !io::is_zarr_folder(path_);
  if (!is_folder_ && !fs::exists(path_, error)) {
    throw Error("--with " + name_ + ": " + path_.string() + ": no such file or folder");
  }
}

fs::path Operand::partner(const fs::path& relative) const {
  if (!is_folder_) return path_;
  const auto is_picture = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) || io::is_zarr_folder(path);
  };
  const fs::path same = path_ / relative;
  if (is_picture(same)) return same;
  fs::path other = same;
  for (const io::FormatTraits& format : io::all_formats()) {
    for (std::string_view rest = format.extensions; !rest.empty();) {
      const size_t space = std::min(rest.find(' '), rest.size());
      other.replace_extension(rest.substr(0, space));
      if (is_picture(other)) return other;
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
  }
  io::fail("--with ", name_, ": there is no partner ", same.string(),
           ", nor one with another known extension");
}

namespace {

// --channels names those of the inputs.
io::Reading reading_of_operand(const io::Reading& reading) {
  return {.channels = {}, .axes = reading.axes};
}

}  // namespace

io::ImageInfo Operand::info(const fs::path& partner, io::PipeBudget& pipes,
                            const io::Reading& inputs) {
  const io::Reading reading = reading_of_operand(inputs);
  try {
    if (is_folder_) return io::probe(partner, {}, reading);
    std::lock_guard lock(mutex_);
    if (!shared_info_) shared_info_ = io::probe(partner, content_, pipes, reading);
    return *shared_info_;
  } catch (const Error& error) {
    throw Error("--with " + name_ + ": " + partner.string() + ": ", error);
  }
}

Operand::Decoded Operand::decode(const fs::path& partner, const io::DecodeOptions& inputs) {
  io::DecodeOptions options = inputs;
  options.reading = reading_of_operand(inputs.reading);
  try {
    const auto read = [&] {
      Decoded out;
      const io::Bytes bytes =
          content_.empty() ? io::read_picture(partner, out.stamp) : std::exchange(content_, {});
      io::Decoded decoded = io::decode(bytes, options);
      out.image = std::move(decoded.image);
      out.inexact = *decoded.info.inexact;
      return out;
    };
    if (is_folder_) return read();
    std::lock_guard lock(mutex_);
    if (shared_.image.empty()) shared_ = read();
    return shared_;
  } catch (const Error& error) {
    throw Error("--with " + name_ + ": " + partner.string() + ": ", error);
  }
}

Operand::Decoded Operand::decode_page(const fs::path& partner, std::span<const std::byte> bytes,
                                      const io::DecodeOptions& inputs) const {
  io::DecodeOptions options = inputs;
  options.reading = reading_of_operand(inputs.reading);
  try {
    io::Decoded decoded = io::decode(bytes, options);
    return {std::move(decoded.image), *decoded.info.inexact, {}};
  } catch (const Error& error) {
    throw Error("--with " + name_ + ": " + partner.string() + ": ", error);
  }
}

std::vector<std::unique_ptr<Operand>> parse_operands(std::span<const std::string> texts,
                                                     std::span<const std::string> wanted) {
  std::vector<std::unique_ptr<Operand>> operands;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || !is_name(text.substr(0, equals)) ||
        equals + 1 == text.size()) {
      throw Error("--with: '" + text + "' is not NAME=PATH");
    }
    const std::string name = text.substr(0, equals);
    if (std::ranges::find(wanted, name) == wanted.end()) {
      throw Error("--with " + name + ": the pipeline reads no image ':" + name + "'" +
                  (is_expression_word(name)
                       ? "; in an expression '" + name + "' is no image: give another name"
                       : did_you_mean(name, wanted)));
    }
    for (const auto& operand : operands) {
      if (operand->name() == name) throw Error("--with " + name + ": given twice");
    }
    operands.push_back(std::make_unique<Operand>(name, text.substr(equals + 1)));
  }
  for (const std::string& name : wanted) {
    if (std::ranges::none_of(operands,
                             [&](const auto& operand) { return operand->name() == name; })) {
      throw Error("the pipeline reads an image ':" + name + "': give --with " + name +
                  "=PATH, or keep one with `as " + name + "`");
    }
  }
  return operands;
}

}  // namespace impipe::engine
