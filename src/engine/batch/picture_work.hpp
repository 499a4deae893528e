// The work on one picture file, as a batch runs it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/batch/picture_worker.hpp"

namespace impipe::engine {

// Why the picture, which can't be done some rows at a time, takes more than --memory allows;
// empty where it does not. Throws as PictureWork::prepare does.
std::string why_too_large(const PictureJob& job);

// Settles how the picture is worked on when its header is looked at.
class PictureWork : public FileWork {
 public:
  // index: of the file, among those of the run.
  PictureWork(Picture& picture, PictureSettings& settings, std::int64_t index)
      : job_{picture, settings, index, this}, piped_(picture.content != nullptr) {}
  ~PictureWork() override;

  std::optional<std::int64_t> prepare() override;
  void decode() override;
  void compute(int lane) override;
  Stack stack() const override { return worker_->stack(); }
  std::vector<const FileWork*> compute_stack(int lane, std::span<FileWork* const> files) override;
  void encode() override;
  Within within_compute() const override { return worker_->within_compute(); }
  // Not what came through a pipe and is used up.
  bool may_repeat() const override { return (!piped_ || picture().content) && !picture().failure; }
  void release() override { worker_.reset(); }

  const Picture& picture() const { return job_.picture; }
  const PictureResult& result() const { return result_; }

 private:
  const PictureJob job_;
  const bool piped_;  // the file came through a pipe
  PictureResult result_;
  std::unique_ptr<PictureWorker> worker_;  // from `prepare` to `release`
};

}  // namespace impipe::engine
