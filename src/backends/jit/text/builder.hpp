// Collects the parts of a program: parameters, buffers, functions, kernels and their launches.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "backends/jit/program/kernel_context.hpp"
#include "backends/jit/text/program_parts.hpp"
#include "backends/jit/text/text.hpp"

namespace impipe::jit {

// The text that reads or writes a plane.
struct PlaneText {
  std::string pointer, stride;  // of elements; elements from row to row
  // Of x and y that stand around it.
  std::string pixel() const { return pointer + "[y * " + stride + " + x]"; }
  std::string row(const std::string& y) const { return pointer + " + " + y + " * " + stride; }
};

// Writes one program. The writers of a kernel plan's forms ask it for the text of what their
// kernels read, each parameter and buffer by its name and as often as they like, and give it
// functions and kernels, which are launched in the order in which they are added.
class Builder {
 public:
  Builder(const KernelSpec& spec, Dialect dialect, const Tuning& tuning);

  const KernelSpec& spec() const { return *parts_.spec; }
  const Tuning& tuning() const { return tuning_; }
  Dialect dialect() const { return parts_.dialect; }
  DialectFeatures features() const { return features_of(dialect()); }
  KernelContext context() const { return {spec(), dialect(), tuning_}; }
  // What stands before a loop that registers are to hold.
  std::string unroll() const { return tuning_.unroll ? "#pragma unroll\n" : ""; }
  // The pragma of a loop over a window that makes one pixel. Clang unrolls the runs of a large
  // mask whole, and spills hundreds of registers (docs/vendors.md).
  std::string window_loop(int cells) const {
    switch (tuning_.variant.loops) {
      case KernelVariant::Loops::usual:
        return dialect() == Dialect::opencl && cells > 64 ? "#pragma unroll 1\n" : "";
      case KernelVariant::Loops::rolled: return "#pragma unroll 1\n";
      case KernelVariant::Loops::unrolled: return "#pragma unroll\n";
    }
    return "";
  }
  // A part of a kernel file whose $unroll is that.
  std::string filled(const Part& part, Replacements own = {}) const {
    return Substitutions({{"unroll", unroll()}}).filled(part, own);
  }
  // "for (...) ": such a loop, of what follows.
  std::string loop(const std::string& variable, int count) const {
    return unroll() + "for (int " + variable + " = 0; " + variable + " < " + std::to_string(count) +
           "; ++" + variable + ") ";
  }
  const Node& node(int n) const { return context().node(n); }
  PixelClass cls(const Operand& operand) const { return context().cls(operand); }
  // Of a measurement; of all its channels where the kernel takes it as a whole.
  std::int64_t values(const Operand& operand) const;
  static std::string name(const Operand& operand) { return name_of(operand); }

  // --- parameters: text that reads the value
  std::string parameter(ParameterType type, const std::string& name, ParameterValue value);
  // A whole number; `of_size`: one that follows from the size of an image.
  std::string integer(const std::string& name, LaunchNumber value,
                      ParameterType type = ParameterType::int32);
  std::string of_size(const std::string& name, const Operand& image,
                      std::function<std::int64_t(Size)> value);
  // An array: text that is followed by [index]. Large ones go through a buffer.
  std::string array(ParameterType type, const std::string& name, int count, ParameterValue value);
  // A table in a buffer, as long as each launch wants it: text that is followed by [index].
  std::string table(ParameterType type, const std::string& name, TableValues values);
  std::string width(const Operand& operand);
  std::string height(const Operand& operand);
  std::string white(const Operand& operand, const std::string& real);
  // Argument `index` of node `n` as a `real`.
  std::string argument(int n, int index, const std::string& label, const std::string& real);

