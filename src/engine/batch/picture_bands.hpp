// A picture that would take more memory than it may, some rows at a time: the rows of a band and
// those that its filters read beside it are an image to the program, and what its borders spoilt at
// a cut is cut off.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/plane_rows.hpp"
#include "engine/batch/picture_worker.hpp"
#include "engine/program/band_measures.hpp"
#include "engine/program/bands.hpp"
#include "io/files/picture_rows.hpp"

namespace impipe::engine {

// Why the picture has to be computed as a whole; empty when it may be done in bands of rows.
std::string why_not_in_bands(const PictureJob& job);
// Why several processes cannot make the chunks of its result; empty when they can.
std::string why_not_in_parts(const PictureJob& job);
// Whether it goes in bands though it fits into memory as a whole, which takes `estimate` bytes.
bool prefers_bands(const PictureJob& job, std::int64_t estimate);

struct BandPlan {
  std::int64_t rows = 0;   // of a band
  std::int64_t bytes = 0;  // that it takes
};
// As many rows as take no more than `memory`.
BandPlan plan_bands(const PictureJob& job, std::int64_t memory);
// Few, where there is no need to save.
BandPlan plan_small_bands(const PictureJob& job);

// From file to file, while it is computed.
class BandedPicture : public PictureWorker {
 public:
  BandedPicture(const PictureJob& job, PictureResult& result, std::int64_t band_rows)
      : PictureWorker(job, result), band_rows_(band_rows) {}
  void compute(int lane) override;
  FileWork::Within within_compute() const override { return within_; }

 private:
  std::shared_ptr<const Program> program_on(Session& session, Queue& queue,
                                            const Material& material) override;
  // Reads the rows that the result needs, and calls take(band) when those of a band are there,
  // until that is false.
  void each_band(int lane, std::unique_ptr<io::PictureRows> rows,
                 const std::function<bool(const Band& band)>& take);
  // Rows of an image of a band that are of this band alone.
  static HostImage own_rows(const HostImage& image, const Band& band);
  // Takes the measurements that the image or the report needs, in passes of their own.
  void measure(int lane);
  void report(const BandMeasures& measures);
  // False where the file has values that the type of its samples does not hold.
  bool bands_are_alike(int lane);
  std::unique_ptr<io::PictureRows> open_bands(int lane);
  std::unique_ptr<io::PictureRows> opened();
  // The program becomes that of pictures of this profile.
  void take_profile(std::shared_ptr<const ColourProfile> profile);
  // Where the rows of the result go.
  struct BandTarget;
  std::unique_ptr<BandTarget> make_band_target();
  void finish_bands(BandTarget& target);
  // A part of the work on a band that belongs to decoding or encoding.
  void within(Part part, int lane, const std::function<void()>& work);

  const std::int64_t band_rows_;
  Halo halo_;
  // Instead of the pipeline's: what makes the image, or measures it, as programs of sessions.
  std::optional<Plan> plan_;
  std::map<Session*, std::shared_ptr<const Program>> programs_;
  RowRange rows_;           // of the result: a part of them, where others make the rest
  bool as_floats_ = false;  // whatever the type of the input's samples is
  std::shared_ptr<const ColourProfile> profile_;
  std::shared_ptr<io::Inexact> inexact_;  // counted while bands of a TIFF are read
  FileWork::Within within_;
};

}  // namespace impipe::engine
