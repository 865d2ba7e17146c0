// The map of the examples: a point each at its place, in the colour of its identified label, paler where it is unsure.
// Points are added up pixel by pixel: where many lie together, a pixel has the mean of their colours.

const PAD = 8;            // pixels around the points
const LEGEND_HIGH = 26;   // pixels below them
const REACH = 10;         // pixels within which the pointer finds a point
const FEWEST_OPAQUE = 0.2;  // opacity of a point without any confidence
const DRAG = 6;           // pixels that the pointer moves before it draws an outline
const CORNERS = 150;      // of an outline, at most

/** The pixels of a disc, as steps from its middle. */
function discOf(radius) {
  const steps = Array.from({ length: 2 * Math.floor(radius) + 1 }, (_, k) => k - Math.floor(radius));
  return steps.flatMap((y) => steps.map((x) => [x, y])).filter(([x, y]) => x * x + y * y <= radius * radius);
}

/** A pixel of an image, of sums of colours times opacity and of opacity. */
function shade(red, green, blue, opacity) {
  if (opacity === 0) return 0;
  const alpha = Math.round(255 * Math.min(1, opacity));
  const [r, g, b] = [Math.round(red / opacity), Math.round(green / opacity), Math.round(blue / opacity)];
  return (alpha << 24) | (b << 16) | (g << 8) | r;       // little-endian
}

class ExampleMap extends Plot {
  constructor(root) {
    super(root);
    this.path = null;     // the outline that is being drawn, in pixels
    this.canvas.addEventListener("pointerdown", (event) => this.start(event));
    this.canvas.addEventListener("pointermove", (event) => this.drag(event));
    this.canvas.addEventListener("pointerup", () => this.finish());
    this.canvas.addEventListener("pointercancel", () => { this.path = null; this.paint(); });
  }

  read(data) {
    if (data.points !== this.sent) {
      this.sent = data.points;
      this.places = numbers(data.points, 2);             // x, y, x, y, …
    }
    this.labels = numbers(data.labels, data.labelSize);
    this.confidence = data.confidence;
    this.examples = data.examples ? numbers(data.examples, 4) : null;
    this.count = this.labels.length;
    this.inks = Float32Array.from(data.colours.flatMap(rgb));
    if (this.cursor !== null && this.cursor >= this.count) this.cursor = null;
    this.picture = null;  // to be drawn anew
  }

  advance() { return false; }

  heightFor() { return this.data.height; }

  layout() {
    this.high = this.height - LEGEND_HIGH;
    this.small = `12px ${this.theme.font}`;
    this.picture = null;
  }

  placeOf(i) {
    const { top } = this.data;
    return [
      PAD + (this.places[2 * i] / top) * (this.width - 2 * PAD),
      this.high - PAD - (this.places[2 * i + 1] / top) * (this.high - 2 * PAD),
    ];
  }

  // ---- drawing ------------------------------------------------------------------------------------------------------

  draw(context) {
    if (!this.picture) this.picture = this.points();
    if (this.picture) context.drawImage(this.picture, 0, 0, this.width, this.high);
    this.drawOutline(context);
    if (this.selected !== null) {
      const at = this.rowOf(this.selected);
      if (at >= 0) this.ring(context, at, 6);
    }
    if (this.cursor !== null) this.ring(context, this.cursor, 4.5);
    this.drawLegend(context);
  }

