// Random calls of the C library from several threads, for builds with sanitizers and for Valgrind.
//
//   api_campaign DEVICE SEED SECONDS [THREADS]
//
// Threads share a session and its pipelines: images of random types, sizes and steps, operands,
// results that are copied, kept on the device and freed by other threads through DLPack, runs that
// are cancelled, modules that are loaded by several at once. A status of the library's own errors,
// or a result that cannot be copied, ends the program with 1.
#include <impipe.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr const char* texts[] = {"imcomplement",
                                 "imgaussfilt 1",
                                 "mean2 | imhist",
                                 "imbinarize | bwlabel | regionprops",
                                 "project max",
                                 "medfilt3 3",
                                 "imresize 0.5",
                                 "graythresh as t | imbinarize t",
                                 "save 'a' | fliplr",
                                 "stack mean",
                                 "imadd :b",
                                 "icc srgb",
                                 "im2single | rgb2lab",
                                 "im2uint16 | save 'b' | edge",
                                 "phantom 33 | radon",
                                 "padarray 3,2",
                                 "bwlabeln | regionprops3",
                                 "imcrop 2,2,3,3",
                                 "temporal mean n=3",
                                 "fft2 | ifft2",
                                 "bogus",
                                 "",
                                 "icc @none.icc",
                                 "ocio a b config=@none.ocio"};
constexpr int type_bytes[] = {1, 1, 2, 4, 2, 8, 1, 2, 4, 8, 4, 8};

using Chance = std::mt19937;
using Tensors = std::vector<void*>;  // unversioned ones of DLPack

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

// Pixels with gaps, in any order of axes, also backwards and unaligned.
class Pixels {
 public:
  explicit Pixels(Chance& chance) {
    image.type = static_cast<int>(chance() % 13);  // 12 is none
    const int item = image.type < 12 ? type_bytes[image.type] : 1;
    image.alpha = chance() % 4 == 0 ? 1 : 0;
    image.width = chance() % 9;
    image.height = chance() % 9;
    image.channels = chance() % 5;
    image.pages = chance() % 9 == 0 ? 0 : 1 + chance() % 3;
    const std::int64_t sizes[] = {image.width, image.height, image.channels, image.pages};
    std::int64_t steps[4];
    int order[] = {0, 1, 2, 3};
    std::shuffle(order, order + 4, chance);
    std::int64_t step = item;
    for (const int axis : order) {
      steps[axis] = step * (1 + chance() % 2);
      step = steps[axis] * std::max<std::int64_t>(1, sizes[axis]);
    }
    memory_.resize(static_cast<std::size_t>(step) + 8);
    for (unsigned char& byte : memory_) byte = static_cast<unsigned char>(chance());
    unsigned char* first = memory_.data() + chance() % 8;
    for (int axis = 0; axis < 4; ++axis) {
      if (chance() % 2 == 0 || sizes[axis] == 0) continue;
      first += steps[axis] * (sizes[axis] - 1);
      steps[axis] = -steps[axis];
    }
    image.data = first;
    image.step_x = steps[0], image.step_y = steps[1];
    image.step_channel = steps[2], image.step_page = steps[3];
  }
  impipe_image image{};

 private:
  std::vector<unsigned char> memory_;
};

// Pipelines of all threads.
class Pipelines {
 public:
  explicit Pipelines(const char* device) {
    const impipe_session_options options{device, 2, 0, std::int64_t{1} << 28, nullptr};
    char* message = nullptr;
    if (impipe_session_new(&options, &session_, &message) != IMPIPE_OK) fail(message);
  }
  ~Pipelines() {
    impipe_session_free(session_);  // before its pipelines
    for (const auto& [text, pipeline] : made_) impipe_pipeline_free(pipeline);
  }
  // Null: the text is wrong.
  impipe_pipeline* of(const char* text) {
    const std::lock_guard lock(mutex_);
    const auto found = made_.find(text);
    if (found != made_.end()) return found->second;
    impipe_pipeline* pipeline = nullptr;
    char* message = nullptr;
    if (impipe_pipeline_new(session_, text, &pipeline, &message) != IMPIPE_OK) {
      impipe_text_free(message);
      return nullptr;
    }
    return made_[text] = pipeline;
  }

 private:
  impipe_session* session_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, impipe_pipeline*> made_;
};

// Tensors wait here until any thread frees them.
class Exchange {
 public:
  void swap(Tensors& tensors) {
    const std::lock_guard lock(mutex_);
    tensors.swap(tensors_);
  }

 private:
  std::mutex mutex_;
  Tensors tensors_;
};

void free_all(Tensors& tensors) {
  struct Managed {
    unsigned char tensor[48];
    void* context;
    void (*deleter)(void*);
  };
  for (void* tensor : tensors) static_cast<Managed*>(tensor)->deleter(tensor);
  tensors.clear();
}

