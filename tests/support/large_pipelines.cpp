// Pipelines with large parameters.
#include "support/large_pipelines.hpp"

#include <random>

#include "support/test_image.hpp"

namespace impipe::test {
namespace {

std::mt19937_64& random() {
  static std::mt19937_64 of_all(7);
  return of_all;
}

// Whole numbers from low to high.
std::string matrix(int rows, int columns, int low, int high) {
  std::string text = "[";
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const auto span = static_cast<unsigned>(high - low + 1);
      text += " " + std::to_string(low + static_cast<int>(random()() % span));
    }
    text += r + 1 < rows ? ";" : "]";
  }
  return text;
}

std::string repeated(const std::string& stage, int times) {
  std::string text = stage;
  for (int i = 1; i < times; ++i) text += " | " + stage;
  return text;
}

// Twenty images are kept, each made from the one before, and summed.
std::string kept(const std::string& stage) {
  std::string text, sum = " | imlincomb 0.05";
  for (int i = 0; i < 20; ++i) {
    text += "as a" + std::to_string(i) + " | " + stage + " | ";
    sum += " 0.05";
  }
  for (int i = 0; i < 20; ++i) sum += " :a" + std::to_string(i);
  return text + "imcomplement" + sum;
}

std::vector<std::string> texts() {
  std::vector<std::string> out;
  for (const char* sigma : {"0.01", "0.3", "5", "12", "12.6", "25", "60"}) {
    out.push_back(std::string("imgaussfilt ") + sigma);
  }
  for (const char* size : {"101,101", "51,1", "1,51", "255,255", "3,99", "99,3", "64,64"}) {
    out.push_back(std::string("imfilter fspecial:average,") + size);
  }
  for (const char* element : {"disk,100", "disk,40", "square,200", "square,301", "rectangle,1,400",
                              "rectangle,400,1", "diamond,60", "octagon,60", "line,99,37",
                              "line,201,90", "pair,300,-200", "periodicline,9,7,-5"}) {
    out.push_back(std::string("imdilate ") + element);
    out.push_back(std::string("imopen ") + element);
  }
  for (const char* rank : {"5 square,13", "112 square,15", "1 square,21", "481 square,31",
                           "900 square,33", "1 square,64", "5000 square,101", "30 disk,15"}) {
    out.push_back(std::string("ordfilt2 ") + rank);
  }
  for (const char* size : {"63", "3,99", "99,3", "1,201", "127", "4,6"}) {
    out.push_back(std::string("medfilt2 ") + size);
  }
  out.push_back("imfilter " + matrix(31, 31, -9, 9) + "/100");
  out.push_back("imfilter " + matrix(17, 19, -9, 9) + "/50 circular");
  out.push_back("conv2 " + matrix(1, 40, -9, 9));
  out.push_back("conv2 " + matrix(25, 1, -9, 9));
  out.push_back("conv2 " + matrix(64, 64, -9, 9) + " full");
  out.push_back("imdilate " + matrix(31, 31, 0, 1));
  out.push_back("imerode " + matrix(40, 3, 0, 1));
  out.push_back("imclose " + matrix(9, 60, 0, 1));
  out.push_back("imdilate square,11 heights=" + matrix(11, 11, -9, 9));
  out.push_back("ordfilt2 50 " + matrix(19, 19, 0, 1));
  out.push_back("ordfilt2 3 square,7 offsets=" + matrix(7, 7, -9, 9));
  out.push_back(repeated("imadjust 0.1,0.9 | imcomplement", 60));
  out.push_back(repeated("imcomplement | imabsdiff :b", 40));
  out.push_back(repeated("map 'x * 0.9 + 3'", 100));
  out.push_back(repeated("imgaussfilt 1", 12));
  out.push_back(repeated("imdilate square,3 | imerode square,3", 10));
  out.push_back(repeated("medfilt2 3", 8));
  out.push_back(repeated("conv2 k3 | imcomplement", 8));
  out.push_back(repeated("imfilter [0 1 0; 1 4 1; 0 1 0]/8", 15));
  out.push_back(kept("imgaussfilt 0.5"));
  out.push_back(kept("imcomplement"));
  out.push_back("imhist 65536");
  out.push_back("histogram 'x * 3' bins=65536");
  out.push_back("histeq 65536");
  out.push_back("histeq");
  out.push_back("graythresh");
  out.push_back("stretchlim");
  out.push_back("stencil 'at(-20,-20) + at(20,20)' r20");
  out.push_back("edge log sigma=9");
  out.push_back("imresize 0.01");
  out.push_back("imresize 7.3 bicubic");
  return out;
}

}  // namespace

std::vector<RandomRun> large_runs() {
  std::vector<RandomRun> out;
  for (const std::string& text : texts()) {
    for (const int channels : {1, 3}) {
      for (const PixelClass cls : {PixelClass::uint8, PixelClass::uint16, PixelClass::single}) {
        const Size size{37, 29};
        RandomRun run{.text = text, .image = test_image(cls, channels, size, 3)};
        run.operands = {{"b", test_image(cls, channels, size, 4)}};
        out.push_back(std::move(run));
      }
    }
  }
  return out;
}

}  // namespace impipe::test
