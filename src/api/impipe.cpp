// The functions of impipe.h: handles are objects, exceptions are codes with a text.
#include "api/include/impipe.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "api/arrays.hpp"
#include "api/image_run.hpp"
#include "api/pipeline_session.hpp"
#include "api/result_array.hpp"
#include "core/error.hpp"
#include "pipeline/image_sizes.hpp"

struct impipe_session {
  std::shared_ptr<impipe::api::DeviceSession> session;
  std::string devices;
};
struct impipe_pipeline {
  impipe::api::BoundPipeline bound;
};
struct impipe_cancel {
  std::atomic<bool> is_asked = false;
};
struct impipe_result {
  impipe::api::RunResult of;
  std::shared_ptr<impipe::api::DeviceSession> session;
};
struct impipe_array {
  std::shared_ptr<const impipe::api::ResultArray> array;
};

namespace impipe::api {
namespace {

class Cancelled {};

int status_of(ExitCode code) {
  switch (code) {
    case ExitCode::usage: return IMPIPE_USAGE;
    case ExitCode::backend: return IMPIPE_NO_DEVICE;
    default: return IMPIPE_FAILED;
  }
}

// The texts of errors in a pipeline begin as the program's do.
std::string_view without_program(std::string_view text) {
  constexpr std::string_view program = "impipe: ";
  return text.starts_with(program) ? text.substr(program.size()) : text;
}

char* copied(std::string_view text) noexcept {
  char* out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out == nullptr) return nullptr;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return out;
}

int failed(int status, std::string_view text, char** message) noexcept {
  if (message != nullptr) *message = copied(text);
  return status;
}

// No exception leaves the library.
template <class Body>
int guarded(char** message, Body body) noexcept {
  if (message != nullptr) *message = nullptr;
  try {
    body();
    return IMPIPE_OK;
  } catch (const Cancelled&) {
    return failed(IMPIPE_CANCELLED, "cancelled", message);
  } catch (const OutOfDeviceMemory& error) {
    return failed(IMPIPE_OUT_OF_MEMORY, error.what(), message);
  } catch (const OutOfSessionMemory& error) {
    return failed(IMPIPE_OUT_OF_MEMORY, error.what(), message);
  } catch (const Error& error) {
    return failed(status_of(error.code()), without_program(error.what()), message);
  } catch (const std::bad_alloc&) {
    return failed(IMPIPE_OUT_OF_MEMORY, "out of memory", message);
  } catch (const std::exception& error) {
    return failed(IMPIPE_INTERNAL, error.what(), message);
  } catch (...) {
    return failed(IMPIPE_INTERNAL, "an unknown exception", message);
  }
}

template <class... Pointers>
void check_given(Pointers... pointers) {
  if (((pointers == nullptr) || ...)) throw Error("an argument is NULL that may not be");
}

using Operands = std::map<std::string, const impipe_image*>;

Operands operands_of(const pipeline::Pipeline& pipeline, const impipe_operand* given,
                     std::int64_t count) {
  Operands out;
  for (std::int64_t i = 0; i < count; ++i) {
    check_given(given, given[i].name);
    const std::string name = given[i].name;
    const auto& wanted = pipeline.operands;
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end()) {
      throw Error("the pipeline reads no image ':" + name + "'");
    }
    if (given[i].image.pages > 1) throw Error("the operand " + name + " has several pages");
    if (!out.emplace(name, &given[i].image).second)
      throw Error("operand " + name + ": given twice");
  }
  for (const std::string& name : pipeline.operands) {
    if (!out.contains(name)) {
      throw Error("the pipeline reads an image ':" + name + "': give an operand " + name +
                  ", or keep one with `as " + name + "`");
    }
  }
  return out;
}

void check_input(const pipeline::Pipeline& pipeline, const impipe_image* image) {
  if (pipeline.has_source() && image != nullptr) {
    throw Error("the pipeline makes its own image, and takes no input");
  }
  if (!pipeline.has_source() && image == nullptr) throw Error("the pipeline needs an image");
}

