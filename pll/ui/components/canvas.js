// Base class of canvas components. pll/ui/components/canvas.py puts this file before each component's own script.
//
// Streamlit calls a component's function again for every update and every change of theme. The elements live on, and
// with them one Plot: what moves, where it is and where it is going. So an update never flickers, it only sets targets.

const HEADING = 28;       // pixels above a picture that is saved
const plots = new WeakMap();

/** The Plot that belongs to these elements: made on the first call, found on all later ones. */
function plotIn(parentElement, Kind) {
  const root = parentElement.querySelector(".plot");
  if (!plots.has(root)) plots.set(root, new Kind(root));
  return plots.get(root);
}

/** Little-endian whole numbers of 1, 2 or 4 bytes each. */
function numbers(bytes, size) {
  if (size === 1) return bytes;
  return size === 2 ? new Uint16Array(bytes.buffer) : new Uint32Array(bytes.buffer);
}

/** "#rrggbb" or "rgb(…)" as three numbers. */
function rgb(colour) {
  if (colour.startsWith("#")) return [1, 3, 5].map((k) => parseInt(colour.slice(k, k + 2), 16));
  return colour.match(/[\d.]+/g).slice(0, 3).map(Number);
}

/** A class colour as ink: half-way to the text colour, so that small letters keep their hue and can be read. */
function ink(colour, text) {
  const [a, b] = [rgb(colour), rgb(text)];
  return `rgb(${a.map((value, k) => Math.round(0.6 * value + 0.4 * b[k]))})`;
}

/**
 * A text shortened in the middle so that it is at most `width` pixels wide: names often differ at the end.
 * `head` is the share of what is left that stands before the gap. A text that has a gap already gets a wider one.
 */
function shortened(context, text, width, head = 0.5) {
  if (context.measureText(text).width <= width) return text;
  const gap = text.indexOf("…");
  // Letters as people count them: an emoji or a letter with its marks is never cut into halves.
  const letters = (part) => Array.from(new Intl.Segmenter().segment(part), ({ segment }) => segment);
  const start = letters(gap < 0 ? text : text.slice(0, gap));
  const end = gap < 0 ? start : letters(text.slice(text.lastIndexOf("…") + 1));
  const cut = (length) => {
    const first = Math.min(Math.max(Math.ceil(length * head), length - end.length), start.length);
    return start.slice(0, first).join("").trimEnd() + "…" + end.slice(end.length - length + first).join("").trimStart();
  };
  let length = (gap < 0 ? start.length : start.length + end.length) - 1;
  while (length > 2 && context.measureText(cut(length)).width > width) length -= 1;
  return cut(length);
}

/** Names shortened so that different ones stay different where they can: the gap moves to where they are alike. */
function shortenedNames(context, names, width) {
  let short = names.map((name) => shortened(context, name, width));
  for (const head of [0.25, 0.75, 0, 1]) {
    const times = new Map();
    short.forEach((text) => times.set(text, (times.get(text) ?? 0) + 1));
    if (times.size === short.length) break;
    short = short.map((text, j) => {
      if (times.get(text) === 1) return text;
      const other = shortened(context, names[j], width, head);
      return times.has(other) ? text : other;
    });
  }
  return short;
}

/** The point nearest to (x, y) within `reach` pixels, else null. `placeOf(i)` is where point i of `count` is. */
function nearestPoint(count, placeOf, x, y, reach) {
  let best = null;
  let nearest = reach * reach;
  for (let i = 0; i < count; i += 1) {
    const [px, py] = placeOf(i);
    const distance = (px - x) ** 2 + (py - y) ** 2;
    if (distance < nearest) [best, nearest] = [i, distance];
  }
  return best;
}

/** The point nearest to (x, y) in the direction of an arrow key, at least `least` pixels ahead; else the cursor. */
function nextPoint(count, placeOf, cursor, [x, y], [sx, sy], { least, slant }) {
  let best = cursor;
  let nearest = Infinity;
  for (let i = 0; i < count; i += 1) {
    const [px, py] = placeOf(i);
    const ahead = (px - x) * sx + (py - y) * sy;
    const aside = Math.abs((px - x) * sy) + Math.abs((py - y) * sx);
    if (i === cursor || ahead < least || aside > slant * ahead) continue;
    if (ahead + 2 * aside < nearest) [best, nearest] = [i, ahead + 2 * aside];
  }
  return best;
}

const percent = (share) => `${Math.round(100 * share)} %`;

