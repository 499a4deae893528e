// Pixels in the caller's memory, of any strides, as images, and images as such pixels.
#pragma once

#include "api/include/impipe.h"
#include "core/backend.hpp"
#include "core/image.hpp"
#include "engine/batch/page_groups.hpp"
#include "io/picture/numbers.hpp"

namespace impipe::api {

// The type of the image that such pixels make, as an NPY of the same type makes it. Throws Error
// (usage) for an array that is no image.
ImageType type_of(const impipe_image& array);

// The pages of the array, along the axes that it names. Throws Error (usage) where those do not
// make so many.
engine::PageList pages_of(const impipe_image& array);

// A copy of one page. inexact: of values that single does not hold. type_of has accepted `array`.
HostImage page_of(const impipe_image& array, std::int64_t page, io::Inexact& inexact,
                  ThreadPool& pool);

// One page of an array in the memory of a device: its channels, or its alpha alone. Throws Error
// for types that are no class, and for steps that are no multiples of a pixel.
DeviceArray channels_there(const impipe_image& array, std::int64_t page);
DeviceArray alpha_there(const impipe_image& array, std::int64_t page);
// All pages as a stack, where one step leads from channel to channel and from page to page; else
// the first one.
DeviceArray pages_there(const impipe_image& array);

// An image as an array without gaps, a pixel's channels adjacent.
impipe_image described(const ImageType& type, Size size);

// Throws Error (usage) where `to` has another type or shape than the image.
void copy_to(const HostImage& image, const impipe_image& to, ThreadPool& pool);

}  // namespace impipe::api