// Notes what single does not hold of an array's values.
void note_inexact(const io::Inexact& inexact, const std::string& before, bool is_strict,
                  std::vector<std::string>& notes) {
  if (inexact.count == 0) return;
  if (is_strict) throw Error("strict: " + before + inexact.text(), ExitCode::file_failed);
  notes.push_back(before + inexact.text());
}

struct RunArguments {
  const impipe_image* image;
  const impipe_operand* operands;
  std::int64_t operand_count;
  const impipe_cancel* cancel;
  bool stays;  // images are on the device, or are to stay there
};

RunResult run(BoundPipeline& bound, const RunArguments& given) {
  const pipeline::Pipeline& pipeline = bound.pipeline();
  const impipe_image* const image = given.image;
  check_input(pipeline, image);
  const bool is_strict = bound.session().is_strict();
  std::vector<std::string> notes;
  io::Inexact of_input;
  RunInput input;
  input.stays = given.stays;
  const bool has_device = given.stays && bound.session().one_device() != nullptr;
  const auto is_there = [&](const impipe_image& array) {
    if (array.on_device != 0 && !given.stays)
      throw Error("on_device: only of impipe_run_on_device");
    return array.on_device != 0 && has_device;
  };
  for (const auto& [name, array] : operands_of(pipeline, given.operands, given.operand_count)) {
    if (is_there(*array)) {
      input.there[name] = array;
      input.operands[name].type = type_of(*array);
      continue;
    }
    io::Inexact inexact;
    input.operands[name] = page_of(*array, 0, inexact, bound.session().pool());
    note_inexact(inexact, "operand " + name + ": ", is_strict, notes);
  }
  if (image == nullptr) {
    const MadeImage made = pipeline::checked_source(pipeline, pipeline::default_max_pixels);
    input.type = made.type;
    input.size = made.size;
    input.page = [&](std::int64_t) { return pipeline.make_source(); };
  } else {
    input.type = type_of(*image);
    input.size = {image->width, image->height};
    input.pages = pages_of(*image);
    input.page = [&](std::int64_t i) {
      return page_of(*image, i, of_input, bound.session().pool());
    };
    if (is_there(*image)) input.there[""] = image;
  }
  const auto stop = [cancel = given.cancel] {
    return cancel != nullptr && cancel->is_asked.load();
  };
  try {
    RunResult result = ImageRun(bound, std::move(input), stop).run();
    note_inexact(of_input, "", is_strict, notes);
    result.notes.insert(result.notes.begin(), notes.begin(), notes.end());
    return result;
  } catch (const Error&) {
    if (stop()) throw Cancelled();
    throw;
  }
}

std::string plan(BoundPipeline& bound, const impipe_image* image, const impipe_operand* operands,
                 std::int64_t operand_count) {
  const pipeline::Pipeline& pipeline = bound.pipeline();
  if (pipeline.has_source()) check_input(pipeline, image);
  const ImageType type = pipeline.has_source() ? pipeline.describe_source().type
                         : image != nullptr    ? type_of(*image)
                                               : ImageType();
  std::map<std::string, ImageType> types;
  if (operands == nullptr) {
    for (const std::string& name : pipeline.operands) types[name] = type;
  } else {
    for (const auto& [name, array] : operands_of(pipeline, operands, operand_count)) {
      types[name] = type_of(*array);
    }
  }
  return bound.plan_text(type, types);
}

template <class Items>
auto item_at(const Items& items, std::int64_t index) {
  return index >= 0 && index < std::ssize(items) ? &items[static_cast<std::size_t>(index)]
                                                 : nullptr;
}

int run_to(impipe_pipeline* pipeline, const RunArguments& given, impipe_result** result,
           char** message) {
  return guarded(message, [&] {
    check_given(pipeline, result);
    *result = nullptr;
    BoundPipeline& bound = pipeline->bound;
    *result = new impipe_result{run(bound, given), bound.shared_session()};
  });
}

}  // namespace
}  // namespace impipe::api

