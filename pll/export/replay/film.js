// The label weights of a sample of the examples, frame by frame, as film.py packed them, and the data of a frame that
// the star plot and the heatmap of the app (star.js, heatmap.js) draw.

const SCALE = 1000;       // label weights are whole thousandths
const ROWS = 300;         // of the heatmap
const COLUMNS = 60;       // of the heatmap: beyond these the classes that are a candidate most often
const SHARP = 0.9;        // largest label weight from which on an example is called sharp

/** The bytes of a base64 string. */
function bytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

async function inflated(text) {
  const stream = new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Film {
  constructor(data) {
    Object.assign(this, data);
    this.sizes = numbers(bytes(data.sizes), 4);
    this.labels = numbers(bytes(data.labels), 4);
    this.truth = data.truth === null ? null : numbers(bytes(data.truth), 2);
    this.count = this.sizes.length;
    this.starts = new Uint32Array(this.count + 1);
    for (let i = 0; i < this.count; i += 1) this.starts[i + 1] = this.starts[i] + this.sizes[i];
    this.exampleNames = data.ids.map((id) => (/^\d+$/.test(id) ? `example ${id}` : id));
    this.predictions = new Map();
    this.short = data.short ?? data.names;
    const c = data.names.length;
    this.anchors = Array.from({ length: c }, (_, j) => {
      const angle = (2 * Math.PI * j) / c - Math.PI / 2;
      return [Math.cos(angle), Math.sin(angle)];
    });
    this.columns = this.mostFrequent();
  }

  async open() {
    const planes = await inflated(this.frames);
    const [count, wide] = [this.epochs.length, this.labels.length];
    const all = (this.weights = new Uint16Array(count * wide));
    for (let k = 0; k < all.length; k += 1) {
      const zigzag = planes[k] | (planes[k + all.length] << 8);
      const step = zigzag & 1 ? -((zigzag + 1) >> 1) : zigzag >> 1;
      all[k] = (k < wide ? 0 : all[k - wide]) + step;
    }
    return this;
  }

  frame(k) {
    return this.weights.subarray(k * this.labels.length, (k + 1) * this.labels.length);
  }

  when(k) {
    return this.epochs[k] === 0 ? "Before training" : `Epoch ${this.epochs[k]}`;
  }

  /** The frame whose epoch is nearest. */
  near(epoch) {
    let best = 0;
    this.epochs.forEach((one, k) => { if (Math.abs(one - epoch) <= Math.abs(this.epochs[best] - epoch)) best = k; });
    return best;
  }

  /** Of every example: its identified label, the weight of that, and whether no label is ahead. */
  prediction(k) {
    if (this.predictions.has(k)) return this.predictions.get(k);
    const weights = this.frame(k);
    const prediction = { label: new Uint16Array(this.count), top: new Float32Array(this.count), tied: new Uint8Array(this.count) };
    for (let i = 0; i < this.count; i += 1) {
      let [best, second] = [this.starts[i], -1];
      for (let at = this.starts[i] + 1; at < this.starts[i + 1]; at += 1) {
        if (weights[at] > weights[best]) [best, second] = [at, weights[best]];
        else second = Math.max(second, weights[at]);
      }
      prediction.label[i] = this.labels[best];
      prediction.top[i] = weights[best] / SCALE;
      prediction.tied[i] = second === weights[best] ? 1 : 0;
    }
    this.predictions.set(k, prediction);
    return prediction;
  }

  /** Whether the identified label of example i is another one than a frame before; before training there was none. */
  changed(k, i) {
    return k > 1 && this.prediction(k).label[i] !== this.prediction(k - 1).label[i];
  }

  /** The weights of one example's candidates over all frames: [label, [weight, …]]. */
  story(i) {
    const story = [];
    for (let at = this.starts[i]; at < this.starts[i + 1]; at += 1) {
      story.push([this.labels[at], this.epochs.map((_, k) => this.frame(k)[at] / SCALE)]);
    }
    return story;
  }

  get note() {
    const many = (count) => count.toLocaleString("en");
    return this.count < this.n ? `${many(this.count)} of ${many(this.n)} examples` : `${many(this.n)} examples`;
  }

  description(k) {
    const { label, top } = this.prediction(k);
    const counts = new Map();
    label.forEach((j) => counts.set(j, (counts.get(j) ?? 0) + 1));
    const often = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 12);
    const sharp = top.filter((weight) => weight >= SHARP).length;
    const counted = often.map(([j, many]) => `${many} ${this.names[j]}`).join(", ");
    return `${this.note}, ${this.names.length} classes. ${sharp} have a label weight of at least 90 %. Identified labels: ${counted}.`;
  }

  // ---- for the star plot ------------------------------------------------------------------------------------------------

  star(k, { selected, byTruth, height }) {
    const [weights, prediction] = [this.frame(k), this.prediction(k)];
    const places = new Uint8Array(3 * this.count);
    const shades = new Uint8Array(this.count);
    const hues = new Uint16Array(this.count);
    for (let i = 0; i < this.count; i += 1) {
      let [x, y, whole] = [0, 0, 0];
      for (let at = this.starts[i]; at < this.starts[i + 1]; at += 1) {
        const anchor = this.anchors[this.labels[at]];
        x += weights[at] * anchor[0];
        y += weights[at] * anchor[1];
        whole += weights[at];
      }
      const [a, b] = [x, y].map((sum) => Math.min(Math.max(Math.round((sum / whole + 1) * 2047), 0), 4094));
      places.set([a >> 4, ((a & 15) << 4) | (b >> 8), b & 255], 3 * i);
      shades[i] = Math.round(prediction.top[i] * 127) | (this.changed(k, i) ? 128 : 0);
      hues[i] = byTruth ? this.truth[i] : prediction.tied[i] ? UNKNOWN : prediction.label[i];
    }
    const spokes = selected === null ? [] : this.story(selected).map(([j, over]) => [j, over[k]]);
    return {
      when: this.when(k),
      note: this.note,
      description: `Star plot, ${this.when(k)}: a class a corner, an example the nearer to it the larger its label weight. ${this.description(k)}`,
      height,
      count: this.count,
      names: this.names,
      short: this.short,
      colours: this.colours,
      shapes: this.shapes,
      places,
      labels: new Uint8Array(prediction.label.buffer),
      labelSize: 2,
      shades,
      hues: new Uint8Array(hues.buffer),
      truth: byTruth,
      selected,
      spokes,
      ids: this.exampleNames,
    };
  }

  // ---- for the heatmap --------------------------------------------------------------------------------------------------

  mostFrequent() {
    const often = this.names.map((_, j) => [0, j]);
    this.labels.forEach((j) => { often[j][0] += 1; });
    const columns = often.sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, COLUMNS);
    return columns.map(([, j]) => j).sort((a, b) => a - b);
  }

  /** Rows from sharp to flat; of many those at evenly spaced quantiles. */
  order(k) {
    const { top } = this.prediction(k);
    const rows = Array.from(top.keys()).sort((a, b) => top[b] - top[a] || a - b);
    if (rows.length <= ROWS) return rows;
    return Array.from({ length: ROWS }, (_, r) => rows[Math.floor(((r + 0.5) * rows.length) / ROWS)]);
  }

  heatmap(k, { selected, order, fixed, height }) {
    const weights = this.frame(k);
    const place = new Map(this.columns.map((j, column) => [j, column]));
    const wide = this.columns.length;
    const mask = new Uint8Array(Math.ceil((order.length * wide) / 8));
    const values = [];
    order.forEach((i, row) => {
      for (let at = this.starts[i]; at < this.starts[i + 1]; at += 1) {
        const column = place.get(this.labels[at]);
        if (column === undefined) continue;
        const cell = row * wide + column;
        mask[cell >> 3] |= 128 >> (cell & 7);
        values.push(Math.round((weights[at] * 255) / SCALE));
      }
    });
    const note = order.length < this.n ? `${order.length} of ${this.n.toLocaleString("en")} examples` : this.note;
    return {
      when: this.when(k),
      note,
      description: `Heatmap of label weights, ${this.when(k)}: a row an example, a column a class, blank where the class is no candidate. ${this.description(k)}`,
      first: fixed ? "" : "sharp",
      last: fixed ? "" : "flat",
      height,
      names: this.columns.map((j) => this.names[j]),
      short: this.columns.map((j) => this.short[j]),
      colours: this.columns.map((j) => this.colours[j]),
      mask,
      values: Uint8Array.from(values),
      examples: new Uint8Array(Uint32Array.from(order).buffer),
      exampleSize: 4,
      selected,
      ids: order.map((i) => this.exampleNames[i]),
    };
  }
}
