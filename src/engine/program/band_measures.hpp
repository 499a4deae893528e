// Measurements of a picture that is read in bands of rows: made in passes over it, before the pass
// that makes the image which depends on them (decision 0053).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/plan.hpp"
#include "engine/program/row_statistics.hpp"

namespace impipe::engine {

class BandMeasures {
 public:
  // lowered: a plan that banding_of allows. sizes: of its values, for the whole picture.
  BandMeasures(const Plan& lowered, std::vector<Size> sizes);
  // The images that the next pass measures; none: all numbers are known.
  const std::vector<ValueId>& images() const { return images_; }
  // The plan of the next pass, whose saves are these images.
  Plan pass() const;
  // The next rows of one of them.
  void add(std::size_t image, const HostImage& rows) { statistics_[image].add(rows); }
  // All rows have come.
  void finish_pass();
  // What makes the image: measured arguments have become constants.
  Plan settled() const { return with_constants(); }
  // The numbers of a measurement: [channels][values].
  const std::vector<double>& numbers(ValueId measure) const { return known_.at(measure); }

 private:
  struct Root {  // a measurement of pixels
    const Step* step = nullptr;
    std::size_t image = 0, which = 0;  // among images_, and what is measured of that
  };
  void find_next();
  bool is_ready(const Step& step) const;
  std::vector<double> scalar(const Step& step) const;
  std::vector<double> arguments_of(const Step& step, std::size_t channel) const;
  // The steps of images that are ready.
  Plan with_constants() const;

  const Plan plan_;
  const std::vector<Size> sizes_;
  std::map<ValueId, std::vector<double>> known_;
  std::vector<bool> ready_;  // images that depend on nothing that is not known
  std::vector<ValueId> images_;
  std::vector<Root> roots_;
  std::vector<RowStatistics> statistics_;  // one an image
};

}  // namespace impipe::engine
