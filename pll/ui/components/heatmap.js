// The heatmap of label weights: a row an example, a column a class. A cell is coloured by its weight; where the class is
// no candidate of the example there is no cell at all, so that "ruled out from the start" never looks like "weight 0".

const FADE = 9;           // of the cross-fade, 1/s: nine tenths of the way in about 0.25 s
const BLANK = -1;         // of a cell whose class is no candidate
const AXIS = 22;          // pixels left of the cells, for the words along the axis
const LEGEND = 34;        // pixels below them

class Heatmap extends Plot {
  read(data) {
    this.examples = numbers(data.examples, data.exampleSize);
    this.rows = this.examples.length;
    this.columns = data.names.length;
    const { mask, values } = data;                    // a bit a cell; a byte a candidate: 0 … 255 for weights 0 … 1
    let used = 0;
    this.cells = Int16Array.from({ length: this.rows * this.columns }, (_, k) => (
      (mask[k >> 3] >> (7 - (k & 7))) & 1 ? values[used++] : BLANK
    ));
    if (this.cursor && (this.cursor[0] >= this.rows || this.cursor[1] >= this.columns)) this.cursor = null;
    const scale = this.theme.scale;
    const colours = Array.from({ length: 256 }, (_, value) => {
      const at = (value / 255) * (scale.length - 1);
      const k = Math.min(Math.floor(at), scale.length - 2);
      return [0, 1, 2].map((c) => scale[k][c] + (at - k) * (scale[k + 1][c] - scale[k][c])).concat(255);
    });
    // Premultiplied, so that a cell that appears fades in and does not flash black.
    this.target = new Float32Array(4 * this.cells.length);
    this.cells.forEach((value, k) => value !== BLANK && this.target.set(colours[value], 4 * k));
    const shape = `${this.rows} × ${this.columns} ${this.theme.background}`;
    if (shape === this.shape) return;
    this.shape = shape;
    this.now = this.target.slice();
    this.picture = document.createElement("canvas");
    this.picture.width = this.columns;
    this.picture.height = this.rows;
    this.image = this.rows ? new ImageData(this.columns, this.rows) : null;
  }

  advance(seconds) {
    const part = 1 - Math.exp(-FADE * seconds);
    const { now, target } = this;
    let moving = false;
    for (let k = 0; k < now.length; k += 1) {
      const step = target[k] - now[k];
      if (step === 0) continue;
      if (Math.abs(step) < 1) now[k] = target[k];
      else {
        now[k] += part * step;
        moving = true;
      }
    }
    return moving;
  }

  // ---- layout -------------------------------------------------------------------------------------------------------

  heightFor() {
    return this.data.height;
  }

  /** Names lie flat where they fit their column, and stand upright where they do not. */
  layout() {
    const { context, width, height, columns } = this;
    const size = width < 480 ? 12 : 14;
    context.font = this.font = `600 ${size}px ${this.theme.font}`;
    this.small = `12px ${this.theme.font}`;
    this.cell = (width - AXIS - 2) / columns;
    const names = this.data.short ?? this.data.names;
    this.upright = names.some((name) => context.measureText(name).width > this.cell - 4);
    const room = this.upright ? Math.min(110, 0.25 * height) : this.cell;
    this.texts = shortenedNames(context, names, room);
    const longest = Math.max(...this.texts.map((text) => context.measureText(text).width));
    this.top = this.upright ? longest + 10 : size + 10;
    this.high = (height - this.top - LEGEND) / this.rows;
    this.every = Math.max(1, Math.ceil((size + 2) / this.cell));  // upright names need a line's height each
  }

  placeOf([row, column]) {
    return [AXIS + (column + 0.5) * this.cell, this.top + (row + 0.5) * this.high];
  }

  // ---- drawing ------------------------------------------------------------------------------------------------------

  draw(context) {
    this.drawCells(context);
    this.drawNames(context);
    this.drawAxis(context);
    this.drawLegend(context);
    this.examples.forEach((example, row) => {
      if (example === this.selected) this.outline(context, row, 1.5);
    });
    if (this.cursor) {
      this.outline(context, this.cursor[0], 1);
      this.outline(context, this.cursor[0], 2, this.cursor[1]);
    }
  }

