// The star plot: a class an anchor on a circle, an example at the mean of its candidates' anchors, weighted by its label
// weights. Examples start near the middle and travel outwards as their weights sharpen.

const STIFFNESS = 13;     // of the springs, 1/s: nine tenths of the way in about 0.3 s
const REACH = 14;         // pixels within which the pointer finds an example
const SURE = 0.9;         // confidence above which an example starts to spread around its anchor
const UNKNOWN = 0xffff;
const GREY = "#a3adb7";   // of an unknown truth, or of no label ahead: to be seen on light and dark

/** The outline of a class's point: its second cue beside the colour. All shapes cover about the same area. */
function outlineOf(context, shape, x, y, radius) {
  context.beginPath();
  if (shape === "square") {
    const half = 0.886 * radius;
    for (const [dx, dy] of [[-half, -half], [half, -half], [half, half], [-half, half]]) context.lineTo(x + dx, y + dy);
    context.closePath();
  } else if (shape === "triangle" || shape === "wedge") {
    const up = shape === "triangle" ? -1 : 1;
    for (const [dx, dy] of [[0, 1.5], [1.3, -0.75], [-1.3, -0.75]]) context.lineTo(x + dx * radius, y + up * dy * radius);
    context.closePath();
  } else context.arc(x, y, radius, 0, 2 * Math.PI);
}

class Star extends Plot {
  read(data) {
    this.drawNamesList();
    const count = data.count;
    const packed = data.places;                      // 24 bits an example: x and y, 12 bits each
    const shades = data.shades;
    this.examples = data.examples ? numbers(data.examples, 4) : null;
    this.labels = numbers(data.labels, data.labelSize);
    this.hues = data.hues ? numbers(data.hues, 2) : this.labels;
    this.targetX = new Float32Array(count);
    this.targetY = new Float32Array(count);
    this.target = new Float32Array(count);            // confidence
    this.changed = [];
    for (let i = 0; i < count; i += 1) {
      const [a, b, c] = [packed[3 * i], packed[3 * i + 1], packed[3 * i + 2]];
      this.targetX[i] = ((a << 4) | (b >> 4)) / 2047 - 1;
      this.targetY[i] = (((b & 15) << 8) | c) / 2047 - 1;
      this.target[i] = (shades[i] & 127) / 127;
      if (shades[i] & 128) this.changed.push(i);
    }
    // Examples that were not here before have nothing to glide from.
    const who = `${count} ${data.examples ?? ""}`;
    if (who !== this.who) this.start(who, count);
  }

  start(who, count) {
    this.who = who;
    this.cursor = null;
    const [oldX, oldY, oldConfidence, oldRow] = [this.x, this.y, this.confidence, this.rowOf];
    this.x = this.targetX.slice();
    this.y = this.targetY.slice();
    this.confidence = this.target.slice();
    // Those that were here before glide on, where it is the same picture of other examples.
    for (let i = 0; oldRow && i < count; i += 1) {
      const before = oldRow.get(this.exampleOf(i));
      if (before === undefined) continue;
      [this.x[i], this.y[i], this.confidence[i]] = [oldX[before], oldY[before], oldConfidence[before]];
    }
    this.speedX = new Float32Array(count);
    this.speedY = new Float32Array(count);
    this.rowOf = new Map();
    this.spreadX = new Float32Array(count);
    this.spreadY = new Float32Array(count);
    for (let i = 0; i < count; i += 1) {
      const example = this.exampleOf(i);
      this.rowOf.set(example, i);
      // A place of its own in a small disc (golden angle), the same in every update.
      const radius = Math.sqrt(((example * 0.754877666) % 1));
      this.spreadX[i] = radius * Math.cos(example * 2.399963);
      this.spreadY[i] = radius * Math.sin(example * 2.399963);
    }
  }

  /** Critically damped springs: no overshoot, and no jerk when a new target comes while the old one is approached. */
  advance(seconds) {
    const rest = 0.2 / Math.max(this.radius || 1, 1);
    const fade = Math.exp(-STIFFNESS * seconds);
    const still = seconds === Infinity;
    let moving = false;
    for (let i = 0; i < this.x.length; i += 1) {
      const dx = this.x[i] - this.targetX[i];
      const dy = this.y[i] - this.targetY[i];
      const dc = this.confidence[i] - this.target[i];
      const vx = this.speedX[i];
      const vy = this.speedY[i];
      const far = Math.abs(dx) + Math.abs(dy) > rest || Math.abs(dc) > 0.01
        || Math.abs(vx) + Math.abs(vy) > 10 * rest;
      if (still || !far) {
        this.x[i] = this.targetX[i];
        this.y[i] = this.targetY[i];
        this.confidence[i] = this.target[i];
        this.speedX[i] = this.speedY[i] = 0;
        continue;
      }
      moving = true;
      const kickX = (vx + STIFFNESS * dx) * seconds;
      const kickY = (vy + STIFFNESS * dy) * seconds;
      this.x[i] = this.targetX[i] + (dx + kickX) * fade;
      this.y[i] = this.targetY[i] + (dy + kickY) * fade;
      this.speedX[i] = (vx - STIFFNESS * kickX) * fade;
      this.speedY[i] = (vy - STIFFNESS * kickY) * fade;
      this.confidence[i] = this.target[i] + dc * fade;
    }
    return moving;
  }

