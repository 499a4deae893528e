// Writes a profile as one page of HTML that needs nothing else.
#include <algorithm>

#include "cli/page.hpp"
#include "cli/profile_report.hpp"
#include "cli/profile_values.hpp"

namespace impipe::cli {
namespace {

using engine::Profile;
using engine::Slice;
using Json = nlohmann::ordered_json;

constexpr std::string_view page_body = R"(
<main>
<h1 id="verdict"></h1>
<p><code id="pipeline"></code></p>
<p id="run"></p>
<div class="tiles" id="tiles"></div>
<section><h2>Wall time, and what limits it</h2><div id="wall"></div></section>
<section><h2>What went on when</h2><p id="lanes-note"></p><div id="lanes"></div>
<div class="keys" id="keys"></div></section>
<section><h2>Steps</h2><table id="steps"><thead><tr><th>step</th><th>images</th><th>launches</th>
<th>&micro;s an image</th><th>GB/s</th><th>share of a copy</th></tr></thead><tbody></tbody></table>
</section>
<section><h2>Bandwidth under the roof</h2><p>Each step by the bytes that an image of it moves, and the
speed at which it moves them; the roof is a copy of buffers larger than all caches.</p>
<div id="roofline"></div></section>
<section><h2>Devices</h2><table id="devices"><thead><tr><th>device</th><th>images</th><th>busy</th>
<th>copy GB/s</th><th>up GB/s</th><th>down GB/s</th><th>memory MiB</th></tr></thead><tbody></tbody>
</table></section>
<section><h2>Plan</h2><pre id="plan"></pre></section>
</main>
)";

// Draws with elements and text nodes alone: nothing of the data becomes markup.
constexpr std::string_view page_script = R"(
const seconds = s => s >= 1 ? s.toFixed(2) + ' s' : s >= 1e-3 ? (1e3 * s).toFixed(1) + ' ms'
  : (1e6 * s).toFixed(1) + ' \u00b5s';
const giga = v => v > 0 ? (v / 1e9).toPrecision(3) : '\u2013';
const percent = v => (100 * v).toFixed(v < 0.1 ? 1 : 0) + ' %';
const mebi = v => (v / 1048576).toFixed(1);

const verdict = data.verdict.charAt(0).toUpperCase() + data.verdict.slice(1);
at('verdict').textContent = verdict;
at('pipeline').textContent = data.pipeline + (data.fused ? '' : '   (not fused)');
document.title = 'impipe: ' + data.pipeline;
const image = data.image;
at('run').textContent = `impipe ${data.version}, ${data.date}; first image ${image.width} \u00d7 ` +
  `${image.height}, ${image.channels === 1 ? 'gray' : image.channels + ' channels'}, ${image.class}`;
const tile = (value, what) => {
  const one = make(at('tiles'), 'div', {class: 'tile'});
  make(one, 'b', {}, value);
  make(one, 'span', {}, what);
};
tile(String(data.files), data.files === 1 ? 'file' : 'files' + (data.failed ? `, ${data.failed} failed` : ''));
tile(seconds(data.wall_s), 'from start to end');
tile(data.files_per_s.toFixed(1), 'files a second');
tile(percent(Math.min(1, data.threads_busy)), data.threads + (data.threads === 1 ? ' thread busy' : ' threads busy'));
for (const device of data.devices) tile(percent(Math.min(1, device.busy_share)), device.id + ' busy');
tile(mebi(data.peak_process_bytes) + ' MiB', 'memory at most');

const bars = Object.entries(data.wall);
bars.push(['unaccounted', {name: 'unaccounted', seconds: data.unaccounted_s,
  share: data.unaccounted_s / data.wall_s, limit: `overlap of the above: ${seconds(data.overlap_s)}`}]);
for (const [key, bar] of bars) {
  const row = make(at('wall'), 'div', {class: 'bar', 'data-part': key});
  make(row, 'span', {}, bar.name);
  const track = make(row, 'div', {class: 'track'});
  make(track, 'i', {style: `width:${Math.max(0, Math.min(100, 100 * bar.share))}%;` +
    `background:var(--${key}, var(--soft))`});
  make(row, 'span', {class: 'seconds'}, `${seconds(Math.max(0, bar.seconds))}`);
  make(row, 'span', {class: 'limit'}, `${percent(Math.max(0, bar.share))}${bar.limit ? '; ' + bar.limit : ''}`);
}

const main = ['start_up', 'finish'];
const drawLanes = () => {
  const names = new Map();
  const laneOf = s => {
    const [kind, device, lane] = s;
    const name = device >= 0 ? `${data.devices[device]?.id ?? 'cpu'} queue ${lane}`
      : data.kinds[kind].key === 'compile' ? 'compiler' : main.includes(data.kinds[kind].key)
      ? 'main' : `thread ${lane}`;
    const order = device >= 0 ? 2e6 + 1e4 * device + lane : main.includes(data.kinds[kind].key) ? -1
      : data.kinds[kind].key === 'compile' ? 1e6 : lane;
    if (!names.has(name)) names.set(name, order);
    return name;
  };
  const slices = data.slices.map(s => ({lane: laneOf(s), key: data.kinds[s[0]].key,
    name: data.kinds[s[0]].name, step: s[3], file: s[4], begin: s[5], end: s[6]}));
  const lanes = [...names.keys()].sort((a, b) => names.get(a) - names.get(b));
  const end = Math.max(...slices.map(s => s.end), 1e-9);
  const left = 120, width = 1000, height = 20, gap = 5;
  const total = lanes.length * (height + gap) + 24;
  const svg = make(at('lanes'), 'svg', {viewBox: `0 0 ${left + width + 10} ${total}`, role: 'img'});
  const x = t => left + width * t / end;
  lanes.forEach((lane, i) => {
    make(svg, 'text', {x: left - 8, y: i * (height + gap) + 14, 'text-anchor': 'end'}, lane);
    make(svg, 'line', {class: 'axis', x1: left, x2: left + width, y1: i * (height + gap) + height,
      y2: i * (height + gap) + height});
  });
  const rank = key => key === 'compute' ? 0 : 1;
  slices.sort((a, b) => rank(a.key) - rank(b.key));
  for (const s of slices) {
    const inner = rank(s.key);
    const box = make(svg, 'rect', {x: x(s.begin), y: lanes.indexOf(s.lane) * (height + gap) + 2,
      width: Math.max(0.6, x(s.end) - x(s.begin)), height: inner ? height - 4 : height - 2,
      fill: `var(--${s.key})`, 'data-kind': s.key});
    const what = s.step >= 0 ? data.steps[s.step].stages : s.name;
    make(box, 'title', {}, `${what}\n${s.file >= 0 ? data.names[s.file] + '\n' : ''}` +
      `${seconds(s.end - s.begin)} from ${seconds(s.begin)}`);
  }
  for (let tick = 0; tick <= 8; ++tick) {
    make(svg, 'text', {x: x(end * tick / 8), y: total - 6, 'text-anchor': tick ? tick === 8 ? 'end'
      : 'middle' : 'start'}, seconds(end * tick / 8));
  }
  for (const key of new Set(slices.map(s => s.key))) {
    const entry = make(at('keys'), 'span');
    make(entry, 'i', {style: `background:var(--${key})`});
    entry.append(data.kinds.find(k => k.key === key).name);
  }
  if (data.slices_cut) at('lanes-note').textContent =
    `The first ${slices.length} of more: ${seconds(end)} of ${seconds(data.wall_s)}.`;
};
if (data.slices.length) drawLanes();

for (const step of data.steps) {
  const row = make(at('steps').tBodies[0], 'tr');
  const name = make(row, 'td');
  make(name, 'code', {}, step.stages);
  make(name, 'small', {}, step.kernel + (step.apart ? `; apart, because ${step.apart}` : ''));
  make(row, 'td', {}, String(step.runs));
  make(row, 'td', {}, String(step.launches));
  make(row, 'td', {}, step.us_per_image.toFixed(1));
  make(row, 'td', {}, giga(step.bytes_per_s));
  make(row, 'td', {}, step.in_cache ? 'in cache' : percent(step.share_of_copy));
}

const drawRoof = () => {
  const roof = data.devices[0]?.copy_bytes_per_s ?? 0;
  const steps = data.steps.filter(s => s.seconds > 0 && s.bytes > 0);
  if (!steps.length || !(roof > 0)) return;
  const low = Math.floor(Math.log10(Math.min(...steps.map(s => s.bytes_per_s), roof) / 1e9));
  const high = Math.ceil(Math.log10(Math.max(...steps.map(s => s.bytes_per_s), roof) / 1e9) + 0.05);
  const bytes = steps.map(s => s.bytes / s.runs);
  const from = Math.floor(Math.log10(Math.min(...bytes))), to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...bytes)) + 1e-9));
  const width = 1000, height = 260, left = 70, top = 14;
  const x = b => left + (width - left - 20) * (Math.log10(b) - from) / (to - from);
  const y = g => top + (height - top - 40) * (high - Math.log10(g / 1e9)) / (high - low);
  const svg = make(at('roofline'), 'svg', {viewBox: `0 0 ${width} ${height}`, role: 'img'});
  for (let d = low; d <= high; ++d) {
    make(svg, 'line', {class: 'axis', x1: left, x2: width - 20, y1: y(10 ** d * 1e9), y2: y(10 ** d * 1e9)});
    make(svg, 'text', {x: left - 8, y: y(10 ** d * 1e9) + 4, 'text-anchor': 'end'}, `${10 ** d} GB/s`);
  }
  const unit = d => d >= 9 ? 10 ** (d - 9) + ' GB' : d >= 6 ? 10 ** (d - 6) + ' MB' : d >= 3 ? 10 ** (d - 3) + ' kB' : 10 ** d + ' B';
  for (let d = from; d <= to; ++d) {
    make(svg, 'text', {x: x(10 ** d), y: height - 22, 'text-anchor': d === from ? 'start' : d === to ? 'end' : 'middle'}, unit(d));
  }
  make(svg, 'text', {x: (left + width) / 2, y: height - 4, 'text-anchor': 'middle'}, 'bytes that an image moves');
  make(svg, 'line', {class: 'roof', x1: left, x2: width - 20, y1: y(roof), y2: y(roof)});
  make(svg, 'text', {x: left + 6, y: y(roof) - 5}, `a large copy on ${data.devices[0].id}: ${giga(roof)} GB/s`);
  steps.forEach((s, i) => {
    const dot = make(svg, 'circle', {cx: x(bytes[i]), cy: y(s.bytes_per_s), r: 6, fill: 'var(--kernels)'});
    make(dot, 'title', {}, `${s.stages}: ${giga(s.bytes_per_s)} GB/s`);
    const near = x(bytes[i]) > width * 0.7;
    make(svg, 'text', {x: x(bytes[i]) + (near ? -11 : 11), y: y(s.bytes_per_s) + 4 + 0 * i,
      'text-anchor': near ? 'end' : 'start'}, `${i + 1}  ${s.stages}`);
  });
};
drawRoof();