  drawCells(context) {
    if (!this.image) return;
    const pixels = this.image.data;
    for (let k = 0; k < pixels.length; k += 4) {
      const alpha = this.now[k + 3];
      pixels[k + 3] = alpha;
      const back = alpha > 0 ? 255 / alpha : 0;
      for (let c = 0; c < 3; c += 1) pixels[k + c] = this.now[k + c] * back;
    }
    this.picture.getContext("2d").putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    const gap = this.cell > 14 ? 2 : this.cell > 6 ? 1 : 0;
    const whole = this.high * this.rows;
    for (let j = 0; j < this.columns; j += 1) {
      context.drawImage(this.picture, j, 0, 1, this.rows, AXIS + j * this.cell, this.top, this.cell - gap, whole);
    }
    context.imageSmoothingEnabled = true;
  }

  drawNames(context) {
    context.font = this.font;
    context.textBaseline = "middle";
    this.texts.forEach((text, j) => {
      if (this.upright && j % this.every) return;
      context.save();
      context.translate(AXIS + (j + 0.5) * this.cell - 1, this.upright ? this.top - 6 : this.top - 13);
      context.fillStyle = ink(this.data.colours[j], this.theme.text);
      if (this.upright) context.rotate(-Math.PI / 2);
      context.textAlign = this.upright ? "left" : "center";
      context.fillText(text, 0, 0);
      context.restore();
    });
  }

  drawAxis(context) {
    context.font = this.small;
    context.fillStyle = this.theme.text;
    context.globalAlpha = 0.65;
    context.textBaseline = "middle";
    for (const [word, y, align] of [[this.data.first, this.top, "right"], [this.data.last, this.height - LEGEND, "left"]]) {
      context.save();
      context.translate(AXIS / 2 - 2, y);
      context.rotate(-Math.PI / 2);
      context.textAlign = align;
      context.fillText(word, 0, 0);
      context.restore();
    }
    context.globalAlpha = 1;
  }

  /** The scale from 0 to 1, and what a blank means. */
  drawLegend(context) {
    const { scale, text, border } = this.theme;
    const y = this.height - 12;
    const wide = Math.min(120, 0.25 * this.width);
    const write = (word, x) => {
      context.globalAlpha = 0.65;
      context.fillStyle = text;
      context.fillText(word, x, y);
      context.globalAlpha = 1;
      return x + context.measureText(word).width;
    };
    context.font = this.small;
    context.textAlign = "left";
    context.textBaseline = "middle";
    let x = write("weight 0", AXIS) + 6;
    const ramp = context.createLinearGradient(x, 0, x + wide, 0);
    scale.forEach((colour, k) => ramp.addColorStop(k / (scale.length - 1), `rgb(${colour})`));
    context.fillStyle = ramp;
    context.fillRect(x, y - 5, wide, 10);
    x = write("1", x + wide + 6) + 18;
    context.strokeStyle = border;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y - 4.5, 14, 9);
    write("no candidate", x + 21);
  }

  outline(context, row, width, column = null) {
    const high = Math.max(this.high, 4);
    const y = this.top + (row + 0.5) * this.high - high / 2;
    const x = AXIS + (column ?? 0) * this.cell;
    context.strokeStyle = this.theme.text;
    context.lineWidth = width;
    context.strokeRect(x - 1, y - 1, (column === null ? this.columns : 1) * this.cell, high + 2);
  }

  // ---- what is where --------------------------------------------------------------------------------------------------

  exampleOf([row]) {
    return this.examples[row];
  }

  at(x, y) {
    const row = Math.floor((y - this.top) / this.high);
    const column = Math.floor((x - AXIS) / this.cell);
    return row >= 0 && row < this.rows && column >= 0 && column < this.columns ? [row, column] : null;
  }

  nameAt(x, y) {
    const column = Math.floor((x - AXIS) / this.cell);
    return y < this.top && column >= 0 && column < this.columns ? this.data.names[column] : "";
  }

  next(cursor, [right, down]) {
    if (!cursor) return this.rows ? [0, 0] : null;
    return [
      Math.min(Math.max(cursor[0] + down, 0), this.rows - 1),
      Math.min(Math.max(cursor[1] + right, 0), this.columns - 1),
    ];
  }

  turn(cursor, step) {
    return this.next(cursor, [0, step * Math.max(1, Math.round(this.rows / 10))]);
  }

  words([row, column]) {
    const value = this.cells[row * this.columns + column];
    const weight = value === BLANK ? "no candidate" : `weight ${percent(value / 255)}`;
    return [
      { text: this.nameOf(row) },
      ...(this.data.texts?.[row] ? [{ text: this.data.texts[row] }] : []),
      { text: `${this.data.names[column]}: ${weight}`, colour: this.data.colours[column] },
    ];
  }
}

export default function (component) {
  return plotIn(component.parentElement, Heatmap).update(component);
}
