// The style of the pages and what holds them together.
#include "cli/page.hpp"

namespace impipe::cli {
namespace {

// Light and dark, no fonts or pictures from elsewhere.
constexpr std::string_view page_style = R"(
:root { color-scheme: light dark; --ground: #fbfbf9; --card: #ffffff; --ink: #1d2327;
  --soft: #66717a; --line: #e0e3e1; --accent: #0b6e6e;
  --start_up: #8a939b; --finish: #a9b1b8; --compile: #b5651d; --kernel_wait: #d9a066; --headers: #6c7a89;
  --decode: #2f6fbb; --upload: #8f5fbf; --kernels: #0b8a6a; --download: #c2569b;
  --host: #a8891c; --help: #57a38b; --encode: #d1495b; --compute: #b9c4c9; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181b; --card: #1c2226; --ink: #e6eaec;
  --soft: #9aa6ae; --line: #2d363c; --accent: #53c2b4;
  --start_up: #7d8891; --finish: #5f6a73; --compile: #e08e45; --kernel_wait: #a9763f; --headers: #8797a8;
  --decode: #6aa5ec; --upload: #b48ae0; --kernels: #35c79b; --download: #e589c4;
  --host: #d6b848; --help: #6fbfa5; --encode: #f07f8d; --compute: #46525a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 23px; line-height: 1.3; margin: 0 0 4px; font-weight: 650; }
h2 { font-size: 15px; margin: 0 0 12px; font-weight: 650; }
p, figcaption { margin: 0 0 8px; color: var(--soft); }
code, pre, .number { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
code { font-size: 13px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 18px 20px; margin: 16px 0; overflow-x: auto; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px;
  margin: 18px 0 0; }
.tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 12px 16px; }
.tile b { display: block; font-size: 21px; font-weight: 650; }
.tile span { color: var(--soft); font-size: 13px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: right; color: var(--soft); font-weight: 500; padding: 4px 10px; }
td { text-align: right; padding: 6px 10px; border-top: 1px solid var(--line);
  font-variant-numeric: tabular-nums; vertical-align: top; }
th:first-child, td:first-child, .text { text-align: left; }
td small { color: var(--soft); display: block; }
.bar { display: grid; grid-template-columns: 150px 1fr 92px 260px; gap: 12px; align-items: center;
  padding: 4px 0; font-size: 14px; }
.bar i { display: block; height: 14px; border-radius: 3px; min-width: 1px; }
.bar .track { background: color-mix(in srgb, var(--line) 55%, transparent); border-radius: 3px; }
.bar .seconds { text-align: right; font-variant-numeric: tabular-nums; }
.bar .limit { color: var(--soft); font-size: 13px; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--soft); font-size: 11.5px; }
svg .axis { stroke: var(--line); }
svg .roof { stroke: var(--accent); stroke-width: 1.5; stroke-dasharray: 5 4; }
pre { margin: 0; font-size: 12.5px; line-height: 1.45; white-space: pre-wrap; }
.keys { display: flex; flex-wrap: wrap; gap: 4px 16px; font-size: 13px; color: var(--soft);
  margin-top: 10px; }
.keys i { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 6px;
  vertical-align: -1px; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(310px, 1fr)); gap: 10px 18px; }
.panels figcaption { font-size: 13px; margin: 6px 0 0; }
figure { margin: 0; }
svg polyline { fill: none; stroke-width: 2; }
svg .overall { stroke-dasharray: 4 4; stroke-width: 1.5; }
@media (max-width: 760px) { .bar { grid-template-columns: 120px 1fr 84px; }
  .bar .limit { grid-column: 2 / 4; } }
)";

// Everything is drawn with elements and text nodes: nothing of the data becomes markup.
constexpr std::string_view page_helpers = R"(
const at = id => document.getElementById(id);
const make = (parent, name, attributes = {}, text) => {
  const svg = parent.namespaceURI.endsWith('svg') || name === 'svg';
  const one = svg ? document.createElementNS('http://www.w3.org/2000/svg', name)
                  : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  if (text !== undefined) one.textContent = text;
  parent.append(one);
  return one;
};
)";

}  // namespace

std::string html_page(const nlohmann::ordered_json& data, std::string_view id,
                      std::string_view body, std::string_view script) {
  std::string json = data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  // Nothing in it may end the element that it stands in.
  for (size_t at = 0; (at = json.find('<', at)) != std::string::npos;)
    json.replace(at, 1, "\\u003c");
  const std::string name(id);
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>impipe</title>\n<style>";
  out += page_style;
  out += "</style>\n<body>";
  out += body;
  out += "<script type=\"application/json\" id=\"" + name + "\">" + json + "</script>\n<script>";
  out += "'use strict';\nconst data = JSON.parse(document.getElementById('" + name +
         "').textContent);\n";
  out += page_helpers;
  out += script;
  out += "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace impipe::cli
