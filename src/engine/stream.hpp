// The work on a stream of frames: read, computed and written as it comes, with few frames in
// memory, in order, however long it is.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/batch/batch.hpp"
#include "engine/batch/picture_work.hpp"
#include "engine/run_options.hpp"
#include "io/formats/y4m/frame_reader.hpp"

namespace impipe::engine {

// Reads frames ahead on a thread of its own, no more than `ahead` of those that are told.
class FrameFeed : public Arrivals {
 public:
  struct Frame {
    int number = 0;  // from 1, in the stream
    io::Bytes file;  // of this frame alone
  };
  // pages: which frames are wanted; none: all.
  FrameFeed(io::FrameReader& reader, std::vector<PageRange> pages, std::int64_t ahead);
  ~FrameFeed() override;

  Count count() override;
  void set_wake(std::function<void()> wake) override;
  // Frame `index` of those that are wanted, from 0; once.
  Frame take(std::int64_t index);
  void told();  // one more is done with
  // Ends the reading; what was read is lost.
  void stop();
  // When it is over: why it ended before its end, or nothing; and the frames that it had.
  std::string failure() const { return failure_; }
  std::int64_t frames() const { return reader_.frames(); }

 private:
  void read();
  void wake();
  bool is_wanted(std::int64_t frame) const;
  bool is_behind_last(std::int64_t frame) const;

  io::FrameReader& reader_;
  const std::vector<PageRange> pages_;
  const std::int64_t ahead_;
  std::mutex mutex_, wake_mutex_;
  std::condition_variable changed_;
  std::function<void()> wake_;
  std::deque<Frame> frames_;  // read; the first is number `first_` of those that are wanted
  std::int64_t first_ = 0, come_ = 0, told_ = 0;
  bool over_ = false, stopping_ = false;
  std::string failure_;
  std::thread thread_;
};

// A frame of a stream, as a picture of its own.
std::unique_ptr<PictureWork> frame_work(const Picture& stream, FrameFeed::Frame frame,
                                        PictureSettings& settings, std::int64_t index);

}  // namespace impipe::engine
