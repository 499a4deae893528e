// A plane in the local memory of groups that make a pixel a work-item.
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {

GroupTile::GroupTile(Builder& to, const std::string& name, PixelClass cls, const PixelTile& tile,
                     const std::string& source, const std::string& width, const std::string& height)
    : function_(name) {
  const std::string array = to.local_array(name + "_pixels", type_of(cls), tile.elements());
  const Substitutions words{{{"tile", [&] { return name; }},
                             {"type", [&] { return type_of(cls); }},
                             {"array", [&] { return array; }},
                             {"source", [&] { return source; }},
                             {"width", [&] { return width; }},
                             {"height", [&] { return height; }},
                             {"tile_columns", [&] { return number(tile.columns); }},
                             {"tile_rows", [&] { return number(tile.rows); }},
                             {"halo_x", [&] { return number(tile.halo_x); }},
                             {"halo_y", [&] { return number(tile.halo_y); }},
                             {"down", [&] { return number(tile.group_rows); }},
                             {"apart_x", [&] { return number(tile.apart_x); }},
                             {"apart_y", [&] { return number(tile.apart_y); }},
                             {"framed", [&] { return std::string(tile.framed ? "1" : "0"); }}}};
  to.function(name, words.filled(part(kernels::pixel, "tile_pixel")));
  fill_ = words.filled(part(kernels::pixel, "group_tile"));
}

GroupTile tile_of_image(Builder& to, const PixelTile& tile, int n) {
  const Operand image = to.node(n).images[0];
  return {to,
          Builder::name({false, n}) + "_tile",
          to.cls(image),
          tile,
          to.plane(image).pixel(),
          to.width(image),
          to.height(image)};
}

GroupTile framed_tile_of_image(Builder& to, const PixelTile& tile, int n) {
  const Operand image = to.node(n).images[0];
  const std::string name = Builder::name({false, n}), framed = name + "_framed";
  const Border border = std::get<Stencil>(to.node(n).primitive).border;
  write_border(to, framed, "float", to.value(image, "x", "y"), border, outside_value(to, n, border),
               to.width(image), to.height(image));
  return {to,
          name + "_tile",
          PixelClass::single,
          tile,
          to.call(framed, "x", "y"),
          to.width(image),
          to.height(image)};
}

GroupTile tile_of_rows(Builder& to, const PixelTile& tile, int n) {
  return {to,
          Builder::name({false, n}) + "_rows_tile",
          PixelClass::single,
          tile,
          plane_of_rows(to, n).pixel(),
          to.width({false, n}),
          to.height(to.node(n).images[0])};
}

}  // namespace impipe::jit