using namespace impipe;  // NOLINT(google-build-using-namespace)
using api::guarded;

const char* impipe_version(void) { return IMPIPE_VERSION; }
void impipe_text_free(char* text) { std::free(text); }
void impipe_release_memory(void) { release_plane_memory(); }

int impipe_session_new(const impipe_session_options* options, impipe_session** session,
                       char** message) {
  return guarded(message, [&] {
    api::check_given(session);
    *session = nullptr;
    api::SessionSettings settings;
    if (options != nullptr) {
      if (options->device != nullptr) settings.device = options->device;
      settings.threads = options->threads;
      settings.strict = options->strict != 0;
      settings.memory = options->memory;
      if (options->sandbox != nullptr) {
        settings.sandbox = *options->sandbox != '\0' ? options->sandbox : "on";
      }
    }
    auto opened = std::make_shared<api::DeviceSession>(settings);
    std::string devices = opened->device_names();
    *session = new impipe_session{std::move(opened), std::move(devices)};
  });
}
void impipe_session_free(impipe_session* session) { delete session; }
const char* impipe_session_devices(const impipe_session* session) {
  return session->devices.c_str();
}

int impipe_pipeline_new(impipe_session* session, const char* text, impipe_pipeline** pipeline,
                        char** message) {
  return guarded(message, [&] {
    api::check_given(session, text, pipeline);
    *pipeline = nullptr;
    *pipeline = new impipe_pipeline{api::BoundPipeline(session->session, text)};
  });
}
void impipe_pipeline_free(impipe_pipeline* pipeline) {
  if (pipeline == nullptr) return;
  guarded(nullptr, [&] {
    const auto session = pipeline->bound.shared_session();
    const auto guest = session->as_guest();
    delete pipeline;
  });
}
const char* impipe_pipeline_operand(const impipe_pipeline* pipeline, int64_t index) {
  const std::string* name = api::item_at(pipeline->bound.pipeline().operands, index);
  return name != nullptr ? name->c_str() : nullptr;
}
int impipe_pipeline_has_source(const impipe_pipeline* pipeline) {
  return pipeline->bound.pipeline().has_source() ? 1 : 0;
}

int impipe_plan(impipe_pipeline* pipeline, const impipe_image* image,
                const impipe_operand* operands, int64_t operand_count, char** text,
                char** message) {
  return guarded(message, [&] {
    api::check_given(pipeline, text);
    *text = api::copied(api::plan(pipeline->bound, image, operands, operand_count));
    if (*text == nullptr) throw std::bad_alloc();
  });
}

impipe_cancel* impipe_cancel_new(void) { return new (std::nothrow) impipe_cancel; }
void impipe_cancel_now(impipe_cancel* cancel) { cancel->is_asked = true; }
void impipe_cancel_free(impipe_cancel* cancel) { delete cancel; }

int impipe_run(impipe_pipeline* pipeline, const impipe_image* image, const impipe_operand* operands,
               int64_t operand_count, const impipe_cancel* cancel, impipe_result** result,
               char** message) {
  return api::run_to(pipeline, {image, operands, operand_count, cancel, false}, result, message);
}
int impipe_run_on_device(impipe_pipeline* pipeline, const impipe_image* image,
                         const impipe_operand* operands, int64_t operand_count,
                         const impipe_cancel* cancel, impipe_result** result, char** message) {
  return api::run_to(pipeline, {image, operands, operand_count, cancel, true}, result, message);
}
void impipe_result_free(impipe_result* result) { delete result; }