  // --- buffers: text of the pointer. `type` is that of the elements.
  // Where an input or an output is; the index of other nodes is -1.
  Buffer place_of(const Operand& operand) const;
  std::string buffer(const std::string& name, const std::string& type, Buffer place, bool written);
  std::string scratch(const std::string& name, const std::string& type, LaunchNumber bytes,
                      bool cleared = false) {
    return memory(name, type, {.bytes = std::move(bytes), .cleared = cleared});
  }
  // The same, once for all images of a stack.
  std::string scratch_of_all(const std::string& name, const std::string& type, LaunchNumber bytes) {
    return memory(name, type, {.bytes = std::move(bytes), .of_all = true});
  }
  // A uint for each image of a stack: 0 at the beginning of a launch and, by the kernel, at its
  // end. Kernels of one image have ticket_bytes of them, of which the first ticket_words are
  // tickets'.
  std::string ticket();
  std::string measure(const Operand& operand);  // of doubles
  // An array in the local memory of the kernels that use it, themselves or by functions.
  std::string local_array(const std::string& name, const std::string& type, int count);
  PlaneText scratch_plane(const std::string& name, PixelClass cls,
                          std::function<Size(const LaunchContext&)> size);
  // Of an input, or of a node that is stored.
  PlaneText plane(const Operand& operand);
  int output_of(int n) const { return context().output_of(n); }  // -1 when the node is none

  // --- functions. A kernel has the buffers that its text and the functions it calls name.
  // "name(ARGS, x, y)" for a function that was written, or for an input.
  std::string call(const std::string& name, const std::string& x, const std::string& y) const;
  // From now on the image's pixels are read by that function, until it is empty.
  void read_through(const Operand& image, const std::string& function);
  // The value of an operand's pixel.
  std::string value(const Operand& operand, const std::string& x, const std::string& y);
  void function(const std::string& name, const std::string& text);
  // What takes all it uses as arguments.
  void body(const std::string& text) { parts_.pieces.push_back({.code = code_of(text)}); }
  // The same unless there is a function of that name.
  void body_once(const std::string& name, const std::string& text);
  bool has_function(const std::string& name) const { return functions_.contains(name); }

  // --- kernels, launched in the order in which they are added
  // groups: how many should fit on a processor at once, which limits the registers; 0: any.
  // local_bytes: of what the text declares with DYNAMIC_LOCAL.
  void kernel(const std::string& name, int items, const std::string& text, ShapeFunction shape,
              int groups = 0, int local_bytes = 0);
  // The same, launched before those that there are.
  void kernel_before(const std::string& name, int items, const std::string& text,
                     ShapeFunction shape);
  // Launches the last `kernels` of them, in their order, `most` times more, each time in the shape
  // of that time, not at all where it has no groups; without `shape` in the shapes that they have.
  void repeat(int kernels, int most,
              const std::function<LaunchShape(const LaunchContext&, int time)>& shape = nullptr);
  // One work-item a pixel of an image of that size: x and y are defined in `text`. `before`: what
  // all work-items of a group do before that, 32 side by side.
  void pixel_kernel(const std::string& name, const std::string& width, const std::string& height,
                    std::function<Size(const LaunchContext&)> size, const std::string& text,
                    const std::string& before = "");

  Program finish() const { return assembled(parts_); }

  [[noreturn]] void fail(const std::string& why) const;

 private:
  bool has_buffer(const std::string& name) const;
  std::string memory(const std::string& name, const std::string& type,
                     ProgramParts::ScratchPlan plan);
  // The buffers of a code and of the functions that it calls.
  std::set<std::string> buffers_of(const Code& code) const;
  void load_function(const Operand& input);
  // Text of the pointer to a buffer's part for this group's plane.
  std::string pointer_of(const ProgramParts::NamedBuffer& buffer);
  PlaneText plane_text(const std::string& name, const std::string& pointer, PixelClass cls,
                       LaunchNumber stride_bytes);

  ProgramParts parts_;
  Tuning tuning_;
  int field_bytes_ = 0;
  std::map<std::string, std::string> through_;              // image -> the function that reads it
  std::map<std::string, std::set<std::string>> functions_;  // name -> buffers
  std::set<std::string> function_texts_;                    // that are among the pieces
  std::set<std::string> bodies_;
};

}  // namespace impipe::jit
