// One run of a pipeline on an image in memory, or on its pages, and what comes of it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/arrays.hpp"
#include "api/pipeline_session.hpp"
#include "core/error.hpp"
#include "engine/batch/page_groups.hpp"
#include "engine/program/executor.hpp"

namespace impipe::api {

// An image takes more than its session may (impipe_session_options::memory).
class OutOfSessionMemory : public Error {
 public:
  explicit OutOfSessionMemory(const std::string& message) : Error(message, ExitCode::file_failed) {}
};

struct RunResult {
  struct Image {
    std::string name;  // of a `save`; empty: the result
    HostImage image;
    std::string page_axes;           // as impipe_image has them, of all images of the name
    engine::DeviceImage there = {};  // instead of the image's pixels
    Size size() const { return there.pixels ? there.pixels->size() : image.size(); }
  };
  struct Measured {
    std::string name;
    int page = 0;                      // -1: of one image of several pages
    std::vector<std::string> columns;  // of a table
    engine::Measurement measurement;   // of a table: one channel, a row an object
  };
  std::vector<Image> images;  // the result's pages come first
  std::vector<Measured> measured;
  std::vector<std::string> notes;
};

struct RunInput {
  ImageType type;
  Size size;
  engine::PageList pages{{0}, {}};
  std::function<HostImage(std::int64_t)> page;  // makes page i
  std::map<std::string, HostImage> operands;
  // Images in the device's memory, of which `operands` has the types; the name of the input is "".
  std::map<std::string, const impipe_image*> there;
  bool stays = false;  // results are to stay on the device
};

// Pages go through the parts of the pipeline, as those of a file do
// (engine/batch/picture_pages.cpp).
class ImageRun {
 public:
  // stop: asked between steps; true ends the run with an Error.
  ImageRun(BoundPipeline& pipeline, RunInput input, std::function<bool()> stop);
  // Once. Throws Error.
  RunResult run();

 private:
  void begin_parts();
  // Throws Error for images that are larger than what may be.
  void check_sizes() const;
  // Whether several pages come.
  bool has_pages() const { return input_.pages.numbers.size() > 1; }
  void pass_on(std::size_t index, engine::Page page);
  engine::Outcome compute(std::size_t index, const engine::Page& page, HostImage image);
  engine::Outcome compute_on(engine::Session& session, Queue& queue, std::size_t index,
                             engine::Material material);
  // The same with images in the device's memory, which is only used during the call.
  engine::Outcome compute_there(const engine::Lanes::Turn& turn, std::size_t index,
                                const engine::Page& page, engine::Material material);
  engine::DeviceImage image_there(const engine::Lanes::Turn& turn, const std::string& name,
                                  std::int64_t page);
  // Page i of the input, where all pages are one stack in its memory; null where they are not.
  std::shared_ptr<DevicePlane> page_there(Queue& queue, std::int64_t page);
  bool keeps_there(std::size_t index, const engine::Material& material);
  bool is_identity(std::size_t index) const;
  bool has_one_nan(std::size_t index) const;
  bool passes_through(std::size_t index, const engine::Material& material);
  void keep(std::size_t index, const engine::Page& page, engine::Outcome& outcome);
  void note(const std::string& text);

  BoundPipeline& pipeline_;
  RunInput input_;
  std::function<bool()> stop_;
  std::map<std::string, ImageType> operand_types_;
  std::shared_ptr<const engine::Program> program_;  // of the first part
  std::vector<engine::PageList> pages_;             // that come to each part
  std::vector<std::unique_ptr<engine::AxisReducer>> reducers_;
  std::map<std::size_t, bool> keeps_there_;                  // by the index of a part
  std::optional<std::shared_ptr<DevicePlane>> pages_there_;  // see page_there; the stack or null
  std::vector<RunResult::Image> saves_;
  RunResult result_;
};

}  // namespace impipe::api
