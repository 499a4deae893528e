// A plane in the local memory of groups that make a pixel a work-item.
#include "backends/jit/pixel/pixel.hpp"
#include "backends/jit/text/dialect.hpp"
#include "backends/jit/text/kernel_files.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {

GroupTile::GroupTile(Builder& builder, const std::string& name, PixelClass cls,
                     const PixelTile& tile, const std::string& source, const std::string& width,
                     const std::string& height)
    : function_(name) {
  const std::string array = builder.local_array(name + "_pixels", type_of(cls), tile.elements());
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
  builder.function(name, words.filled(part(kernels::pixel, "tile_pixel")));
  fill_ = words.filled(part(kernels::pixel, "group_tile"));
}

GroupTile tile_of_image(Builder& builder, const PixelTile& tile, int n) {
  const Operand image = builder.node(n).images[0];
  return {builder,
          Builder::name({false, n}) + "_tile",
          builder.cls(image),
          tile,
          builder.plane(image).pixel(),
          builder.width(image),
          builder.height(image)};
}

GroupTile framed_tile_of_image(Builder& builder, const PixelTile& tile, int n) {
  const Operand image = builder.node(n).images[0];
  const std::string name = Builder::name({false, n}), framed = name + "_framed";
  const Border border = std::get<Stencil>(builder.node(n).primitive).border;
  write_border(builder, framed, "float", builder.value(image, "x", "y"), border,
               outside_value(builder, n, border), builder.width(image), builder.height(image));
  return {builder,
          name + "_tile",
          PixelClass::single,
          tile,
          builder.call(framed, "x", "y"),
          builder.width(image),
          builder.height(image)};
}

GroupTile tile_of_rows(Builder& builder, const PixelTile& tile, int n) {
  return {builder,
          Builder::name({false, n}) + "_rows_tile",
          PixelClass::single,
          tile,
          plane_of_rows(builder, n).pixel(),
          builder.width({false, n}),
          builder.height(builder.node(n).images[0])};
}

}  // namespace impipe::jit