for (const device of data.devices) {
  const row = make(at('devices').tBodies[0], 'tr');
  const name = make(row, 'td', {}, device.id);
  make(name, 'small', {}, `${device.name}${device.driver ? ', ' + device.driver : ''}` +
    `${device.copy_measured ? '; copy measured ' + device.copy_measured : ''}`);
  make(row, 'td', {}, String(device.images));
  make(row, 'td', {}, `${seconds(device.busy_s)}, ${percent(device.busy_share)}`);
  make(row, 'td', {}, giga(device.copy_bytes_per_s));
  make(row, 'td', {}, giga(device.upload_bytes_per_s));
  make(row, 'td', {}, giga(device.download_bytes_per_s));
  make(row, 'td', {}, device.peak_bytes ? mebi(device.peak_bytes) : 'the host\u2019s');
}
at('plan').textContent = data.plan;
)";

// As CSS and the bars of the wall clock name it.
const char* key_of(Slice::Kind kind) {
  constexpr const char* keys[] = {"start_up", "finish",   "headers", "decode",      "compute",
                                  "encode",   "help",     "host",    "kernel_wait", "upload",
                                  "kernels",  "download", "compile"};
  return keys[static_cast<int>(kind)];
}

Json page_data(const Profile& p) {
  Json json = profile_value(p);
  json["kinds"] = Json::array();
  for (int kind = 0; kind < engine::slice_kinds; ++kind) {
    const auto of = static_cast<Slice::Kind>(kind);
    json["kinds"].push_back({{"key", key_of(of)}, {"name", name_of(of)}});
  }
  json["slices"] = Json::array();
  json["slices_cut"] = p.slices_cut;
  std::int64_t named = 0;  // names that the slices need
  for (const Slice& s : p.slices) {
    json["slices"].push_back(
        {static_cast<int>(s.kind), s.device, s.lane, s.step, s.file, s.begin, s.end});
    named = std::max(named, s.file + 1);
  }
  json["names"] = Json::array();
  for (std::int64_t i = 0; i < named; ++i) json["names"].push_back(p.names[static_cast<size_t>(i)]);
  return json;
}

}  // namespace

std::string profile_page(const Profile& p) {
  return html_page(page_data(p), "profile", page_body, page_script);
}

}  // namespace impipe::cli
