// OpenEXR on files in memory, on the calling thread alone, and what it throws as our errors.
#pragma once

#include <OpenEXR/ImfIO.h>

#include <cstring>
#include <new>

#include "io/bytes/byte_source.hpp"
#include "io/module/codec_module.hpp"

namespace impipe::io {

using InputBytes = std::span<const std::byte>;
constexpr int no_threads = 0;  // the batch has its own

class Input final : public Imf::IStream {
 public:
  explicit Input(InputBytes bytes) : IStream("picture"), bytes_(bytes) {}

  bool read(char to[], int count) override {
    const std::uint64_t left = at_ < bytes_.size() ? bytes_.size() - at_ : 0;
    if (count < 0 || static_cast<std::uint64_t>(count) > left) {
      fail("truncated EXR: it ends at byte " + std::to_string(bytes_.size()));
    }
    std::memcpy(to, bytes_.data() + at_, static_cast<size_t>(count));
    at_ += static_cast<std::uint64_t>(count);
    return at_ < bytes_.size();
  }
  std::uint64_t tellg() override { return at_; }
  void seekg(std::uint64_t place) override { at_ = place; }

 private:
  InputBytes bytes_;
  std::uint64_t at_ = 0;
};

class Output final : public Imf::OStream {
 public:
  Output() : OStream("picture") {}

  void write(const char from[], int count) override {
    const std::uint64_t end = at_ + static_cast<std::uint64_t>(count);
    if (end > bytes_.size()) bytes_.resize(end);
    std::memcpy(bytes_.data() + at_, from, static_cast<size_t>(count));
    at_ = end;
  }
  std::uint64_t tellp() override { return at_; }
  void seekp(std::uint64_t place) override { at_ = place; }
  std::uint64_t size() const { return bytes_.size(); }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
  std::uint64_t at_ = 0;
};

// "Error reading pixel data from image file \"picture\". Data decoding (zlib) failed." without what
// says nothing.
inline std::string reason(const std::exception& error) {
  std::string text = error.what();
  const std::string_view name = " from image file \"picture\"";
  for (const std::string_view part : {name, name.substr(5), std::string_view(" \"picture\"")}) {
    if (const size_t at = text.find(part); at != text.npos) text.erase(at, part.size());
  }
  while (!text.empty() && (text.back() == '.' || text.back() == '\n')) text.pop_back();
  return text;
}

// Runs what calls OpenEXR; whatever that throws becomes an Error.
template <class Work>
auto guarded(const char* what, Work work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    fail(std::string(what) + ": " + reason(error));
  } catch (...) {
    fail(std::string(what) + ": for no known reason");
  }
}

}  // namespace impipe::io
