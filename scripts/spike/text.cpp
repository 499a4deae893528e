// Makes the kernel text of the spike from the bodies and the vocabulary.
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "spike.hpp"

namespace spike {
namespace {

std::string file(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// "(a, b)" -> {"a", "b"}
std::vector<std::string> names(std::string list) {
  for (char& c : list) {
    if (c == '(' || c == ')' || c == ',') c = ' ';
  }
  std::istringstream in(list);
  std::vector<std::string> found;
  for (std::string name; in >> name;) found.push_back(name);
  return found;
}

std::string join(const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : ", ") + part;
  return all;
}

// One line a statement, indented by braces: what a user is shown.
std::string formatted(const std::string& text) {
  std::string out;
  int depth = 0, round = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(') ++round;
    if (c == ')') --round;
    if (c == '{') ++depth;
    if (c == '}') {
      --depth;
      if (out.size() > 1 && out.substr(out.size() - 2) == "  ") out.resize(out.size() - 2);
    }
    out += c;
    if ((c == ';' && round == 0) || c == '{' || c == '}') {
      while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
      out += "\n" + std::string(static_cast<std::size_t>(2 * depth), ' ');
    }
  }
  return out;
}

// static float NAME_value(const float x, ...) { typedef float real; BODY }
std::string function(const std::string& name, const std::string& real, const std::string& first,
                     const std::vector<std::string>& parameters, const char* body) {
  std::vector<std::string> typed;
  if (!first.empty()) typed.push_back(first);
  for (const std::string& p : parameters) typed.push_back("const " + real + " " + p);
  return "FUNCTION " + real + " " + name + "(" + join(typed) + ") " +
         formatted("{ typedef " + real + " real; " + body + " }") + "\n";
}

std::string point(const impipe::PointBody& body, const std::string& real) {
  const std::string name = std::string(body.name) + "_" + real;
  std::vector<std::string> all = names(body.input_names), arguments, values;
  for (const std::string& x : all) {
    arguments.push_back("GLOBAL const " + real + "* " + x);
    values.push_back(x + "[i]");
  }
  arguments.push_back("GLOBAL " + real + "* out");
  arguments.push_back("const long n");
  for (const std::string& p : names(body.parameter_names)) {
    all.push_back(p);
    arguments.push_back("const " + real + " " + p);
    values.push_back(p);
  }
  return function(name + "_value", real, "", all, body.text) + "KERNEL void " + name + "(" +
         join(arguments) + ") {\n  const long i = GLOBAL_X;\n  if (i < n) out[i] = " + name +
         "_value(" + join(values) + ");\n}\n";
}

std::string stencil(const impipe::StencilBody& body) {
  const std::string name = body.name;
  std::string arguments, values;
  for (const std::string& p : names(body.parameter_names)) {
    arguments += ", const float " + p;
    values += ", " + p;
  }
  return function(name + "_value", "float", "GLOBAL const float* at_centre, const int at_pitch",
                  names(body.parameter_names), body.text) +
         "KERNEL void " + name +
         "(GLOBAL const float* in, GLOBAL float* out, const int width, const int pitch" +
         arguments + ") {\n  if (GLOBAL_X < width) out[GLOBAL_Y * width + GLOBAL_X] =\n      " +
         name + "_value(in + (GLOBAL_Y + 1) * pitch + GLOBAL_X + 1, pitch" + values + ");\n}\n";
}

}  // namespace

std::string kernel_text(const std::string& dialect, const std::string& folder) {
  std::string text = file(folder + "/" + dialect + ".h") + file(folder + "/words.h");
  for (const std::string real : {"float", "double"}) {
    text += "#undef REAL\n#define REAL " + real + "\n";
    for (const impipe::ComposedWord& word : impipe::composed_words) {
      text += function(std::string(word.name) + "_" + real, real, "", names(word.parameters),
                       word.text);
    }
    for (const impipe::PointBody* body : points) text += point(*body, real);
  }
  text += "#undef REAL\n#define REAL float\n" + stencil(impipe::bodies::prewitt);
  return text + file(folder + "/sums.h");
}

}  // namespace spike
