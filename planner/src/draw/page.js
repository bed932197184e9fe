"use strict";
// Draws the plan whose tables stand in this page, and lets one look around in it. All data comes from the page: each
// row of a tensor says when it lives and which bytes it has, the picture how many bytes are in use when.

const find = (id) => document.getElementById(id);
const canvas = find("memory"), pen = canvas.getContext("2d"), tip = find("tip"), search = find("search");
const [MOMENTS, BYTES, SIZE, BOUND, PERSISTENT, PEAK] = canvas.dataset.scale.split(" ").map(Number);
const fills = Object.fromEntries([...document.querySelectorAll("[data-fill]")].map((mark) => [mark.dataset.role, mark.dataset.fill.split(" ")]));
const ops = [...find("steps").tBodies[0].rows].map((row) => row.cells[1].textContent);
// What is in use at each moment: less than the storages' sizes where one is filled part by part.
const live = canvas.dataset.live.split(" ").map(Number);

const tensors = [...find("tensors").tBodies[0].rows].map((row, index) => {
  const [first, last, start, end, root, order] = row.dataset.box.split(" ").map(Number);
  const [name, role, dtype, shape, offset, bytes, life, storage] = [...row.cells].map((cell) => cell.textContent);
  const fill = fills[role][(index + Math.floor(index / 9)) % fills[role].length];
  return { index, row, first, last, start, end, root, order, name, role, dtype, shape, offset, bytes, life, storage, fill, hit: true };
});
const ordered = [...tensors].sort((a, b) => a.order - b.order);

// One storage is a root and what lies in it; it lives as long as any of them.
const storages = new Map();
for (const tensor of ordered) {
  const storage = storages.get(tensor.root) ?? { first: tensor.first, last: tensor.last, members: [] };
  storage.first = Math.min(storage.first, tensor.first);
  storage.last = Math.max(storage.last, tensor.last);
  storage.members.push(tensor);
  storages.set(tensor.root, storage);
}
for (const { members } of storages.values()) {
  // A name stands where no later tensor covers its own: the longest such stretch, in moments.
  members.forEach((tensor, place) => {
    const over = members.slice(place + 1).filter((other) => other.start < tensor.end && other.end > tensor.start).sort((a, b) => a.first - b.first);
    let from = tensor.first, best = [from, from];
    for (const other of [...over, { first: tensor.last + 1, last: tensor.last }]) {
      const until = Math.min(other.first, tensor.last + 1);
      if (until - from > best[1] - best[0]) best = [from, until];
      from = Math.max(from, other.last + 1);
    }
    tensor.free = best;
  });
}

// The plane is the unit square, bytes upwards. Persistent bytes have a band of their own where they would fill it.
const BAND = 0.22, GAP = 0.015, EDGE = { left: 92, right: 112, top: 26, bottom: 36 };
let base = Number(canvas.dataset.base), picked = null, hovered = null, pointer = null;
const view = { x: 0, y: 0, w: 1, h: 1 };
const upper = (byte) => { const low = base ? BAND + GAP : 0; return low + ((1 - low) * (byte - base)) / (BYTES - base); };
const floor = (byte) => (byte < base ? (BAND * byte) / base : upper(byte));
const ceiling = (byte) => (base && byte <= base ? (BAND * byte) / base : upper(byte));
const room = () => ({ w: Math.max(1, canvas.clientWidth - EDGE.left - EDGE.right), h: Math.max(1, canvas.clientHeight - EDGE.top - EDGE.bottom) });
const sx = (moment) => EDGE.left + ((moment / MOMENTS - view.x) / view.w) * room().w;
const sy = (unit) => EDGE.top + (1 - (unit - view.y) / view.h) * room().h;
const momentAt = (px) => Math.floor((view.x + ((px - EDGE.left) / room().w) * view.w) * MOMENTS);

