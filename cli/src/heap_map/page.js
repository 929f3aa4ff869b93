"use strict";
// Draws the snapshots in #data: one as a map, or what became different between two.
const frames = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const COLUMNS = 96, CELL = 10, UNKNOWN = 1001;
const MORE = "#D9622B", LESS = "#3B82C4", OTHER = "#808080";
// Colours that the page has another of in the dark.
const OWN = { "#333333": "var(--ink)", "#808080": "var(--muted)", "#DDDDDD": "var(--grid)", "#FFFFFF": "var(--paper)" };
const shade = (colour) => OWN[colour] || colour;

const size = (bytes) => {
  const sign = bytes < 0 ? "-" : "";
  let value = Math.abs(bytes), unit = 0;
  while (value >= 1024 && unit < 4) { value /= 1024; unit += 1; }
  const digits = unit > 0 && value < 100 ? 1 : 0;
  return sign + value.toFixed(digits) + " " + ["B", "KiB", "MiB", "GiB", "TiB"][unit];
};
const signed = (text, number) => (number > 0 ? "+" : "") + text;
const count = (number) => number.toLocaleString("en");
const title = (use) => use.block === null ? use.name : use.name + " " + use.block;
const plural = (number, one) => number + " " + one + (number === 1 ? "" : "s");

// Cells are stored as [how many, use, thousandths in use, blocks, pinned].
const cellsOf = (frame) => {
  const cells = [];
  for (const [many, use, used, blocks, pinned] of frame.cells) {
    for (let at = 0; at < many; at += 1) cells.push({ use: frame.uses[use], used, blocks, pinned });
  }
  return cells;
};
const cells = frames.map(cellsOf);

const element = (name, attributes, text) => {
  const made = name === "rect" || name === "circle"
    ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};

const strength = (cell) => {
  if (!cell.use.class) return 1;
  return cell.used === UNKNOWN ? 0.5 : 0.2 + 0.8 * Math.min(cell.used, 1000) / 1000;
};
const fill = (cell) => cell.used === UNKNOWN ? "fill not told" : (cell.used / 10).toFixed(1) + " % in use";

const same = (now, before) => now.allocator === before.allocator && now.pool_bytes === before.pool_bytes
  && now.cell_bytes === before.cell_bytes;

// What a cell says of itself, with what it was before if that is asked for.
const about = (frame, at, cell, old) => {
  const from = frame.begin + at * frame.cell_bytes;
  const inside = [title(cell.use), fill(cell)];
  if (cell.blocks > 0) inside.push(plural(cell.blocks, "block") + " begin here");
  if (cell.pinned > 0) inside.push(plural(cell.pinned, "pinned " + frame.unit));
  let text = "at " + size(from) + " (" + from + "): " + inside.join(", ");
  if (old) text += "; before: " + title(old.use) + ", " + fill(old);
  return text;
};

const drawMap = (now, before) => {
  const map = $("map");
  map.replaceChildren();
  const lines = Math.ceil(now.length / COLUMNS);
  map.setAttribute("viewBox", "0 0 " + COLUMNS * CELL + " " + Math.max(lines, 1) * CELL);
  now.forEach((cell, at) => {
    const old = before && before[at];
    const x = at % COLUMNS * CELL, y = Math.floor(at / COLUMNS) * CELL;
    const rect = element("rect", { x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2, "data-at": at });
    if (!before) {
      if (cell.use.name === "free") rect.setAttribute("class", "free");
      else { rect.style.fill = shade(cell.use.colour); rect.setAttribute("fill-opacity", strength(cell).toFixed(3)); }
    } else {
      const known = cell.used !== UNKNOWN && old.used !== UNKNOWN;
      const change = known ? cell.used - old.used : 0;
      const moved = title(cell.use) !== title(old.use);
      if (change === 0 && !moved) rect.setAttribute("class", "free");
      else {
        rect.style.fill = shade(change > 0 ? MORE : change < 0 ? LESS : OTHER);
        rect.setAttribute("fill-opacity", (0.25 + 0.75 * Math.abs(change) / 1000).toFixed(3));
        if (moved) rect.setAttribute("class", "moved");
      }
    }
    map.append(rect);
    if (!before && cell.pinned > 0) map.append(element("circle", { cx: x + CELL / 2, cy: y + CELL / 2, r: 1.5 }));
  });
};