  // ---- layout -------------------------------------------------------------------------------------------------------

  /** The height of the largest circle whose names still fit: long names on a narrow screen make it smaller. */
  heightFor(width) {
    const { context } = this;
    const { count, height } = this.data;
    const names = this.data.short ?? this.data.names;
    const room = Math.min(width, height) / 2;
    const size = width < 480 ? 12 : height > 500 ? 18 : 14;  // a tall one stands on a projector
    this.dot = Math.min(4.5, Math.max(1.8, (room / 260) * (count > 1200 ? 2.7 : count > 300 ? 3.4 : 4.5)));
    this.spread = Math.min(0.055 * room, this.dot * 0.55 * Math.sqrt(count / names.length));
    this.gap = this.spread + this.dot + 7;           // settled examples stay clear of the names
    this.line = size;
    this.font = `600 ${size}px ${this.theme.font}`;
    context.font = this.font;
    const most = Math.max(44, 0.24 * width);
    const texts = shortenedNames(context, names, most);
    this.anchors = texts.map((text, j) => {
      const angle = (2 * Math.PI * j) / names.length - Math.PI / 2;
      return { j, text, x: Math.cos(angle), y: Math.sin(angle), wide: context.measureText(text).width };
    });
    const edge = this.gap + size;
    this.radius = Math.min(width / 2 - edge, height / 2 - edge);
    for (const { x, wide } of this.anchors) {
      const across = (width / 2 - (wide / 2) * (1 + Math.abs(x)) - 2) / Math.max(Math.abs(x), 1e-6);
      this.radius = Math.min(this.radius, across - this.gap);
    }
    this.radius = Math.max(this.radius, 20);
    this.middle = this.radius + edge;
    const lowest = Math.max(...this.anchors.map(({ y }) => y * (this.radius + this.gap + size / 2) + size / 2));
    return Math.ceil(this.middle + Math.max(this.radius + this.dot, lowest));  // of three classes none is at the foot
  }

  /** Where the names stand, and which of many are left out because they would cover others. */
  layout() {
    const placed = [];
    for (const anchor of this.anchors) {
      anchor.labelX = this.width / 2 + anchor.x * (this.radius + this.gap + anchor.wide / 2);
      anchor.labelY = this.middle + anchor.y * (this.radius + this.gap + this.line / 2);
      anchor.shown = placed.every((other) => Math.abs(other.labelY - anchor.labelY) > this.line
        || Math.abs(other.labelX - anchor.labelX) > (other.wide + anchor.wide) / 2 + 4);
      if (anchor.shown) placed.push(anchor);
    }
    this.makeStamps();
  }

  /** A dot of every colour, drawn once: 2,000 small images a frame are cheaper than 2,000 arcs. */
  makeStamps() {
    const look = [this.dot, this.ratio, this.theme.background, this.data.colours.join(), this.data.shapes.join()].join();
    if (look === this.look) return;
    this.look = look;
    const half = Math.ceil(1.5 * this.dot + 1);
    this.half = half;
    this.stamps = new Map();
    const stamp = (colour, shape) => {
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = 2 * half * this.ratio;
      const context = canvas.getContext("2d");
      context.scale(this.ratio, this.ratio);
      outlineOf(context, shape, half, half, this.dot);
      context.fillStyle = colour;
      context.fill();
      context.lineWidth = 0.6;
      context.strokeStyle = this.theme.background;
      context.stroke();
      return canvas;
    };
    this.data.colours.forEach((colour, j) => this.stamps.set(j, stamp(colour, this.data.shapes[j])));
    this.stamps.set(UNKNOWN, stamp(GREY));
  }

  placeOf(i) {
    const sure = Math.min(1, Math.max(0, (this.confidence[i] - SURE) / (1 - SURE)));
    const spread = this.spread * sure * sure;
    return [
      this.width / 2 + this.x[i] * this.radius + this.spreadX[i] * spread,
      this.middle + this.y[i] * this.radius + this.spreadY[i] * spread,
    ];
  }

  // ---- drawing ------------------------------------------------------------------------------------------------------

  draw(context) {
    this.drawCircle(context);
    const row = this.rowOf.get(this.selected);
    if (row !== undefined) this.drawSpokes(context, row);
    this.drawExamples(context);
    this.drawRings(context, row);
    this.drawLabels(context);
  }