  /** All points as one picture, in the pixels of the screen. */
  points() {
    const wide = Math.round(this.width * this.ratio);
    const high = Math.round(this.high * this.ratio);
    if (wide < 1 || high < 1) return null;
    const { used, starts, order } = this.inPixels(wide, high);
    const { labels, confidence, inks, image } = this;
    const opacities = Float32Array.from({ length: 256 }, (_, c) => FEWEST_OPAQUE + (1 - FEWEST_OPAQUE) * (c / 255));
    // Few points are discs, many are single pixels.
    const radius = this.ratio * Math.min(4, Math.max(0.5, Math.sqrt((this.width * this.high) / (12 * this.count))));
    const disc = discOf(radius);
    const sums = disc.length > 1 ? new Float32Array(4 * wide * high) : null;  // red, green, blue times opacity; opacity
    for (let u = 0; u < used.length; u += 1) {
      let [red, green, blue, opacity] = [0, 0, 0, 0];
      for (let k = starts[u]; k < starts[u + 1]; k += 1) {
        const opaque = opacities[confidence[order[k]]];
        const ink = 3 * labels[order[k]];
        red += opaque * inks[ink];
        green += opaque * inks[ink + 1];
        blue += opaque * inks[ink + 2];
        opacity += opaque;
      }
      if (!sums) {
        image.shades[used[u]] = shade(red, green, blue, opacity);
        continue;
      }
      const [x, y] = [used[u] % wide, Math.floor(used[u] / wide)];
      for (const [right, down] of disc) {
        const column = x + right;
        const row = y + down;
        if (column < 0 || row < 0 || column >= wide || row >= high) continue;
        const at = 4 * (row * wide + column);
        sums[at] += red;
        sums[at + 1] += green;
        sums[at + 2] += blue;
        sums[at + 3] += opacity;
      }
    }
    for (let at = 0; sums && at < sums.length; at += 4) {
      image.shades[at / 4] = shade(sums[at], sums[at + 1], sums[at + 2], sums[at + 3]);
    }
    image.canvas.getContext("2d").putImageData(image.data, 0, 0);
    this.root.dataset.points = this.count;               // drawn: for whoever waits for it
    return image.canvas;
  }

  /** The points pixel by pixel, and the image for them: they stay over the epochs, as the places do. */
  inPixels(wide, high) {
    const { places, count, sorted } = this;
    if (sorted && sorted.places === places && sorted.count === count && sorted.wide === wide && sorted.high === high) {
      return sorted;
    }
    const stepX = (wide - 2 * PAD * this.ratio) / this.data.top;
    const stepY = (high - 2 * PAD * this.ratio) / this.data.top;
    const pixelOf = new Uint32Array(count);
    const counts = new Uint32Array(wide * high);
    for (let i = 0; i < count; i += 1) {
      const x = Math.round(PAD * this.ratio + places[2 * i] * stepX);
      const y = Math.round(high - PAD * this.ratio - places[2 * i + 1] * stepY);
      pixelOf[i] = Math.min(Math.max(y, 0), high - 1) * wide + Math.min(Math.max(x, 0), wide - 1);
      counts[pixelOf[i]] += 1;
    }
    const used = Uint32Array.from(counts.keys()).filter((pixel) => counts[pixel]);
    const starts = new Uint32Array(used.length + 1);
    used.forEach((pixel, u) => {
      starts[u + 1] = starts[u] + counts[pixel];
      counts[pixel] = starts[u];                         // from here on: where its next point goes
    });
    const order = new Uint32Array(count);
    for (let i = 0; i < count; i += 1) order[counts[pixelOf[i]]++] = i;
    const data = new ImageData(wide, high);
    const canvas = Object.assign(document.createElement("canvas"), { width: wide, height: high });
    this.image = { data, canvas, shades: new Uint32Array(data.data.buffer) };
    this.sorted = { places, count, wide, high, used, starts, order };
    return this.sorted;
  }

  drawOutline(context) {
    const { top } = this.data;
    const outline = (this.data.outline ?? []).map(([x, y]) => [
      PAD + (x / top) * (this.width - 2 * PAD),
      this.high - PAD - (y / top) * (this.high - 2 * PAD),
    ]);
    const corners = this.path?.drawn ? this.path.corners : outline;
    if (corners.length < 2) return;
    context.beginPath();
    corners.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.closePath();
    context.strokeStyle = this.theme.accent;
    context.lineWidth = 2;
    context.stroke();
  }

  ring(context, i, radius) {
    const [x, y] = this.placeOf(i);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.strokeStyle = this.theme.text;
    context.lineWidth = 1.5;
    context.stroke();
  }