void take_array(const impipe_result* result, std::int64_t index, Tensors& tensors) {
  impipe_array* array = nullptr;
  char* message = nullptr;
  if (impipe_result_array(result, &index, 1, &array, &message) != IMPIPE_OK) fail(message);
  impipe_image like{};
  impipe_array_describe(array, &like);
  const std::int64_t item = type_bytes[like.type];
  const std::int64_t shape[] = {like.height, like.width, like.channels};
  const std::int64_t steps[] = {like.step_y / item, like.step_x / item, like.step_channel / item};
  void* tensor = nullptr;
  if (impipe_array_tensor(array, 3, shape, steps, 0, &tensor, &message) != IMPIPE_OK) fail(message);
  tensors.push_back(tensor);
  std::vector<unsigned char> pixels(
      static_cast<std::size_t>(item * like.width * like.height * like.channels));
  impipe_image to = like;
  to.data = pixels.data(), to.on_device = 0;
  to.step_x = item, to.step_y = item * like.width, to.step_channel = to.step_y * like.height;
  to.step_page = to.step_channel * like.channels;
  if (impipe_array_copy(array, &to, &message) != IMPIPE_OK) fail(message);
  impipe_array_free(array);
}

void take_images(const impipe_result* result, bool on_device, Tensors& tensors) {
  for (std::int64_t i = 0; i < impipe_result_image_count(result); ++i) {
    impipe_image image{};
    impipe_result_image(result, i, &image);
    if (impipe_result_image_name(result, i) == nullptr) fail("an image without a name");
    take_array(result, i, tensors);
    if (on_device) continue;
    std::vector<unsigned char> pixels(static_cast<std::size_t>(image.step_page));
    image.data = pixels.data();
    char* message = nullptr;
    if (impipe_result_copy(result, i, &image, &message) != IMPIPE_OK) fail(message);
    std::int64_t step = 0;
    impipe_result_plane(result, i, image.channels - 1, &step);
  }
}

void take_measurements(const impipe_result* result) {
  for (std::int64_t i = 0; i < impipe_result_measurement_count(result); ++i) {
    impipe_measurement one{};
    impipe_result_measurement(result, i, &one);
    double sum = 0;
    for (std::int64_t k = 0; k < one.channels * one.rows * one.columns; ++k) sum += one.numbers[k];
    if (sum == 1e300) fail("a sum that nothing has");  // so that the numbers are read
    for (std::int64_t k = 0; impipe_result_column(result, i, k) != nullptr;) ++k;
  }
  for (std::int64_t k = 0; impipe_result_note(result, k) != nullptr;) ++k;
}

// One run; its status.
int run_once(impipe_pipeline* pipeline, Chance& chance, Tensors& tensors) {
  const Pixels image(chance), other(chance);
  impipe_operand operand{"b", other.image};
  impipe_cancel* const cancel = impipe_cancel_new();
  std::thread canceller;
  if (chance() % 8 == 0) canceller = std::thread([cancel] { impipe_cancel_now(cancel); });
  const bool on_device = chance() % 2 == 0;
  impipe_result* result = nullptr;
  char* message = nullptr;
  const int status = (on_device ? impipe_run_on_device : impipe_run)(
      pipeline, chance() % 20 == 0 ? nullptr : &image.image, &operand,
      impipe_pipeline_operand(pipeline, 0) != nullptr ? 1 : 0, cancel, &result, &message);
  if (canceller.joinable()) canceller.join();
  impipe_cancel_free(cancel);
  if (status == IMPIPE_INTERNAL) fail(message);
  impipe_text_free(message);
  if (status == IMPIPE_OK) {
    take_images(result, on_device, tensors);
    take_measurements(result);
    impipe_result_free(result);
  }
  char* plan = nullptr;
  if (chance() % 4 == 0) impipe_plan(pipeline, &image.image, &operand, 1, &plan, nullptr);
  impipe_text_free(plan);
  return status;
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) fail("api_campaign DEVICE SEED SECONDS [THREADS]");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(words[3]));
  std::atomic<long> statuses[8]{}, wrong_texts = 0;
  {
    Pipelines pipelines(words[1]);
    Exchange exchange;
    const auto work = [&](unsigned seed) {
      Chance chance(seed);
      Tensors tensors;
      while (std::chrono::steady_clock::now() < end) {
        impipe_pipeline* const pipeline = pipelines.of(texts[chance() % std::size(texts)]);
        if (pipeline == nullptr) {
          ++wrong_texts;
          continue;
        }
        ++statuses[run_once(pipeline, chance, tensors)];
        exchange.swap(tensors);
        if (chance() % 2 == 0) free_all(tensors);
        if (chance() % 50 == 0) impipe_release_memory();
      }
      free_all(tensors);
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < (count > 4 ? std::atoi(words[4]) : 3); ++i) {
      threads.emplace_back(work, static_cast<unsigned>(std::atoi(words[2]) + i));
    }
    for (std::thread& thread : threads) thread.join();
    Tensors left;
    exchange.swap(left);
    free_all(left);
  }
  std::printf("runs by status:");
  for (const auto& status : statuses) std::printf(" %ld", status.load());
  std::printf("; %ld texts refused\n", wrong_texts.load());
}
