// A picture that is decoded, computed and encoded as a whole.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/batch/picture_worker.hpp"

namespace impipe::engine {

class WholePicture : public PictureWorker {
 public:
  // coded_fits: see PictureJob::Needs.
  WholePicture(const PictureJob& job, PictureResult& result, bool coded_fits)
      : PictureWorker(job, result), coded_fits_(coded_fits) {}
  void decode() override;
  void compute(int lane) override;
  void encode() override;
  FileWork::Stack stack() const override;
  // See FileWork; this is the first of `pictures`.
  std::vector<const FileWork*> compute_stack(int lane, std::span<WholePicture* const> pictures);

 private:
  ExecuteOptions execute_options(Session& session) const override;
  void decode_for_cpu() override;
  // The decoder of the picture's data.
  CodecKernel& decoder_of(Session& session) const;
  // What the result is to become while it is on the session's device.
  CodedOutput coded_output(Session& session, const ImageType& type, Size size, bool glows) const;
  // Makes the pixels of a picture that was meant for a device. Fails as the decoding part.
  void decode_on_host();
  void image_computed(const ComputedAt& turn);
  io::Encoded encoded_result() const;
  void encode_result();

  const bool coded_fits_;
  bool host_decodes_ = false;  // a picture that a device has found to be none for it
};

}  // namespace impipe::engine