function area(tensor) {
  const left = sx(tensor.first), top = sy(ceiling(tensor.end)), bottom = Math.max(top, sy(floor(tensor.start)));
  const thin = Math.max(0, 1 - (bottom - top));
  const back = bottom - top > 16 && tensor.storage.startsWith("part") ? 2 : 0;
  return { x: left, y: top - thin + back, w: Math.max(1, sx(tensor.last + 1) - left), h: Math.max(1, bottom - top) - 2 * back };
}

function size(bytes) {
  let unit = 0;
  while (bytes >= (unit ? 1023.95 : 1024) && unit < 6) { bytes /= 1024; unit++; }
  return (unit && bytes % 1 ? bytes.toFixed(1) : Math.round(bytes)) + " " + ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"][unit];
}
const when = (moment) => (moment <= 0 ? "load" : moment > ops.length ? "end" : `step ${moment - 1}, ${ops[moment - 1]}`);

function pattern(size, stroke, ...lines) {
  const tile = document.createElement("canvas"), ink = tile.getContext("2d");
  tile.width = tile.height = size;
  ink.strokeStyle = stroke;
  for (const [from, to] of lines) { ink.moveTo(...from); ink.lineTo(...to); }
  ink.stroke();
  return pen.createPattern(tile, "repeat");
}
const views = pattern(9, "#1d212738", [[-10, 10], [1, -1]], [[-1, 10], [10, -1]], [[8, 10], [19, -1]]);
const gaps = pattern(5, "#ffffff90", [[0, 1.5], [5, 1.5]]);

// As much of a name as fits: its middle goes first.
function fit(name, width) {
  const letters = Math.floor(width / pen.measureText("m").width);
  if (name.length <= letters) return name;
  if (letters < Math.max(7, Math.min(14, name.length / 2))) return null;
  const head = Math.floor(((letters - 1) * 2) / 5);
  return name.slice(0, head) + "…" + name.slice(name.length - (letters - 1 - head));
}

