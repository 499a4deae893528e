// Tables of 3x3 windows, again and again. An iteration goes over the rows that may still change
// only: those within a row of one that changed in the iteration before.
#include "backends/cpu/components/morph.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

namespace impipe::cpu {
namespace {

constexpr std::int64_t rows_at_once = 32;

// Bytes of 0 and 1 with a frame of one pixel.
class Framed {
 public:
  Framed(Size size, std::uint8_t outside)
      : stride_(size.width + 2),
        bytes_(static_cast<std::size_t>(stride_ * (size.height + 2)), outside) {}
  std::uint8_t* row(std::int64_t y) { return bytes_.data() + (y + 1) * stride_ + 1; }
  const std::uint8_t* row(std::int64_t y) const { return bytes_.data() + (y + 1) * stride_ + 1; }
  bool operator==(const Framed&) const = default;

 private:
  std::int64_t stride_;
  std::vector<std::uint8_t> bytes_;
};

class Iterations {
 public:
  Iterations(const Morph& morph, const Plane& in, ThreadPool& pool)
      : morph_(morph), pool_(pool), size_(in.size()), now_(size_, morph.outside), next_(now_) {
    for (const Morph::Table& table : morph.tables) {
      std::vector<std::uint8_t>& bytes = tables_.emplace_back(table.size());
      for (std::size_t k = 0; k < table.size(); ++k) bytes[k] = table[k] ? 1 : 0;
    }
    for_each_row([&](std::int64_t y) {
      const auto* from = in.row_as<std::uint8_t>(y);
      for (std::int64_t x = 0; x < size_.width; ++x) now_.row(y)[x] = from[x] != 0 ? 1 : 0;
    });
    changed_.assign(static_cast<std::size_t>(size_.height), 1);
  }

  void run(double most, Plane& out) {
    for (double done = 0; done < most; ++done) {
      if (!(morph_.in_fields ? fields() : whole(done >= 1))) break;
    }
    for_each_row([&](std::int64_t y) {
      std::memcpy(out.row(y), now_.row(y), static_cast<std::size_t>(size_.width));
    });
  }

 private:
  template <class Work>
  void for_each_row(const Work& work) {
    pool_.for_each((size_.height + rows_at_once - 1) / rows_at_once, [&](std::int64_t part) {
      const std::int64_t end = std::min(size_.height, (part + 1) * rows_at_once);
      for (std::int64_t y = part * rows_at_once; y < end; ++y) work(y);
    });
  }

  // The window of the next column moves into the index.
  static int column(const Framed& image, std::int64_t x, std::int64_t y) {
    return image.row(y - 1)[x] | image.row(y)[x] << 3 | image.row(y + 1)[x] << 6;
  }
  static int window(const Framed& image, std::int64_t x, std::int64_t y) {
    return column(image, x - 1, y) | column(image, x, y) << 1 | column(image, x + 1, y) << 2;
  }

  // Row y of `to` from `from`; whether it differs.
  bool make_row(const std::vector<std::uint8_t>& table, const Framed& from, Framed& to,
                std::int64_t y) const {
    const std::uint8_t* rows[3] = {from.row(y - 1), from.row(y), from.row(y + 1)};
    std::uint8_t* out = to.row(y);
    int index = rows[0][-1] << 1 | rows[1][-1] << 4 | rows[2][-1] << 7;
    index |= rows[0][0] << 2 | rows[1][0] << 5 | rows[2][0] << 8;
    std::uint8_t differs = 0;
    for (std::int64_t x = 0; x < size_.width; ++x) {
      index = (index >> 1 & 0b011011011) | rows[0][x + 1] << 2 | rows[1][x + 1] << 5 |
              rows[2][x + 1] << 8;
      out[x] = table[static_cast<std::size_t>(index)];
      differs |= out[x] ^ rows[1][x];
    }
    return differs != 0;
  }

  // Whether a row within `reach` of row y changed in the last iteration.
  bool may_change(std::int64_t y, std::int64_t reach) const {
    const std::int64_t end = std::min(size_.height, y + reach + 1);
    for (std::int64_t i = std::max<std::int64_t>(y - reach, 0); i < end; ++i) {
      if (changed_[static_cast<std::size_t>(i)] != 0) return true;
    }
    return false;
  }

  // Whether another iteration may differ. compared: the image before the last is there.
  bool whole(bool compared) {
    // One table turns an image into another and back at worst: then the two are compared.
    const bool alternates = tables_.size() == 1 && compared;
    const auto reach = static_cast<std::int64_t>(tables_.size());
    std::vector<std::uint8_t> changed(changed_.size());
    std::atomic<bool> any = false, other = false;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      for_each_row([&](std::int64_t y) {
        std::uint8_t* to = next_.row(y);
        const auto bytes = static_cast<std::size_t>(size_.width);
        thread_local std::vector<std::uint8_t> before;
        before.assign(to, to + bytes);
        if (!may_change(y, reach)) {
          std::memcpy(to, now_.row(y), bytes);
        } else if (make_row(tables_[t], now_, next_, y)) {
          changed[static_cast<std::size_t>(y)] = 1;
          any = true;
        }
        if (std::memcmp(to, before.data(), bytes) != 0) other = true;
      });
      std::swap(now_, next_);
    }
    changed_ = std::move(changed);
    return any && !(alternates && !other);
  }

  bool fields() {
    Framed& candidates = next_;
    std::vector<std::uint8_t> changed(changed_.size());
    std::atomic<bool> any = false;
    for_each_row([&](std::int64_t y) {
      if (may_change(y, 3)) {
        make_row(tables_[0], now_, candidates, y);
      } else {
        std::memset(candidates.row(y), 0, static_cast<std::size_t>(size_.width));
      }
    });
    for (int field = 0; field < 4; ++field) {
      for_each_row([&](std::int64_t y) {
        if (y % 2 != field / 2) return;
        std::uint8_t* row = now_.row(y);
        for (std::int64_t x = field % 2; x < size_.width; x += 2) {
          if (candidates.row(y)[x] == 0) continue;
          const std::uint8_t made = tables_[1][static_cast<std::size_t>(window(now_, x, y))];
          if (made == row[x]) continue;
          row[x] = made;
          changed[static_cast<std::size_t>(y)] = 1;
          any = true;
        }
      });
    }
    changed_ = std::move(changed);
    return any;
  }

  const Morph& morph_;
  ThreadPool& pool_;
  Size size_;
  Framed now_, next_;
  std::vector<std::vector<std::uint8_t>> tables_;
  std::vector<std::uint8_t> changed_;  // rows, by the last iteration
};

}  // namespace

void run_morph(const Morph& morph, double most, const Plane& in, Plane& out, ThreadPool& pool) {
  Iterations(morph, in, pool).run(most, out);
}

}  // namespace impipe::cpu
