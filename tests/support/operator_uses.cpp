// How tests that walk over the catalogue use each operator.
#include "support/operator_uses.hpp"

#include "support/test_image.hpp"

namespace impipe::test {
namespace {

// How an operator is used in the walk; :b is an image like the current one, :gray its like in gray,
// :lut a table for it.
const std::map<std::string_view, std::vector<std::string>> uses{
    {"adapthisteq", {"tiles=2,3", "4,2 c0.1 n32", "clip=1"}},
    {"applylut", {"[0 1 1 0 1 0 0 1 0 0 1 1 0 1 0 1]"}},
    {"bwareaopen", {"3", "2 4"}},
    {"bwareafilt", {"2", "1 smallest 4", "range=2,7", "range=3,inf"}},
    {"bwconncomp", {"", "4"}},
    {"bwdist", {"", "cityblock index", "chessboard", "quasi-euclidean"}},
    {"bweuler", {"", "4"}},
    {"bwhitmiss", {"[0 -1 -1; 1 1 -1; 0 1 0]", "se1=[1 1] se2=[0 0; 1 1]", "se1=[0] se2=[1]"}},
    {"bwlabel", {"", "4", "[0 1 0; 1 1 1; 0 1 0]"}},
    {"bwlookup",
     {"[0 1 1 0 1 0 0 1 0 0 1 1 0 1 0 1]", "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] class=uint8"}},
    {"bwmorph",
     {"thin", "thin inf", "skel inf", "shrink 2", "spur 3", "clean", "fill", "remove",
      "majority inf", "diag", "bridge", "hbreak 2", "dilate 2", "erode inf", "open", "close",
      "tophat", "bothat 3"}},
    {"bwperim", {"", "8"}},
    {"bwselect", {"0,3,9,12,4 0,2,5,11,16", "columns=2 rows=1 conn=4"}},
    {"cat", {":b :b"}},
    {"channel", {"1"}},
    {"circshift", {"7,-9", "-50"}},
    {"conv2", {"k7", "k4 full", "[1 2 3; 0 -1 0; 0 0 -4]", "fspecial:gaussian,5,1.2 valid"}},
    {"corr2", {":b"}},
    {"dither", {""}},
    {"edge",
     {"", "prewitt nothinning", "roberts", "sobel t0.1 vertical", "log",
      "zerocross filter=fspecial:log,9,1.5", "canny", "canny 0.1,0.3 s1"}},
    {"entropyfilt", {"", "rectangle,2,4", "[0 1; 1 1; 0 0]"}},
    {"filter2", {"[1 2 3; 0 -1 0]", "fspecial:sobel valid", "[1 0;2 1] full"}},
    {"gamma", {"0.5"}},
    {"graythresh", {""}},
    {"histeq", {"", "300"}},
    {"histogram", {"'x / 4' bins=64"}},
    {"im2bw", {"", "graythresh"}},
    {"imabsdiff", {":b", "3", ":b class=uint16"}},
    {"imadd", {":b", "3", ":b class=single"}},
    {"imadjust", {"", "0.1,0.9", "in=0.2,0.7 out=1,0 gamma=0.5"}},
    {"imapplymatrix", {"[0.5 0.25 0.25;-0.5 1 0.5;0 0.125 1.5] add=0,10,-5", "[0.2 0.7 0.1]"}},
    {"imbilatfilt", {"", "0.02 s2", "650 k3", "k13"}},
    {"imbinarize", {"", "0.3"}},
    {"imbothat", {"disk,2"}},
    {"imblend", {":b", ":gray alpha=0.25 mask=:b"}},
    {"imboxfilt", {"", "4,5"}},
    {"imclearborder", {"", "4"}},
    {"imclose", {"line,7,20"}},
    {"imcomplement", {""}},
    {"imcrop", {"-3,0,9,30", "size=60 percent", "1,1,8,3.5 origin=1"}},
    {"imdilate", {"square,3", "[1 0 0; 0 1 0; 0 1 1]", "disk,7"}},
    {"imdivide", {":b", "3"}},
    {"imerode", {"square,3", "rectangle,31,2", "octagon,3", "pair,2,-3", "periodicline,2,1,-2"}},
    {"imextendedmax", {"20", "0.1 4"}},
    {"imextendedmin", {"20", "0.1 4"}},
    {"imfill", {"", "holes 8"}},
    {"imfilter",
     {"fspecial:average,3", "[1 2; 3 4]/10 circular", "fspecial:sobel replicate",
      "[1 2 3; 0 -1 0; 0 0 -4] symmetric conv", "[1 2 1]/4 size=full"}},
    {"imgaussfilt", {"", "1.4", "2,0.7"}},
    {"imgradient", {"", "prewitt direction", "central", "intermediate", "roberts"}},
    {"imgradientxy", {"", "prewitt y", "central", "intermediate y", "roberts"}},
    {"imgradmorph", {"rectangle,3,7"}},
    {"imguidedfilter", {"", "guide=:b 7,3 smoothing=0.001"}},
    {"imhist", {"", "16"}},
    {"imhistmatch", {":b", ":b bins=32"}},
    {"imhmax", {"20", "0.1 4"}},
    {"imhmin", {"20", "0.1 4"}},
    {"imimposemin", {":gray", ":gray 4"}},
    {"imlincomb", {"0.5", "1 -1 :b add=3", "0.5 0.25 0.25 :b :b class=single"}},
    {"immse", {":b"}},
    {"immultiply", {":b", "1.5"}},
    {"imnoise", {"", "salt density=0.1 seed=7", "speckle", "poisson"}},
    {"imopen", {"diamond,2"}},
    {"imoverlay", {":b", ":gray color=[0.2 1 0] alpha=0.5"}},
    {"impad",
     {"2", "1,20,0,35 symmetric", "3 circular", "2 replicate", "20 reflect", "4,30 reflect pre"}},
    {"imquantize", {"60,120,200", "0.25,0.5 values=0,0.5,1"}},
    {"imreconstruct", {":b", ":b 4"}},
    {"imregionalmax", {"", "4", "strict", "4 strict"}},
    {"imregionalmin", {"", "4 strict"}},
    {"imresize",
     {"0.5", "1.7 bilinear", "size=NaN,40", "0.3 nearest", "fit=20,30", "fit=9,9 only=shrink",
      "[20 25] lanczos3", "0.4 lanczos2", "0.3 nearest antialiasing=on", "1.5 box"}},
    {"imrotate", {"90", "33", "-17.5 bilinear crop", "200 bicubic fill=3", "-90 crop"}},
    {"imsharpen", {"", "r2.2 a1.5 threshold=0.3"}},
    {"imsubtract", {":b", "3"}},
    {"imtophat", {"square,5"}},
    {"imtranslate", {"5,-3", "-2.25,4.5 fill=40", "3.5,-1.25 bicubic full", "0.5,0.5 nearest"}},
    {"imwarp",
     {"rotate=30 fill=7", "[1 0.2 3; 0 0.7 1] nearest size=20,30", "rotate=30 bicubic view=full",
      "[1 0.1 2; 0.05 0.9 -1; 0.002 0.001 1]", "[2 0 0; 0 2 0; 0 0 2] nearest view=full"}},
    {"ind2rgb", {"[0 0 0; 0.5 0.25 1; 1 1 0]"}},
    {"intlut", {":lut"}},
    {"iradon", {"", "7.5 nearest hann", "none size=9"}},
    {"jointhist", {":b", ":b 7"}},
    {"label2rgb", {"", "gray background=0,0,0"}},
    {"map", {"'x / 2'", "'(r + g) / 2'", "'max(x, b2) + col' class=single"}},
    {"mat2gray", {"", "10,20"}},
    {"max", {"", "each"}},
    {"mean2", {"", "each", ":b"}},
    {"medfilt2", {"", "k5 symmetric", "2,4 circular"}},
    {"min", {"", "each"}},
    {"multithresh", {"", "3"}},
    {"ordfilt2",
     {"7 rectangle,3,5", "1 disk,2 replicate", "4 square,3 offsets=[0 1 2; -3 4.5 5; 6 -700 8]",
      "60 disk,5 symmetric"}},
    {"otsuthresh", {"", ":gray"}},
    {"padarray", {"2", "3,4 symmetric post"}},
    {"psnr", {":b"}},
    {"radon", {"0:10:179", "theta=30"}},
    {"rangefilt", {"", "rectangle,2,4", "[0 1; 1 1; 0 0]"}},
    {"reduce", {"'max(acc, x)'"}},
    {"regionprops",
     {"", "origin=0", "image=:gray",
      "Area,FilledArea,Circularity,ConvexArea,MaxFeretDiameter,MinFeretAngle"}},
    {"rgb2ycbcr", {"", "709"}},
    {"rot90", {"", "2", "-1"}},
    {"ssim", {":b"}},
    {"stats", {"", "each"}},
    {"std2", {"", "each"}},
    {"stdfilt", {"", "rectangle,4,5", "[0 1 0; 1 1 1; 0 1 0]", "[1]"}},
    {"stencil", {"'at(1,0) - at(-1,0)'", "'x + at(0,2)' circular"}},
    {"stretchlim", {"", "tol=0.2", ":b"}},
    {"sum", {"", "each"}},
    {"watershed", {"", "4"}},
    {"wiener2", {"", "5,4 noise=0.01"}},
    {"ycbcr2rgb", {"", "2020"}},
};
// Those without arguments.
const std::vector<std::string> plain{""};

}  // namespace

const std::vector<std::string>* uses_of(const Operator& op) {
  const auto it = uses.find(op.name);
  if (it != uses.end()) return &it->second;
  return op.parameters.empty() ? &plain : nullptr;
}

std::map<std::string, HostImage> operands_for(const HostImage& image) {
  const PixelClass cls = image.type.cls;
  const HostImage other = test_image(cls, image.type.channels, image.size(), 55);
  const int codes = static_cast<int>(class_max(cls)) + 1;
  const HostImage gray = test_image(cls, 1, image.size(), 57);
  return {{"b", other}, {"b2", other}, {"gray", gray}, {"lut", test_image(cls, 1, {codes, 1}, 56)}};
}

}  // namespace impipe::test