  drawCircle(context) {
    const [x, y] = [this.width / 2, this.middle];
    context.beginPath();
    context.arc(x, y, this.radius, 0, 2 * Math.PI);
    context.closePath();
    context.strokeStyle = this.theme.border;
    context.lineWidth = 1;
    context.stroke();
    if (this.anchors.length > 60) return;
    for (const anchor of this.anchors) {
      const shape = this.data.shapes[anchor.j];
      outlineOf(context, shape, x + anchor.x * this.radius, y + anchor.y * this.radius, shape === "circle" ? 3 : 4);
      context.fillStyle = this.data.colours[anchor.j];
      context.fill();
    }
  }

  /** From the selected example to each of its candidates, as strong as the candidate's weight. */
  drawSpokes(context, row) {
    const [x, y] = this.placeOf(row);
    for (const [j, weight] of this.data.spokes) {
      const anchor = this.anchors[j];
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(this.width / 2 + anchor.x * this.radius, this.middle + anchor.y * this.radius);
      context.strokeStyle = this.data.colours[j];
      context.globalAlpha = 0.25 + 0.65 * weight;
      context.lineWidth = 1 + 3 * weight;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  drawExamples(context) {
    const side = 2 * this.half;
    for (let i = 0; i < this.x.length; i += 1) {
      const [x, y] = this.placeOf(i);
      context.globalAlpha = 0.6 + 0.4 * this.confidence[i];
      if (context.isVector) {
        context.fillStyle = this.data.colours[this.hues[i]] ?? GREY;
        const shape = this.data.shapes[this.hues[i]] ?? "circle";
        if (shape === "circle") context.dot(x, y, this.dot, this.theme.background, 0.6);
        else {
          outlineOf(context, shape, x, y, this.dot);
          context.fill();
        }
      } else context.drawImage(this.stamps.get(this.hues[i]), x - this.half, y - this.half, side, side);
    }
    context.globalAlpha = 1;
  }

  /** Rings: faint where the identified label just changed, plain at the pointer, strong on the selected. */
  drawRings(context, row) {
    const ring = (i, wider, width, alpha) => {
      const [x, y] = this.placeOf(i);
      context.beginPath();
      context.arc(x, y, this.dot + wider, 0, 2 * Math.PI);
      context.globalAlpha = alpha;
      context.lineWidth = width;
      context.stroke();
    };
    context.strokeStyle = this.theme.text;
    const faint = Math.min(0.5, 20 / this.changed.length);  // where half of all change, rings would be all one saw
    for (const i of this.changed) ring(i, 1.6, 0.8, faint);
    if (this.cursor !== null) ring(this.cursor, 3, 1.5, 0.9);
    if (row !== undefined) ring(row, 4, 2.5, 1);
    context.globalAlpha = 1;
  }

  drawLabels(context) {
    context.font = this.font;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const { j, text, labelX, labelY, shown } of this.anchors) {
      if (!shown) continue;
      context.fillStyle = ink(this.data.colours[j], this.theme.text);
      context.fillText(text, labelX, labelY);
    }
  }

  // ---- what is where --------------------------------------------------------------------------------------------------

  exampleOf(row) {
    return this.examples ? this.examples[row] : row;
  }

  at(x, y) {
    return nearestPoint(this.x.length, (i) => this.placeOf(i), x, y, REACH);
  }

  /** The nearest example in the direction of an arrow key; from the middle where there is no cursor yet. */
  next(cursor, direction) {
    const from = cursor === null ? [this.width / 2, this.middle] : this.placeOf(cursor);
    return nextPoint(this.x.length, (i) => this.placeOf(i), cursor, from, direction, { least: 2, slant: 1 });
  }

  turn(cursor, step) {
    const count = this.x.length;
    return cursor === null ? 0 : (cursor + step + count) % count;
  }

  nameAt(x, y) {
    const near = this.anchors.find(({ shown, labelX, labelY, wide }) => shown && Math.abs(labelX - x) < wide / 2 + 3 && Math.abs(labelY - y) < this.line / 2 + 2);
    return near ? this.data.names[near.j] : "";
  }

  words(i) {
    const { names, colours, shapes } = this.data;
    const label = this.labels[i];
    const hue = this.hues[i];
    const open = hue === UNKNOWN && !this.data.truth;
    const lines = [
      { text: this.nameOf(i) },
      ...(this.data.texts?.[i] ? [{ text: this.data.texts[i] }] : []),
      open
        ? { text: `undecided, ${percent(this.target[i])} at most` }
        : { text: `${names[label] ?? "another class"}, label weight ${percent(this.target[i])}`, colour: colours[label], shape: shapes[label] },
    ];
    if (this.data.truth) {
      lines.push(hue === UNKNOWN ? { text: "truth unknown" } : { text: `true label ${names[hue]}`, colour: colours[hue], shape: shapes[hue] });
    }
    if (this.changed.includes(i)) lines.push({ text: "just changed" });
    return lines;
  }
}

export default function (component) {
  return plotIn(component.parentElement, Star).update(component);
}