function label(tensor, box) {
  const left = Math.max(sx(tensor.free[0]), EDGE.left), right = Math.min(sx(tensor.free[1]), EDGE.left + room().w);
  const top = Math.max(box.y, EDGE.top), bottom = Math.min(box.y + box.h, EDGE.top + room().h);
  const width = right - left - 6, height = bottom - top;
  const upright = width < height && pen.measureText("m").width * tensor.name.length > width;
  const text = fit(tensor.name, upright ? height - 6 : width);
  if (!text || (upright ? width < 8 : height < 12)) return;
  pen.save();
  pen.translate((left + right) / 2, (top + bottom) / 2);
  if (upright) pen.rotate(-Math.PI / 2);
  const both = !upright && height >= 30 && width >= 70;
  pen.fillText(text, 0, both ? -7 : 0);
  if (both) { pen.globalAlpha *= 0.65; pen.fillText(size(tensor.end - tensor.start), 0, 8); }
  pen.restore();
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

function line(from, to, stroke, dash = [], width = 1) {
  pen.strokeStyle = stroke; pen.lineWidth = width; pen.setLineDash(dash);
  pen.beginPath(); pen.moveTo(...from); pen.lineTo(...to); pen.stroke(); pen.setLineDash([]);
}

function byteAxis() {
  const { w } = room(), low = view.y, high = view.y + view.h;
  const mark = (unit, text) => {
    if (unit < low || unit > high) return;
    line([EDGE.left - 4, sy(unit)], [EDGE.left + w, sy(unit)], colour("--line"));
    pen.fillStyle = colour("--soft"); pen.fillText(text, EDGE.left - 8, sy(unit));
  };
  const ticks = (from, to, place, text) => {
    const perByte = Math.abs(sy(place(to)) - sy(place(from))) / (to - from || 1);
    const by = 2 ** Math.max(0, Math.ceil(Math.log2(34 / perByte)));
    const inside = (edge) => from + ((edge - place(from)) / (place(to) - place(from) || 1)) * (to - from);
    const begin = Math.max(0, Math.ceil((inside(low) - from) / by)), end = Math.floor((Math.min(to, inside(high)) - from) / by);
    for (let tick = begin; tick <= end && tick < begin + 200; tick++) text(tick * by, by);
  };
  const exact = (bytes) => {
    for (const [unit, name] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"]]) if (bytes >= unit && (bytes * 4) % unit === 0) return bytes / unit + " " + name;
    return bytes ? bytes + " B" : "0";
  };
  if (base) {
    ticks(0, base, ceiling, (bytes) => { if (sy(ceiling(bytes)) - sy(BAND) > 14) mark(ceiling(bytes), exact(bytes)); });
    mark(BAND, size(base));
  }
  ticks(base, BYTES, upper, (bytes) => { if (!base || bytes) mark(upper(base + bytes), (base ? "+" : "") + exact(bytes)); });
}

function timeAxis() {
  const { w, h } = room(), slot = w / view.w / MOMENTS, y = EDGE.top + h;
  let by = 1;
  for (let turn = 0; by * slot < 40; turn++) by = turn % 3 === 1 ? by * 2.5 : by * 2;
  pen.fillStyle = colour("--soft");
  const mark = (moment, text) => {
    const x = sx(moment + 0.5);
    if (x < EDGE.left || x > EDGE.left + w) return false;
    line([x, y], [x, y + 4], colour("--soft"));
    pen.fillText(text, x, y + 12);
    const op = ops[moment - 1];
    if (op && slot > 6 * op.length + 8) pen.fillText(op, x, y + 26);
    return true;
  };
  const load = sx(0.5), end = sx(MOMENTS - 0.5);
  mark(0, "load"); mark(MOMENTS - 1, "end");
  const start = Math.max(0, Math.floor((momentAt(EDGE.left) - 1) / by) * by);
  for (let step = start; step < ops.length && sx(step + 1) <= EDGE.left + w; step += by) {
    if (sx(step + 1.5) - load > 38 && end - sx(step + 1.5) > 38) mark(step + 1, String(step));
  }
}

function draw() {
  const ratio = window.devicePixelRatio || 1, { w, h } = room();
  if (canvas.width !== Math.round(canvas.clientWidth * ratio) || canvas.height !== Math.round(canvas.clientHeight * ratio)) {
    canvas.width = Math.round(canvas.clientWidth * ratio); canvas.height = Math.round(canvas.clientHeight * ratio);
  }
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  pen.font = getComputedStyle(canvas).font; pen.textBaseline = "middle";
  pen.textAlign = "right"; byteAxis();
  pen.textAlign = "center"; timeAxis();
  pen.save();
  pen.beginPath(); pen.rect(EDGE.left, 0, w, EDGE.top + h); pen.clip();
  pen.beginPath(); pen.rect(EDGE.left, EDGE.top, w, h); pen.save(); pen.clip();
  const out = (box) => box.x > EDGE.left + w || box.x + box.w < EDGE.left || box.y > EDGE.top + h || box.y + box.h < EDGE.top;
  for (const [root, storage] of storages) {
    const frame = area({ ...tensors[root], first: storage.first, last: storage.last });
    if (out(frame)) continue;
    if (storage.members.length > 1) { pen.globalAlpha = 0.4; pen.fillStyle = tensors[root].fill; pen.fillRect(frame.x, frame.y, frame.w, frame.h); }
    for (const tensor of storage.members) {
      const box = area(tensor);
      if (out(box)) continue;
      pen.globalAlpha = tensor.hit ? 1 : 0.18;
      pen.fillStyle = tensor.fill; pen.fillRect(box.x, box.y, box.w, box.h);
      if (tensor.storage.includes(" of every ")) { pen.fillStyle = gaps; pen.fillRect(box.x, box.y, box.w, box.h); }
      if (tensor.storage.startsWith("view")) { pen.fillStyle = views; pen.fillRect(box.x, box.y, box.w, box.h); }
      if (box.w > 3 && box.h > 3) { pen.strokeStyle = "#1d21278c"; pen.lineWidth = 0.6; pen.strokeRect(box.x, box.y, box.w, box.h); }
      if (box.w > 12 && tensor.storage.startsWith("in place")) line([box.x, box.y], [box.x, box.y + box.h], "#1d2127", [3, 2]);
      pen.fillStyle = "#1d2127"; label(tensor, box);
    }
    pen.globalAlpha = 1;
    if (storage.members.length > 1 && frame.h > 4) { pen.strokeStyle = "#1d2127"; pen.lineWidth = 0.9; pen.strokeRect(frame.x, frame.y, frame.w, frame.h); }
  }
  for (const tensor of [hovered, picked]) {
    if (!tensor) continue;
    const box = area(tensor);
    pen.strokeStyle = colour("--ink"); pen.lineWidth = 2.2; pen.strokeRect(box.x, box.y, box.w, box.h);
  }
  if (base && view.y < BAND + GAP && view.y + view.h > BAND) {
    pen.fillStyle = colour("--paper"); pen.fillRect(EDGE.left, sy(BAND + GAP), w, sy(BAND) - sy(BAND + GAP));
    line([EDGE.left, sy(BAND + GAP / 2)], [EDGE.left + w, sy(BAND + GAP / 2)], colour("--soft"), [6, 6]);
  }
  pen.restore();
  marks();
  pen.restore();
  bounds();
  pen.strokeStyle = colour("--soft"); pen.lineWidth = 1; pen.strokeRect(EDGE.left, EDGE.top, w, h);
}

// The peak's column, with its step above it.
function marks() {
  const { w, h } = room(), red = colour("--mark"), slot = sx(PEAK + 1) - sx(PEAK), middle = sx(PEAK + 0.5), wide = Math.max(3, slot);
  pen.fillStyle = red; pen.globalAlpha = 0.08; pen.fillRect(middle - wide / 2, EDGE.top, wide, h); pen.globalAlpha = 1;
  line([middle - wide / 2, EDGE.top], [middle - wide / 2, EDGE.top + h], red, [], 0.8);
  line([middle + wide / 2, EDGE.top], [middle + wide / 2, EDGE.top + h], red, [], 0.8);
  pen.beginPath(); pen.moveTo(middle, EDGE.top); pen.lineTo(middle - 5, EDGE.top - 8); pen.lineTo(middle + 5, EDGE.top - 8); pen.fill();
  pen.textAlign = middle < EDGE.left + w / 2 ? "left" : "right";
  pen.fillText(`peak at ${when(PEAK)}: ${size(live[PEAK])}`, middle + (pen.textAlign === "left" ? 10 : -10), EDGE.top - 12);
}

// The lines of the size and the lower bound, named at the right, and the band that is not to scale.
function bounds() {
  const { w, h } = room(), right = EDGE.left + w, red = colour("--mark"), ink = colour("--ink");
  const inside = (y) => y >= EDGE.top - 1 && y <= EDGE.top + h + 1;
  const name = (y, stroke, ...lines) => { pen.fillStyle = stroke; lines.forEach((text, place) => pen.fillText(text, right + 8, y + 15 * place)); };
  pen.textAlign = "left";
  const size_y = sy(ceiling(SIZE)), bound_y = sy(ceiling(BOUND));
  if (SIZE !== BOUND && inside(size_y)) line([EDGE.left, size_y], [right, size_y], ink, [], 1.4);
  if (inside(size_y)) name(size_y + 4, ink, "size", size(SIZE));
  if (inside(bound_y)) {
    line([EDGE.left, bound_y], [right, bound_y], red, [7, 4], 1.6);
    if (SIZE === BOUND) name(bound_y + 34, red, "= lower bound");
    else name(inside(size_y) ? Math.max(bound_y, size_y + 36) : bound_y, red, "lower bound", size(BOUND));
  }
  const band = sy(BAND);
  if (base && inside(band) && band < EDGE.top + h - 40) name(band + 10, colour("--soft"), "persistent,", "not to scale", size(PERSISTENT));
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function look(x, y, w, h) {
  view.w = Math.min(1, Math.max(w, Math.min(1, 1.5 / MOMENTS))); view.h = Math.min(1, Math.max(h, 1e-7));
  view.x = Math.min(1 - view.w, Math.max(0, x)); view.y = Math.min(1 - view.h, Math.max(0, y));
  redraw();
}
function zoom(px, py, fx, fy) {
  const { w, h } = room(), u = (px - EDGE.left) / w, v = 1 - (py - EDGE.top) / h;
  const nw = Math.min(1, view.w * fx), nh = Math.min(1, view.h * fy);
  look(view.x + u * (view.w - nw), view.y + v * (view.h - nh), nw, nh);
}
// Shows these tensors with some air around them.
function show(list) {
  if (!list.length) return;
  const left = Math.min(...list.map((t) => t.first)) / MOMENTS, right = (Math.max(...list.map((t) => t.last)) + 1) / MOMENTS;
  const low = Math.min(...list.map((t) => floor(t.start))), high = Math.max(...list.map((t) => ceiling(t.end)));
  const w = Math.max((right - left) * 1.6, 6 / MOMENTS), h = Math.max((high - low) * 2.2, 0.0005);
  look((left + right - w) / 2, (low + high - h) / 2, w, h);
}

function under(px, py) {
  for (const near of [0, 3]) {
    for (let place = ordered.length - 1; place >= 0; place--) {
      const box = area(ordered[place]);
      if (px >= box.x && px < box.x + box.w && py >= box.y - near && py <= box.y + box.h + near) return ordered[place];
    }
  }
  return null;
}

function pick(tensor, scroll) {
  if (picked) picked.row.classList.remove("picked");
  picked = tensor;
  if (tensor) {
    tensor.row.classList.add("picked");
    const roll = tensor.row.closest(".roll");
    if (scroll) roll.scrollTop = tensor.row.offsetTop - roll.clientHeight / 2;
  }
  redraw();
}

function hover(px, py) {
  const inside = px >= EDGE.left && py >= EDGE.top && px < EDGE.left + room().w && py < EDGE.top + room().h;
  hovered = inside ? under(px, py) : null;
  const moment = Math.min(MOMENTS - 1, Math.max(0, momentAt(px)));
  find("status").textContent = inside ? `${when(moment)}: ${size(live[moment])} live` : find("status").dataset.help;
  tip.hidden = !hovered;
  if (hovered) {
    const name = document.createElement("b");
    name.textContent = hovered.name;
    const { role, dtype, shape, bytes, offset, life, storage } = hovered;
    tip.replaceChildren(name, `${role} ${dtype}[${shape}]\n${bytes} bytes at offset ${offset}\nlives ${life}\n${storage}`);
    const left = px + 16 + tip.offsetWidth > canvas.clientWidth ? px - 16 - tip.offsetWidth : px + 16;
    tip.style.left = Math.max(2, left) + "px";
    tip.style.top = Math.max(2, Math.min(py + 14, canvas.clientHeight - tip.offsetHeight - 4)) + "px";
  }
  redraw();
}

const fingers = new Map();
canvas.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, event);
  pointer = { x: event.offsetX, y: event.offsetY, far: 0 };
  if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return hover(event.offsetX, event.offsetY);
  const dx = event.offsetX - before.offsetX, dy = event.offsetY - before.offsetY;
  if (fingers.size === 2) {
    const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
    const apart = (finger) => Math.hypot(finger.offsetX - other.offsetX, finger.offsetY - other.offsetY) || 1;
    const factor = apart(before) / apart(event);
    zoom((event.offsetX + other.offsetX) / 2, (event.offsetY + other.offsetY) / 2, factor, factor);
  } else {
    look(view.x - (dx / room().w) * view.w, view.y + (dy / room().h) * view.h, view.w, view.h);
  }
  if (pointer) pointer.far += Math.abs(dx) + Math.abs(dy);
  fingers.set(event.pointerId, event);
  tip.hidden = true;
});
for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => {
  fingers.delete(event.pointerId);
  if (end === "pointerup" && pointer && pointer.far < 4) pick(under(event.offsetX, event.offsetY), true);
  pointer = null;
});
canvas.addEventListener("pointerleave", () => { hovered = null; tip.hidden = true; redraw(); });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const factor = Math.exp(Math.max(-60, Math.min(60, event.deltaY || event.deltaX)) * 0.004);
  zoom(event.offsetX, event.offsetY, event.altKey ? 1 : factor, event.shiftKey ? 1 : factor);
  hover(event.offsetX, event.offsetY);
}, { passive: false });
canvas.addEventListener("dblclick", () => look(0, 0, 1, 1));
canvas.addEventListener("keydown", (event) => {
  const { w, h } = room(), cx = EDGE.left + w / 2, cy = EDGE.top + h / 2;
  const keys = {
    "+": () => zoom(cx, cy, 0.7, 0.7), "=": () => zoom(cx, cy, 0.7, 0.7), "-": () => zoom(cx, cy, 1.4, 1.4), 0: () => look(0, 0, 1, 1),
    ArrowLeft: () => look(view.x - view.w / 8, view.y, view.w, view.h), ArrowRight: () => look(view.x + view.w / 8, view.y, view.w, view.h),
    ArrowUp: () => look(view.x, view.y + view.h / 8, view.w, view.h), ArrowDown: () => look(view.x, view.y - view.h / 8, view.w, view.h),
  };
  if (keys[event.key] && !event.ctrlKey && !event.metaKey) { event.preventDefault(); keys[event.key](); }
});

