// Pages that are made one by one on the host, as volumes whose planes have nothing to do with each
// other.
#include "core/page_operation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/plane_rows.hpp"

namespace impipe {
namespace {

class PageWork : public VolumeWork {
 public:
  explicit PageWork(const PageOperation& operation) : operation_(operation) {}

  void add(HostImage page, ThreadPool& pool) override {
    made_.type = operation_.type(page.type);
    const Size size = operation_.size ? operation_.size(page.size()) : page.size();
    made_.planes = new_planes(made_.type.cls, made_.type.channels, size);
    made_.alpha = {};
    if (made_.type.alpha) {
      made_.alpha = size == page.size() ? page.alpha : Plane(page.alpha.cls(), size);
    }
    operation_.make(page, made_, pool);
    is_made_ = true;
  }
  bool has_next() const override { return is_made_; }
  HostImage next(ThreadPool&) override {
    is_made_ = false;
    return std::exchange(made_, {});
  }

 private:
  const PageOperation& operation_;
  HostImage made_;
  bool is_made_ = false;
};

class EachPage : public VolumeOperation {
 public:
  explicit EachPage(PageOperation operation) : operation_(std::move(operation)) {}
  ImageType type(const ImageType& of) const override { return operation_.type(of); }
  Size size(Size of, std::int64_t) const override {
    return operation_.size ? operation_.size(of) : of;
  }
  double bytes(const ImageType& type, Size size, std::int64_t) const override {
    const ImageType made = operation_.type(type);
    return operation_.bytes_a_pixel * static_cast<double>(size.pixels()) +
           static_cast<double>(this->size(size, 1).pixels()) * made.channels * bytes_of(made.cls);
  }
  std::string held() const override { return ""; }
  std::unique_ptr<VolumeWork> begin(const ImageType&, Size, std::int64_t) const override {
    return std::make_unique<PageWork>(operation_);
  }

 private:
  const PageOperation operation_;
};

class TableWork : public VolumeWork {
 public:
  explicit TableWork(const PageTable& of) : of_(of) {}
  void add(HostImage page, ThreadPool& pool) override {
    const std::vector<double> rows = of_.make(page, pool);
    rows_.insert(rows_.end(), rows.begin(), rows.end());
  }
  bool has_next() const override { return false; }
  HostImage next(ThreadPool&) override { return {}; }
  std::vector<double> table() const override { return rows_; }

 private:
  const PageTable& of_;
  std::vector<double> rows_;
};

class TableOfPages : public VolumeOperation {
 public:
  explicit TableOfPages(PageTable table) : table_(std::move(table)) {}
  std::vector<std::string> columns() const override { return table_.columns; }
  double bytes(const ImageType&, Size, std::int64_t) const override { return 0; }
  std::string held() const override { return ""; }
  std::unique_ptr<VolumeWork> begin(const ImageType&, Size, std::int64_t) const override {
    return std::make_unique<TableWork>(table_);
  }

 private:
  const PageTable table_;
};

}  // namespace

Volume each_page(PageOperation operation) {
  return std::make_shared<EachPage>(std::move(operation));
}

Volume table_of_pages(PageTable table) { return std::make_shared<TableOfPages>(std::move(table)); }

double pixel_at(const Plane& plane, std::int64_t x, std::int64_t y) {
  return with_pixel(plane.cls(), [&]<class T>(T) -> double { return plane.row_as<T>(y)[x]; });
}

void load_row(const Plane& plane, std::int64_t y, double* values) {
  with_pixel(plane.cls(),
             [&]<class T>(T) { std::copy_n(plane.row_as<T>(y), plane.size().width, values); });
}

void store_row(const double* values, Plane& plane, std::int64_t y) {
  with_pixel(plane.cls(), [&]<class T>(T) {
    T* to = plane.row_as<T>(y);
    for (std::int64_t x = 0; x < plane.size().width; ++x) {
      if constexpr (std::is_floating_point_v<T>) {
        to[x] =
            std::isnan(values[x]) ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(values[x]);
      } else {
        const double rounded = std::floor(values[x] + 0.5);
        to[x] = rounded > 0 ? static_cast<T>(std::min(rounded, class_max(plane.cls()))) : T{0};
      }
    }
  });
}

}  // namespace impipe
