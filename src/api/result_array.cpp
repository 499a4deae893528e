#include "api/result_array.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "io/picture/convert.hpp"
#include "io/picture/pixel_rows.hpp"

namespace impipe::api {
namespace {

// Whether planes lie at one distance from each other, so that one step leads to the next.
bool are_evenly_spaced(const Planes& planes) {
  if (planes.size() < 2) return true;
  const auto address = [&](std::size_t i) {
    return reinterpret_cast<std::intptr_t>(planes[i].row(0));
  };
  const std::intptr_t step = address(1) - address(0);
  if (step <= 0) return false;
  for (std::size_t i = 2; i < planes.size(); ++i) {
    if (address(i) - address(i - 1) != step) return false;
  }
  return true;
}

Planes in_one_block(const Planes& planes, ThreadPool& pool) {
  const Plane& first = planes.front();
  Planes made = new_planes(first.cls(), static_cast<int>(planes.size()), first.size());
  pool.for_each(std::ssize(planes), [&](std::int64_t i) {
    const auto plane = static_cast<std::size_t>(i);
    for (std::int64_t y = 0; y < first.size().height; ++y) {
      std::memcpy(made[plane].row(y), planes[plane].row(y),
                  static_cast<std::size_t>(first.row_bytes()));
    }
  });
  return made;
}

// The stack that these planes are, each an image of it, in their order; or null.
std::shared_ptr<DevicePlane> stack_of(const std::vector<std::shared_ptr<DevicePlane>>& planes) {
  const std::shared_ptr<DevicePlane> stack = planes.front()->part().stack;
  if (!stack || stack->count() != std::ssize(planes)) return nullptr;
  for (int i = 0; i < stack->count(); ++i) {
    const DevicePlane::Part part = planes[static_cast<std::size_t>(i)]->part();
    if (part.stack != stack || part.first != i) return nullptr;
  }
  return stack;
}

// An alpha that no step has changed still has the class of the input.
std::shared_ptr<DevicePlane> like_pixels(Queue& queue, std::shared_ptr<DevicePlane> alpha,
                                         PixelClass cls) {
  if (alpha->cls() == cls) return alpha;
  HostImage image;
  image.planes = queue.download(*alpha);
  image.type = {alpha->cls(), 1, false, class_max(alpha->cls())};
  return queue.upload(io::convert(image, cls).planes);
}

}  // namespace

ResultArray::ResultArray(std::shared_ptr<DeviceSession> session,
                         const std::vector<const RunResult::Image*>& images)
    : session_(std::move(session)) {
  const RunResult::Image& first = *images.front();
  device_ = first.there.pixels ? session_->device_names() : "cpu";
  for (const RunResult::Image* image : images) {
    if (image->image.type != first.image.type || image->size() != first.size()) {
      throw Error("images of several types or sizes make no array", ExitCode::file_failed);
    }
  }
  type_ = first.image.type;
  page_axes_ = first.page_axes;
  description_ = described(type_, first.size());
  description_.pages = std::ssize(images);
  description_.step_x = bytes_of(type_.cls);
  if (!page_axes_.empty()) description_.page_axes = page_axes_.c_str();
  if (first.there.pixels) {
    hold_there(images);
  } else {
    hold_planes(images);
  }
  description_.step_page = description_.step_channel * description_.channels;
}

void ResultArray::hold_planes(const std::vector<const RunResult::Image*>& images) {
  for (const RunResult::Image* image : images) {
    planes_.insert(planes_.end(), image->image.planes.begin(), image->image.planes.end());
    if (type_.alpha) planes_.push_back(image->image.alpha);
  }
  if (!are_evenly_spaced(planes_)) planes_ = in_one_block(planes_, session_->pool());
  std::byte* const data = planes_.front().row(0);
  description_.data = data;
  description_.step_y = planes_.front().stride();
  description_.step_channel =
      planes_.size() > 1 ? planes_[1].row(0) - data : description_.step_y * description_.height;
}

void ResultArray::hold_there(const std::vector<const RunResult::Image*>& images) {
  const DeviceArray array = session_->on_queue([&](Queue& queue) {
    std::vector<std::shared_ptr<DevicePlane>> planes;
    for (const RunResult::Image* image : images) {
      planes.push_back(image->there.pixels);
      if (type_.alpha) planes.push_back(like_pixels(queue, image->there.alpha, type_.cls));
    }
    there_ = planes.size() == 1 ? planes.front() : stack_of(planes);
    if (!there_) {
      there_ = queue.joined(planes);
      queue.wait();
    }
    return queue.array_of(*there_);
  });
  description_.data = reinterpret_cast<void*>(array.memory);
  description_.step_y = array.step_y;
  description_.step_channel = array.step_channel;
  description_.on_device = 1;
}

ResultArray::~ResultArray() {
  if (!there_) return;
  try {
    const auto guest = session_->as_guest();
    // Its memory is used for the next images at once.
    if (is_shared_) session_->one_device()->wait_for_all();
    there_.reset();
  } catch (const Error&) {  // the driver has ended
  }
}

void ResultArray::copy_to(const impipe_image& to) const {
  const auto guest = session_->as_guest();
  Planes planes = planes_;
  if (there_) {
    const auto download = [&](Queue& queue) { return queue.download_stack(*there_); };
    for (const Planes& image : session_->on_queue(download)) {
      planes.insert(planes.end(), image.begin(), image.end());
    }
  }
  if (to.pages != description_.pages) {
    throw Error("the array has " + std::to_string(description_.pages) + " pages, and what it is " +
                "to be copied to has " + std::to_string(to.pages));
  }
  auto plane = planes.begin();
  for (std::int64_t page = 0; page < to.pages; ++page) {
    HostImage image;
    image.type = type_;
    image.planes.assign(plane, plane + type_.channels);
    plane += type_.channels;
    if (type_.alpha) image.alpha = *plane++;
    impipe_image one = to;
    one.pages = 1;
    one.data = static_cast<std::byte*>(to.data) + page * to.step_page;
    api::copy_to(image, one, session_->pool());
  }
}

}  // namespace impipe::api