const legend = (entries) => {
  $("legend").replaceChildren(...entries.map(([colour, text]) => {
    const entry = element("span", {});
    const square = element("i", {});
    square.style.background = shade(colour);
    entry.append(square, text);
    return entry;
  }));
};

const row = (cells, name) => {
  const line = element("tr", {});
  cells.forEach((cell, at) => line.append(element(name, at > 0 ? { class: "n" } : {}, cell)));
  return line;
};

const known = (number) => number === null ? "?" : count(number);

const drawUses = (frame) => {
  $("head").replaceChildren(row(["use", frame.unit + "s", "bytes", "blocks", "in use", "fill", "free places", "pinned"], "th"));
  $("uses").replaceChildren(...frame.uses.map((use) => {
    const blocks = use.class || use.name === "run";
    return row([title(use), use.units > 0 ? count(use.units) : "", size(use.bytes), blocks ? known(use.blocks) : "",
      blocks ? size(use.used_bytes) : "", use.class ? (use.used_bytes / use.bytes * 100).toFixed(1) + " %" : "",
      use.class ? known(use.free_places) : "", use.class ? count(use.pinned) : ""], "td");
  }));
};

const drawChanges = (now, before) => {
  $("head").replaceChildren(row(["use", now.unit + "s", "bytes", "blocks", "in use"], "th"));
  const names = [...new Set([...before.uses, ...now.uses].map(title))];
  const none = { units: 0, bytes: 0, blocks: 0, used_bytes: 0 };
  const lines = [];
  for (const name of names) {
    const of = (frame) => frame.uses.find((use) => title(use) === name) || none;
    const less = (key) => of(now)[key] - of(before)[key];
    const change = [less("units"), less("bytes"), less("blocks"), less("used_bytes")];
    if (change.every((number) => number === 0)) continue;
    const [units, bytes, blocks, used] = change;
    lines.push(row([name, signed(count(units), units), signed(size(bytes), bytes), signed(count(blocks), blocks),
      signed(size(used), used)], "td"));
  }
  $("uses").replaceChildren(...lines);
};

const drawSums = (frame) => {
  const [exhausted, contended, unsupported] = frame.failures;
  const sums = [["pool", size(frame.pool_bytes)], ["metadata", size(frame.metadata_bytes)],
    ["in use", size(frame.used_bytes)], ["free", size(frame.free_bytes)],
    ["largest free run", frame.largest_free_run === null ? "not told" : size(frame.largest_free_run)],
    ["lost by rounding", frame.rounding_bytes === null ? "not counted" : size(frame.rounding_bytes)],
    ["requests that failed", exhausted + " exhausted, " + contended + " contended, " + unsupported + " unsupported"]];
  $("sums").replaceChildren(...sums.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
};

const draw = () => {
  const at = Number($("now").value), beside = $("before").value;
  const frame = frames[at];
  const before = beside === "" ? null : frames[Number(beside)];
  const comparable = before !== null && same(frame, before);
  $("label").textContent = (at + 1) + " of " + frames.length + ": " + frame.allocator + ", " + frame.label;
  $("size").textContent = frame.unit_bytes === 0 ? size(frame.cell_bytes)
    : size(frame.cell_bytes) + ", " + plural(frame.cell_bytes / frame.unit_bytes, frame.unit);
  const old = comparable ? cells[Number(beside)] : null;
  drawMap(cells[at], old);
  if (comparable) {
    legend([[MORE, "more in use"], [LESS, "less in use"], [OTHER, "another use (outlined)"], ["transparent", "as before"]]);
    drawChanges(frame, before);
  } else {
    // All idle units look the same.
    const entries = new Map();
    for (const use of frame.uses) {
      if (use.name !== "reserved") entries.set(use.free ? use.name : title(use), use.colour);
    }
    legend([...entries].map(([text, colour]) => [colour, text]));
    drawUses(frame);
  }
  $("reason").textContent = before !== null && !comparable
    ? "These two are of different heaps: here is the map itself. " + frame.reason : frame.reason;
  drawSums(frame);
  $("map").onmouseover = (event) => {
    const place = event.target.getAttribute("data-at");
    if (place !== null) $("cell").textContent = about(frame, Number(place), cells[at][place], old && old[place]);
  };
};

$("now").max = frames.length - 1;
$("now").value = frames.length - 1;
frames.forEach((frame, at) => $("before").append(element("option", { value: at }, (at + 1) + ": " + frame.label)));
$("now").addEventListener("input", draw);
$("before").addEventListener("change", draw);
draw();