  /** The classes with the most examples, as many as fit; and how many more there are. */
  drawLegend(context) {
    const y = this.height - LEGEND_HIGH / 2;
    let x = PAD;
    let shown = 0;
    context.font = this.small;
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (const k of this.data.legend) {
      const name = shortened(context, this.data.short[k], 140);
      const wide = context.measureText(name).width + 26;
      if (x + wide > this.width - (shown + 1 < this.data.names.length ? 70 : 0)) break;
      context.fillStyle = this.data.colours[k];
      context.beginPath();
      context.arc(x + 5, y, 4.5, 0, 2 * Math.PI);
      context.fill();
      context.fillStyle = this.theme.text;
      context.fillText(name, x + 14, y);
      x += wide;
      shown += 1;
    }
    if (shown < this.data.names.length) {
      context.globalAlpha = 0.65;
      context.fillStyle = this.theme.text;
      context.fillText(`+ ${this.data.names.length - shown} more`, x, y);
      context.globalAlpha = 1;
    }
  }

  // ---- the outline ----------------------------------------------------------------------------------------------------

  start(event) {
    if (event.button !== 0) return;
    this.drew = false;
    this.path = { corners: [this.positionOf(event)], drawn: false };
  }

  drag(event) {
    if (!this.path) return;
    const [x, y] = this.positionOf(event);
    const [fromX, fromY] = this.path.corners.at(-1);
    if (Math.hypot(x - fromX, y - fromY) < (this.path.drawn ? 2 : DRAG)) return;
    if (!this.path.drawn) this.canvas.setPointerCapture(event.pointerId);
    this.path.drawn = true;
    this.path.corners.push([x, y]);
    this.moveCursor(null);
  }

  finish() {
    const { path } = this;
    this.path = null;
    if (!path?.drawn) return;
    this.drew = true;                                    // the click that follows selects nothing
    if (path.corners.length < 3) return;
    const every = Math.ceil(path.corners.length / CORNERS);
    const share = (value, from, wide) => Math.round(this.data.top * Math.min(1, Math.max(0, (value - from) / wide)));
    const outline = path.corners.filter((_, k) => k % every === 0).map(([x, y]) => [
      share(x, PAD, this.width - 2 * PAD),
      this.data.top - share(y, PAD, this.high - 2 * PAD),
    ]);
    this.data.outline = outline;
    this.paint();
    this.trigger("outline", outline);
  }

  positionOf(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  choose() {
    if (this.drew) this.drew = false;
    else super.choose();
  }

  // ---- what is where --------------------------------------------------------------------------------------------------

  rowOf(example) {
    if (!this.examples) return example < this.count ? example : -1;
    return this.examples.indexOf(example);
  }

  exampleOf(i) { return this.examples ? this.examples[i] : i; }

  at(x, y) {
    if (this.path?.drawn) return null;
    const { places, count } = this;
    const { top } = this.data;
    const [stepX, stepY] = [(this.width - 2 * PAD) / top, (this.high - 2 * PAD) / top];
    let best = null;
    let nearest = REACH * REACH;
    for (let i = 0; i < count; i += 1) {
      const dx = PAD + places[2 * i] * stepX - x;
      const dy = this.high - PAD - places[2 * i + 1] * stepY - y;
      const distance = dx * dx + dy * dy;
      if (distance < nearest) [best, nearest] = [i, distance];
    }
    return best;
  }

  next(cursor, step) {
    if (cursor === null) return this.count ? 0 : null;
    return nextPoint(this.count, (i) => this.placeOf(i), cursor, this.placeOf(cursor), step, { least: 1, slant: 1 });
  }

  turn(cursor, step) {
    if (cursor === null) return this.next(cursor, [1, 0]);
    const far = Math.max(1, Math.round(this.count / 10));
    return Math.min(Math.max(cursor + step * far, 0), this.count - 1);
  }

  words(i) {
    const label = this.labels[i];
    return [
      { text: this.nameOf(i) },
      ...(this.data.texts?.[i] ? [{ text: this.data.texts[i] }] : []),
      { text: `${this.data.names[label]}: ${percent(this.confidence[i] / 255)}`, colour: this.data.colours[label] },
    ];
  }
}

export default function (component) {
  return plotIn(component.parentElement, ExampleMap).update(component);
}