find("whole").addEventListener("click", () => look(0, 0, 1, 1));
find("peak").addEventListener("click", () => {
  const w = Math.min(1, Math.max(14 / MOMENTS, 0.02));
  look((PEAK + 0.5) / MOMENTS - w / 2, 0, w, 1);
});
find("scale").addEventListener("click", (event) => {
  base = base ? 0 : Number(canvas.dataset.base);
  event.currentTarget.setAttribute("aria-pressed", String(!base));
  look(0, 0, 1, 1);
});
search.addEventListener("input", () => {
  const wanted = search.value.toLowerCase();
  for (const tensor of tensors) {
    tensor.hit = tensor.name.toLowerCase().includes(wanted);
    tensor.row.hidden = !tensor.hit;
  }
  const count = tensors.filter((tensor) => tensor.hit).length;
  find("found").textContent = wanted ? `${count} of ${tensors.length}` : "";
  redraw();
});
search.addEventListener("keydown", (event) => { if (event.key === "Enter") show(tensors.filter((tensor) => tensor.hit)); });
for (const tensor of tensors) tensor.row.addEventListener("click", () => { pick(tensor, false); show([tensor]); });

// Columns sort by what they hold: numbers by value, lifetimes by their first moment, words by their letters.
const columns = [...find("tensors").tHead.rows[0].cells];
const keys = [(t) => t.name, (t) => t.role, (t) => t.dtype, (t) => t.end - t.start, (t) => t.start, (t) => Number(t.bytes.replaceAll(",", "")), (t) => t.first, (t) => t.storage];
columns.forEach((cell, column) => cell.addEventListener("click", () => {
  const down = cell.getAttribute("aria-sort") === "ascending", key = keys[column];
  for (const other of columns) other.removeAttribute("aria-sort");
  cell.setAttribute("aria-sort", down ? "descending" : "ascending");
  const sorted = [...tensors].sort((a, b) => ((key(a) > key(b)) - (key(a) < key(b)) || a.index - b.index) * (down ? -1 : 1));
  find("tensors").tBodies[0].append(...sorted.map((tensor) => tensor.row));
}));

if (!base) find("scale").hidden = true;
find("status").textContent = find("status").dataset.help;
new ResizeObserver(redraw).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
draw();