int64_t impipe_result_image_count(const impipe_result* result) {
  return std::ssize(result->of.images);
}
const char* impipe_result_image_name(const impipe_result* result, int64_t index) {
  const auto* one = api::item_at(result->of.images, index);
  return one != nullptr ? one->name.c_str() : nullptr;
}
int impipe_result_image(const impipe_result* result, int64_t index, impipe_image* image) {
  return guarded(nullptr, [&] {
    const auto* one = api::item_at(result->of.images, index);
    api::check_given(one, image);
    *image = api::described(one->image.type, one->size());
    if (!one->page_axes.empty()) image->page_axes = one->page_axes.c_str();
  });
}
int impipe_result_copy(const impipe_result* result, int64_t index, const impipe_image* to,
                       char** message) {
  return guarded(message, [&] {
    const auto* one = api::item_at(result->of.images, index);
    api::check_given(one, to);
    if (one->there.pixels) throw Error("the image stays on the device: see impipe_result_array");
    api::copy_to(one->image, *to, result->session->pool());
  });
}
const void* impipe_result_plane(const impipe_result* result, int64_t index, int64_t channel,
                                int64_t* step_y) {
  const auto* one = api::item_at(result->of.images, index);
  if (one == nullptr) return nullptr;
  const Plane* plane = api::item_at(one->image.planes, channel);
  const bool is_alpha = one->image.type.alpha && channel == one->image.type.channels;
  if (is_alpha) plane = &one->image.alpha;
  if (plane == nullptr) return nullptr;
  if (step_y != nullptr) *step_y = plane->stride();
  return plane->row(0);
}

int impipe_result_array(const impipe_result* result, const int64_t* indices, int64_t count,
                        impipe_array** array, char** message) {
  return guarded(message, [&] {
    api::check_given(result, indices, array);
    *array = nullptr;
    std::vector<const api::RunResult::Image*> images;
    for (int64_t i = 0; i < count; ++i) {
      images.push_back(api::item_at(result->of.images, indices[i]));
      if (images.back() == nullptr) throw Error("there is no such image in the result");
    }
    if (images.empty()) throw Error("an array of no images");
    const auto guest = result->session->as_guest();
    *array = new impipe_array{std::make_shared<const api::ResultArray>(result->session, images)};
  });
}
void impipe_array_free(impipe_array* array) { delete array; }
int impipe_array_describe(const impipe_array* array, impipe_image* image) {
  return guarded(nullptr, [&] {
    api::check_given(array, image);
    array->array->share();
    *image = array->array->description();
  });
}
const char* impipe_array_device(const impipe_array* array) {
  return array->array->device().c_str();
}
int impipe_array_copy(const impipe_array* array, const impipe_image* to, char** message) {
  return guarded(message, [&] {
    api::check_given(array, to);
    array->array->copy_to(*to);
  });
}
int impipe_array_tensor(const impipe_array* array, int32_t axes, const int64_t* shape,
                        const int64_t* steps, int32_t versioned, void** tensor, char** message) {
  return guarded(message, [&] {
    api::check_given(array, shape, steps, tensor);
    *tensor = api::dlpack_tensor(array->array, axes, shape, steps, versioned != 0);
  });
}

int64_t impipe_result_measurement_count(const impipe_result* result) {
  return std::ssize(result->of.measured);
}
int impipe_result_measurement(const impipe_result* result, int64_t index,
                              impipe_measurement* measurement) {
  return guarded(nullptr, [&] {
    const auto* one = api::item_at(result->of.measured, index);
    api::check_given(one, measurement);
    const engine::Measurement& of = one->measurement;
    *measurement = {.name = one->name.c_str(),
                    .page = one->page,
                    .channels = of.channels,
                    .rows = of.values / of.columns,
                    .columns = of.columns,
                    .is_table = one->columns.empty() ? 0 : 1,
                    .numbers = of.numbers.data()};
  });
}
const char* impipe_result_column(const impipe_result* result, int64_t index, int64_t column) {
  const auto* one = api::item_at(result->of.measured, index);
  const std::string* name = one != nullptr ? api::item_at(one->columns, column) : nullptr;
  return name != nullptr ? name->c_str() : nullptr;
}

const char* impipe_result_note(const impipe_result* result, int64_t index) {
  const std::string* text = api::item_at(result->of.notes, index);
  return text != nullptr ? text->c_str() : nullptr;
}