class Plot {
  constructor(root) {
    this.root = root;
    this.canvas = root.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.tip = root.querySelector(".tip");
    this.spoken = root.querySelector(".now");
    this.width = this.height = 0;
    this.cursor = null;      // what the pointer or the keyboard is at
    this.selected = null;    // the selected example
    this.serverSelected = undefined;  // the selection that Python sent last
    this.frame = 0;
    this.before = 0;
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(root);
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => this.moveCursor(null));
    this.canvas.addEventListener("blur", () => this.moveCursor(null));
    this.canvas.addEventListener("click", (event) => { this.point(event); this.choose(); });
    this.canvas.addEventListener("keydown", (event) => this.press(event));
    this.offer();
  }

  /** New data or a new theme. Returns what Streamlit calls when the component goes. */
  update({ data, setTriggerValue }) {
    if (!this.root.isConnected) return this.dispose();   // the page went on while the script was read
    // On a projector the picture takes what the window has left below it.
    this.data = data.fill ? { ...data, height: Math.min(data.height, Math.max(280, window.innerHeight - data.fill)) } : data;
    this.trigger = setTriggerValue;
    // the last one to change it wins
    if (data.selected !== this.serverSelected) this.selected = this.serverSelected = data.selected;
    this.canvas.setAttribute("aria-label", data.description);
    this.root.querySelector(".when").textContent = data.when;
    this.root.querySelector(".note").textContent = data.note;
    this.readTheme();
    this.read(data);
    this.resize();
    this.moveCursor(this.cursor);  // what it points at may say something else now
    this.wake();
    // Streamlit also calls this for an update that a later one overtook: only what has left the page is taken down.
    return () => setTimeout(() => this.root.isConnected || this.dispose());
  }

  dispose() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    delete this.root.dataset.moving;
    this.observer.disconnect();
    plots.delete(this.root);
  }

  readTheme() {
    const style = getComputedStyle(this.canvas);
    const value = (name) => style.getPropertyValue(`--st-${name}`).trim();
    this.theme = {
      text: value("text-color"),
      background: value("background-color"),
      border: value("border-color"),
      accent: value("primary-color"),
      scale: value("chart-sequential-colors").split(/,(?![^(]*\))/).map((colour) => rgb(colour.trim())),
      font: style.fontFamily,
    };
  }

  // ---- size and motion ----------------------------------------------------------------------------------------------

  resize() {
    const width = this.root.clientWidth;
    if (!width || !this.data) return;
    const height = this.heightFor(width);
    const ratio = window.devicePixelRatio || 1;
    if (width !== this.width || height !== this.height || ratio !== this.ratio) {
      Object.assign(this, { width, height, ratio });
      this.canvas.style.height = `${height}px`;
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    this.layout();
    this.paint();
  }

  paint() {
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.context.clearRect(0, 0, this.width, this.height);
    this.draw(this.context);
    this.placeTip();
  }

  /** Moves on, frame by frame, until everything has settled; then nothing runs. */
  wake() {
    if (this.frame) return;
    this.root.dataset.moving = "yes";
    this.before = performance.now();
    this.frame = requestAnimationFrame((now) => this.step(now));
  }

  step(now) {
    this.frame = 0;
    if (!this.root.isConnected) return this.dispose();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const seconds = still ? Infinity : Math.min(Math.max(now - this.before, 1), 64) / 1000;
    this.before = now;
    const moving = this.advance(seconds);
    if (this.width) this.paint();
    if (moving) this.frame = requestAnimationFrame((next) => this.step(next));
    else delete this.root.dataset.moving;
  }

  // ---- as a file ------------------------------------------------------------------------------------------------------

  /** Two ways to take the picture away, behind one quiet button. */
  offer() {
    const button = this.root.querySelector(".save");
    const kinds = document.createElement("span");
    kinds.className = "kinds";
    kinds.hidden = true;
    const open = (yes) => {
      kinds.hidden = !yes;
      button.setAttribute("aria-expanded", yes);
    };
    for (const [name, write] of [["PNG", () => this.asPng()], ["SVG", () => this.asSvg()]]) {
      const kind = kinds.appendChild(document.createElement("button"));
      kind.type = "button";
      kind.textContent = name;
      kind.addEventListener("click", () => { write(); open(false); button.focus(); });
    }
    button.after(kinds);
    open(false);
    button.addEventListener("click", () => { open(kinds.hidden); if (!kinds.hidden) kinds.firstChild.focus(); });
    kinds.addEventListener("keydown", (event) => { if (event.key === "Escape") { open(false); button.focus(); } });
    kinds.addEventListener("focusout", (event) => {
      if (event.relatedTarget !== button && !kinds.contains(event.relatedTarget)) open(false);
    });
  }

  asPng() {
    const copy = document.createElement("canvas");
    copy.width = this.canvas.width;
    copy.height = this.canvas.height + Math.round(HEADING * this.ratio);
    const context = copy.getContext("2d");
    context.scale(this.ratio, this.ratio);
    this.drawHeading(context);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.canvas, 0, copy.height - this.canvas.height);
    copy.toBlob((blob) => this.download(blob, "png"));
  }

  asSvg() {
    const pen = new SvgPen(this.context);
    this.drawHeading(pen);
    pen.save();
    pen.translate(0, HEADING);
    this.draw(pen);
    pen.restore();
    const text = pen.svg(this.width, this.height + HEADING, this.data.description);
    this.download(new Blob([text], { type: "image/svg+xml" }), "svg");
  }

  /** The background of the whole, and what stands above the picture on the page. */
  drawHeading(context) {
    context.fillStyle = this.theme.background;
    context.fillRect(0, 0, this.width, this.height + HEADING);
    context.fillStyle = this.theme.text;
    context.font = `14px ${this.theme.font}`;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillText(this.when(), 4, HEADING / 2);
    context.textAlign = "right";
    context.fillText(this.data.note, this.width - 4, HEADING / 2);
  }

  /** The moment that is shown, as the page says it. */
  when() { return this.root.querySelector(".when").textContent; }

  download(blob, ending) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `candid-${this.when() || "picture"}.${ending}`.replaceAll(/\s+/g, "-").toLowerCase();
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // ---- pointer, keyboard, words ---------------------------------------------------------------------------------------

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    this.moveCursor(this.at(x, y));
    this.canvas.title = this.cursor === null ? this.nameAt(x, y) : "";
  }

  /** The whole name of a class whose short one stands there. */
  nameAt() { return ""; }

  /** Whole names beside the short ones in the picture, where these differ. */
  drawNamesList() {
    const list = this.root.querySelector(".names");
    if (!list) return;
    const { names = [], short = names, colours = [] } = this.data;
    list.hidden = names.every((name, j) => name === short[j]);
    if (list.hidden) return;
    list.querySelector("ul").replaceChildren(...names.map((name, j) => {
      const line = document.createElement("li");
      const dot = line.appendChild(document.createElement("span"));
      dot.className = "dot";
      dot.style.background = colours[j];
      line.appendChild(document.createElement("b")).textContent = short[j];
      line.append(` ${name}`);
      return line;
    }));
  }

  moveCursor(cursor, speak = false) {
    this.cursor = cursor;
    this.canvas.classList.toggle("pointing", cursor !== null);
    const lines = cursor === null ? [] : this.words(cursor);
    this.tip.hidden = !lines.length;
    this.tip.replaceChildren(...lines.map(({ text, colour, shape }, k) => {
      const line = document.createElement("div");
      if (k === 0) line.className = "first";
      if (colour) {
        const dot = line.appendChild(document.createElement("span"));
        dot.className = `dot ${shape ?? ""}`;
        dot.style.background = colour;
      }
      line.append(text);
      return line;
    }));
    if (speak) this.spoken.textContent = lines.map((line) => line.text).join(", ");
    if (this.width) this.paint();
  }

  placeTip() {
    if (this.cursor === null || this.tip.hidden) return;
    const [x, y] = this.placeOf(this.cursor);
    const { offsetWidth: wide, offsetHeight: high } = this.tip;
    const left = x + 14 + wide > this.width ? x - 14 - wide : x + 14;
    const top = Math.min(Math.max(y - high / 2, 0), this.height - high);
    this.tip.style.left = `${Math.max(0, Math.min(left, this.width - wide))}px`;
    this.tip.style.top = `${this.canvas.offsetTop + top}px`;
  }

  choose() {
    if (this.cursor === null) return;
    this.selected = this.exampleOf(this.cursor);
    this.trigger("selected", this.selected);
    this.paint();
  }

  press(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const page = { PageUp: -1, PageDown: 1 }[event.key];
    if (step) this.moveCursor(this.next(this.cursor, step), true);
    else if (page) this.moveCursor(this.turn(this.cursor, page), true);
    else if (event.key === "Enter" || event.key === " ") this.choose();
    else if (event.key === "Escape") this.moveCursor(null);
    else return;
    event.preventDefault();
  }

  /** What an example is called. */
  nameOf(row) {
    return this.data.ids ? this.data.ids[row] : `example ${this.examples ? this.examples[row] : row}`;
  }
}
