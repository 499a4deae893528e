// Kernels of Fourier transforms of images, one of each kind.
#include <memory>

#include "core/host_work.hpp"
#include "support/tiled_specs.hpp"

namespace impipe::testing {

std::vector<SpecCase> spectral_specs() {
  using Kind = SpectralWork::Kind;
  std::vector<SpecCase> specs;
  for (const Kind kind : {Kind::forward, Kind::inverse, Kind::cosine, Kind::inverse_cosine,
                          Kind::gain, Kind::factors, Kind::wiener, Kind::lucy, Kind::taper}) {
    const SpectralWork work{.kind = kind, .rows = 1, .columns = 1, .psf = {1}, .iterations = 3};
    const HostWork host{.name = "spectrum", .text = "spectrum", .spectral = work};
    Node node{.primitive = OnHost{std::make_shared<const HostWork>(host)},
              .images = {{true, 0}},
              .cls = PixelClass::single};
    KernelSpec spec{.inputs = {{.cls = PixelClass::single}}, .nodes = {}, .outputs = {0}};
    if (kind == Kind::factors) {
      node.images.push_back({true, 1});
      spec.inputs.push_back({.cls = PixelClass::single});
    }
    spec.nodes.push_back(std::move(node));
    specs.push_back({.name = "spectrum", .spec = std::move(spec)});
  }
  return specs;
}

}  // namespace impipe::testing
