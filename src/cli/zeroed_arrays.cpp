// `new T[n]` of the program and of the libraries that it opens gives zeros. OpenEXR leaves parts of
// its buffers unwritten where a file is damaged and reads them as pixels: what was in that memory
// before, such as another picture, must not get into the result. Our own code has its arrays in
// vectors, which come from `new`.
#include <cstdlib>
#include <new>

void* operator new[](std::size_t bytes) {
  while (true) {
    if (void* made = std::calloc(bytes == 0 ? 1 : bytes, 1)) return made;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::calloc(bytes == 0 ? 1 : bytes, 1);
}

void operator delete[](void* array) noexcept { std::free(array); }
void operator delete[](void* array, std::size_t) noexcept { std::free(array); }
void operator delete[](void* array, const std::nothrow_t&) noexcept { std::free(array); }
