// The page of suites: for each a figure and a table.
#include "bench/suite_report.hpp"
#include "bench/suites.hpp"
#include "cli/page.hpp"

namespace impipe::bench {
namespace {

constexpr std::string_view page_body = R"(
<main>
<h1>How fast impipe is here</h1>
<p id="run"></p>
<div class="tiles" id="tiles"></div>
<div id="suites"></div>
</main>
)";

// Lines where rows differ in a number, dots beside their names otherwise; scales are logarithmic.
constexpr std::string_view page_script = R"(
const shades = ['#8a939b', '#2f6fbb', '#0b8a6a', '#d1495b', '#8f5fbf', '#b5651d', '#a8891c', '#c2569b',
  '#57a38b', '#6c7a89'];
const rows = data.results.filter(r => !r.error);
const unique = list => [...new Set(list)];
const devices = unique(rows.map(r => r.device));
// A variant's number is what the figure's axis counts.
const variant = r => r.variant ? ' ' + r.variant.replace(/=\d+/, '') : '';
const place = r => r.device + variant(r);
const line_of = r => r.series + (r.variant ? ',' + variant(r) : '');
const shade = i => shades[i % shades.length];
const short = v => v >= 1e6 ? +(v / 1e6).toPrecision(3) + ' M' : v >= 1e4 ? +(v / 1e3).toPrecision(3) + ' k'
  : String(+v.toPrecision(3));
const time = us => us >= 1e6 ? +(us / 1e6).toPrecision(3) + ' s' : us >= 1e3 ? +(us / 1e3).toPrecision(3) + ' ms'
  : +us.toPrecision(3) + ' \u00b5s';
const kinds = {
  time: {name: 'time', of: r => r.device_us, text: time},
  time_of_image: {name: 'time an image', of: r => r.device_us / r.stack, text: time},
  bandwidth: {name: 'GB/s', of: r => r.bytes / r.device_us / 1e3, text: v => short(v) + ' GB/s',
    roof: name => (rows.find(r => r.device === name && !r.variant)?.copy_bytes_per_s ?? 0) / 1e9},
  speedup: {name: 'times the first device', of: r => r.kernel_speedup, text: v => short(v) + '\u00d7',
    overall: r => r.median_ms > 0 ? r.overall_speedup : 0}};

at('run').textContent = `impipe ${data.version}, ${data.date}`;
for (const name of devices) {
  const r = rows.find(r => r.device === name && !r.variant) ?? rows.find(r => r.device === name);
  const one = make(at('tiles'), 'div', {class: 'tile'});
  make(one, 'b', {}, name);
  make(one, 'span', {}, name === 'naive' ? 'plain loops, one thread' : name === 'host' ? 'one thread'
    : `${r.device_name}, ${r.driver}, ${r.threads === 1 ? '1 thread' : r.threads + ' threads'}` +
      (r.copy_bytes_per_s ? `; copy ${short(r.copy_bytes_per_s / 1e9)} GB/s` : ''));
}

const ticks = (low, high) => {
  const out = [];
  for (let d = Math.floor(Math.log10(low)); d <= Math.ceil(Math.log10(high)); ++d) out.push(10 ** d);
  return out;
};

// lines: [{name, color, dashed, points: [[x, y]]}]
const drawLines = (parent, caption, lines, kind, xName, low, high) => {
  const figure = make(parent, 'figure');
  make(figure, 'figcaption', {}, caption);
  const width = 340, height = 220, left = 62, right = 12, top = 10, bottom = 36;
  const svg = make(figure, 'svg', {viewBox: `0 0 ${width} ${height}`, role: 'img'});
  const xs = unique(lines.flatMap(l => l.points.map(p => p[0]))).sort((a, b) => a - b);
  const wide = xs[xs.length - 1] > 20 * xs[0];
  const along = v => wide ? Math.log(v) : v;
  const from = along(xs[0]), span = Math.max(along(xs[xs.length - 1]) - from, 1e-9);
  const x = v => left + (width - left - right) * (xs.length > 1 ? (along(v) - from) / span : 0.5);
  const y = v => top + (height - top - bottom) * (Math.log(high) - Math.log(v)) / (Math.log(high) - Math.log(low));
  const marks = ticks(low, high).filter(v => v >= low * 0.999 && v <= high * 1.001);
  for (const v of marks) {
    make(svg, 'line', {class: 'axis', x1: left, x2: width - right, y1: y(v), y2: y(v)});
    make(svg, 'text', {x: left - 6, y: y(v) + 4, 'text-anchor': 'end'}, kind.text(v));
  }
  const shown = xs.length > 6 ? xs.filter((_, i) => i % Math.ceil(xs.length / 6) === 0) : xs;
  for (const v of shown) make(svg, 'text', {x: x(v), y: height - 20, 'text-anchor': 'middle'}, short(v));
  make(svg, 'text', {x: (left + width - right) / 2, y: height - 5, 'text-anchor': 'middle'}, xName);
  for (const line of lines) {
    if (!kind.roof || line.dashed || !kind.roof(line.name)) continue;
    const roof = kind.roof(line.name);
    if (roof < low || roof > high) continue;
    const rule = make(svg, 'line', {class: 'roof', x1: left, x2: width - right, y1: y(roof), y2: y(roof),
      style: `stroke:${line.color}`});
    make(rule, 'title', {}, `a large copy on ${line.name}: ${kind.text(roof)}`);
  }
  for (const line of lines) {
    const points = line.points.sort((a, b) => a[0] - b[0]);
    make(svg, 'polyline', {points: points.map(p => `${x(p[0])},${y(p[1])}`).join(' '),
      style: `stroke:${line.color}`, class: line.dashed ? 'overall' : ''});
    for (const p of line.dashed ? [] : points) {
      const dot = make(svg, 'circle', {cx: x(p[0]), cy: y(p[1]), r: 3, fill: line.color});
      make(dot, 'title', {}, `${line.name}, ${short(p[0])}: ${kind.text(p[1])}`);
    }
  }
};

const drawDots = (parent, of, kind, low, high, color) => {
  const names = unique(of.map(r => `${r.name}, ${r.class}, ${r.width}\u00d7${r.height}`));
  const left = 300, width = 1000, line = 20, height = names.length * line + 30;
  const svg = make(parent, 'svg', {viewBox: `0 0 ${width} ${height}`, role: 'img'});
  const x = v => left + (width - left - 30) * Math.log(v / low) / Math.log(high / low);
  for (const v of ticks(low, high).filter(v => v >= low * 0.999 && v <= high * 1.001)) {
    make(svg, 'line', {class: 'axis', x1: x(v), x2: x(v), y1: 0, y2: height - 22});
    make(svg, 'text', {x: x(v), y: height - 6, 'text-anchor': 'middle'}, kind.text(v));
  }
  names.forEach((name, i) => {
    make(svg, 'text', {x: left - 10, y: i * line + 15, 'text-anchor': 'end'}, name);
    for (const r of of.filter(r => `${r.name}, ${r.class}, ${r.width}\u00d7${r.height}` === name)) {
      const dot = make(svg, 'circle', {cx: x(kind.of(r)), cy: i * line + 11, r: 5,
        fill: color(place(r))});
      make(dot, 'title', {}, `${name}, ${place(r)}: ${kind.text(kind.of(r))}`);
    }
  });
};

const keys = (parent, entries) => {
  const box = make(parent, 'div', {class: 'keys'});
  for (const [name, color] of entries) {
    const entry = make(box, 'span');
    make(entry, 'i', {style: `background:${color}`});
    entry.append(name);
  }
};

const drawPublished = (parent, list) => {
  if (!list.length) return;
  const table = make(parent, 'table', {class: 'published'});
  const head = make(make(table, 'thead'), 'tr');
  for (const h of ['what the paper says', 'times faster', 'source', 'here', 'device']) {
    make(head, 'th', {class: 'text'}, h);
  }
  const body = make(table, 'tbody');
  for (const p of list) {
    const tr = make(body, 'tr');
    for (const cell of [p.what, p.figure, p.source,
      `${p.least.toPrecision(3)} to ${p.most.toPrecision(3)} (${p.faster} over ${p.slower}, ${p.rows} rows)`,
      p.device]) make(tr, 'td', {class: 'text'}, cell);
  }
};

const drawSuite = suite => {
  const of = rows.filter(r => r.suite === suite.name);
  if (!of.length) return;
  const section = make(at('suites'), 'section', {'data-suite': suite.name});
  make(section, 'h2', {}, suite.name);
  make(section, 'p', {}, suite.summary);
  const kind = kinds[suite.value];
  const values = of.map(kind.of).concat(kind.overall ? of.map(kind.overall) : [],
    kind.roof ? of.map(r => kind.roof(r.device)) : []).filter(v => v > 0);
  const low = 10 ** Math.floor(Math.log10(Math.min(...values))), high = 10 ** Math.ceil(Math.log10(Math.max(...values)) + 1e-9);
  const top = high > low ? high : 10 * low;
  const here = unique(of.map(place));
  const varied = here.filter(name => !devices.includes(name));
  const color = name => shade(devices.includes(name) ? devices.indexOf(name)
    : devices.length + varied.indexOf(name));
  if (suite.x) {
    const panels = make(section, 'div', {class: 'panels'});
    const series = unique(of.map(r => r.series)), lines_here = unique(of.map(line_of));
    const line = (name, color, list) => ({name, color, points: list.map(r => [r.x, kind.of(r)]).filter(p => p[1] > 0)});
    if (series.length <= 3 && series.length > 1) {  // how they differ is what the figure shows
      for (const device of unique(of.map(r => r.device))) {
        drawLines(panels, device, lines_here.map((s, i) => line(s, shade(i + 1),
          of.filter(r => line_of(r) === s && r.device === device))).filter(l => l.points.length), kind, suite.x, low, top);
      }
      keys(section, lines_here.map((s, i) => [s, shade(i + 1)]));
    } else {
      for (const s of series) {
        const lines = [];
        for (const name of here) {
          const list = of.filter(r => r.series === s && place(r) === name);
          if (list.length) lines.push(line(name, color(name), list));
          if (kind.overall && list.some(r => r.transfer_ms > 0)) lines.push({name: name + ' overall',
            color: color(name), dashed: true, points: list.map(r => [r.x, kind.overall(r)]).filter(p => p[1] > 0)});
        }
        drawLines(panels, s, lines, kind, suite.x, low, top);
      }
      keys(section, here.map(d => [d, color(d)]));
    }
  } else {
    drawDots(section, of, kind, low, top, color);
    keys(section, here.map(d => [d, color(d)]));
  }
  drawPublished(section, (data.published ?? []).filter(p => p.suite === suite.name));
  const details = make(section, 'details');
  make(details, 'summary', {}, `${of.length} measurements`);
  const table = make(details, 'table');
  const head = make(make(table, 'thead'), 'tr');
  for (const h of ['row', 'class', 'size', 'channels', 'device', 'kernels', '\u00b1', '\u00d7', 'overall', '\u00d7']) make(head, 'th', {}, h);
  const body = make(table, 'tbody');
  for (const r of of) {
    const tr = make(body, 'tr');
    for (const cell of [r.name, r.class, `${r.width}\u00d7${r.height}`, r.channels,
      place(r) + (r.fused ? '' : ' --no-fuse'),
      time(r.device_us), time(r.device_deviation_us), r.kernel_speedup.toPrecision(3),
      r.median_ms > 0 ? time(1e3 * r.median_ms) : '\u2013',
      r.median_ms > 0 ? r.overall_speedup.toPrecision(3) : '\u2013']) make(tr, 'td', {}, cell);
  }
};
data.suites.forEach(drawSuite);
const failed = data.results.filter(r => r.error);
if (failed.length) {
  const section = make(at('suites'), 'section');
  make(section, 'h2', {}, 'Not measured');
  for (const r of failed) make(section, 'p', {}, `${r.name}, ${place(r)}: ${r.error}`);
}
)";

const char* name_of(Figure::Value value) {
  constexpr const char* names[] = {"time", "time_of_image", "bandwidth", "speedup"};
  return names[static_cast<int>(value)];
}

}  // namespace

std::string suites_page(nlohmann::ordered_json bench) {
  bench["suites"] = nlohmann::ordered_json::array();
  for (const Suite& suite : all_suites()) {
    bench["suites"].push_back({{"name", suite.name},
                               {"summary", suite.summary},
                               {"x", suite.figure.x},
                               {"value", name_of(suite.figure.value)}});
  }
  return cli::html_page(bench, "bench", page_body, page_script);
}

}  // namespace impipe::bench
