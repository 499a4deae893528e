// Reads streams of frames ahead, and makes a picture of each frame.
#include "engine/stream.hpp"

#include <algorithm>
#include <system_error>

#include "core/error.hpp"

namespace impipe::engine {
namespace {

// Has the picture that its work is about.
struct OwnPicture {
  Picture own;
};

class FrameWork : private OwnPicture, public PictureWork {
 public:
  FrameWork(Picture picture, PictureSettings& settings, std::int64_t index)
      : OwnPicture{std::move(picture)}, PictureWork(own, settings, index) {}
  // A frame does not wait for others: who sends them may wait for this one.
  Stack stack() const override { return {}; }
};

}  // namespace

FrameFeed::FrameFeed(io::FrameReader& reader, std::vector<PageRange> pages, std::int64_t ahead)
    : reader_(reader), pages_(std::move(pages)), ahead_(ahead) {
  try {
    thread_ = std::thread([this] { read(); });
  } catch (const std::system_error&) {
    throw Error("the system lets no thread start that reads the stream", ExitCode::file_failed);
  }
}

FrameFeed::~FrameFeed() { stop(); }

void FrameFeed::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool FrameFeed::is_wanted(std::int64_t frame) const {
  return pages_.empty() || std::ranges::any_of(pages_, [&](const PageRange& range) {
           return frame >= range.first && frame <= range.last;
         });
}

bool FrameFeed::is_behind_last(std::int64_t frame) const {
  return !pages_.empty() &&
         std::ranges::all_of(pages_, [&](const PageRange& range) { return frame > range.last; });
}

void FrameFeed::read() {
  const auto stop = [this] {
    std::lock_guard lock(mutex_);
    return stopping_;
  };
  std::string failure;
  try {
    while (true) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopping_ || come_ - told_ < ahead_; });
        if (stopping_) break;
      }
      const std::int64_t number = reader_.frames() + 1;
      if (is_behind_last(number)) break;
      const bool wanted = is_wanted(number);
      std::optional<io::Bytes> frame = reader_.next(wanted, stop);
      if (!frame) break;
      if (!wanted) continue;
      {
        std::lock_guard lock(mutex_);
        frames_.push_back({static_cast<int>(number), std::move(*frame)});
        ++come_;
      }
      wake();
    }
  } catch (const Error& error) {
    failure = error.what();
  } catch (const std::bad_alloc&) {
    failure = "out of memory";
  }
  {
    std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    over_ = true;
  }
  wake();
}

void FrameFeed::wake() {
  std::lock_guard lock(wake_mutex_);
  if (wake_) wake_();
}

void FrameFeed::set_wake(std::function<void()> wake) {
  std::lock_guard lock(wake_mutex_);
  wake_ = std::move(wake);
}

Arrivals::Count FrameFeed::count() {
  std::lock_guard lock(mutex_);
  return {come_, over_};
}

FrameFeed::Frame FrameFeed::take(std::int64_t index) {
  std::lock_guard lock(mutex_);
  Frame frame = std::move(frames_[static_cast<std::size_t>(index - first_)]);
  frames_[static_cast<std::size_t>(index - first_)].number = 0;  // taken
  while (!frames_.empty() && frames_.front().number == 0) {
    frames_.pop_front();
    ++first_;
  }
  return frame;
}

void FrameFeed::told() {
  {
    std::lock_guard lock(mutex_);
    ++told_;
  }
  changed_.notify_all();
}

std::unique_ptr<PictureWork> frame_work(const Picture& stream, FrameFeed::Frame frame,
                                        PictureSettings& settings, std::int64_t index) {
  Picture picture;
  picture.path = stream.path;
  picture.info = stream.info;
  picture.content = std::make_unique<io::Bytes>(std::move(frame.file));
  if (stream.partners) picture.partners = std::make_unique<Picture::Partners>(*stream.partners);
  picture.program = stream.program;
  picture.output_format = stream.output_format;
  picture.output_class = stream.output_class;
  picture.is_stdin = stream.is_stdin;
  picture.is_new = stream.is_new;
  picture.joined = stream.joined;
  picture.frame = frame.number;
  const Picture::Stream& names = *stream.stream;
  picture.output = names.output ? names.output->of(frame.number) : stream.output;
  if (stream.saves) picture.saves = std::make_unique<std::vector<Picture::Save>>(*stream.saves);
  for (size_t i = 0; i < names.saves.size(); ++i) {
    (*picture.saves)[i].files = {names.saves[i].of(frame.number)};
  }
  return std::make_unique<FrameWork>(std::move(picture), settings, index);
}

}  // namespace impipe::engine
