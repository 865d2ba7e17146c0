// What happened: the label weights of a sample of the examples, frame by frame, as film.py packed them; and
// what the star plot and the heatmap of the app (star.js, heatmap.js) want to be told of a frame.

const SCALE = 1000;       // label weights are whole thousandths
const ROWS = 300;         // of the heatmap
const COLUMNS = 60;       // of the heatmap: beyond these the classes that are a candidate most often
const CERTAIN = 0.9;      // confidence from which on an example is called sure

async function inflated(text) {
  const stream = new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function base64(array) {
  const raw = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let text = "";
  for (let k = 0; k < raw.length; k += 8192) text += String.fromCharCode(...raw.subarray(k, k + 8192));
  return btoa(text);
}

class Film {
  constructor(told) {
    Object.assign(this, told);
    this.sizes = numbers(told.sizes, 4);
    this.labels = numbers(told.labels, 4);
    this.truth = told.truth === null ? null : numbers(told.truth, 2);
    this.count = this.sizes.length;
    this.starts = new Uint32Array(this.count + 1);
    for (let i = 0; i < this.count; i += 1) this.starts[i + 1] = this.starts[i] + this.sizes[i];
    this.called = told.ids.map((id) => (/^\d+$/.test(id) ? `example ${id}` : id));
    this.looks = new Map();
    this.short = told.short ?? told.names;
    const c = told.names.length;
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

  /** Of every example: its identified label, how sure that is, and whether no label is ahead. */
  look(k) {
    if (this.looks.has(k)) return this.looks.get(k);
    const weights = this.frame(k);
    const look = { label: new Uint16Array(this.count), sure: new Float32Array(this.count), open: new Uint8Array(this.count) };
    for (let i = 0; i < this.count; i += 1) {
      let [best, second] = [this.starts[i], -1];
      for (let at = this.starts[i] + 1; at < this.starts[i + 1]; at += 1) {
        if (weights[at] > weights[best]) [best, second] = [at, weights[best]];
        else second = Math.max(second, weights[at]);
      }
      look.label[i] = this.labels[best];
      look.sure[i] = weights[best] / SCALE;
      look.open[i] = second === weights[best] ? 1 : 0;
    }
    this.looks.set(k, look);
    return look;
  }

  /** Whether the identified label of example i is another one than a frame before; before training there was none. */
  changed(k, i) {
    return k > 1 && this.look(k).label[i] !== this.look(k - 1).label[i];
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

  inWords(k) {
    const { label, sure } = this.look(k);
    const counts = new Map();
    label.forEach((j) => counts.set(j, (counts.get(j) ?? 0) + 1));
    const often = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 12);
    const certain = sure.filter((share) => share >= CERTAIN).length;
    const said = often.map(([j, many]) => `${many} ${this.names[j]}`).join(", ");
    return `${this.note}, ${this.names.length} classes. ${certain} are at least 90 % sure. Identified labels: ${said}.`;
  }

  // ---- for the star plot ------------------------------------------------------------------------------------------------

  star(k, { selected, byTruth, height }) {
    const [weights, look] = [this.frame(k), this.look(k)];
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
      shades[i] = Math.round(look.sure[i] * 127) | (this.changed(k, i) ? 128 : 0);
      hues[i] = byTruth ? this.truth[i] : look.open[i] ? UNKNOWN : look.label[i];
    }
    const spokes = selected === null ? [] : this.story(selected).map(([j, over]) => [j, over[k]]);
    return {
      when: this.when(k),
      note: this.note,
      description: `Star plot, ${this.when(k)}: a class a corner, an example the nearer to it the larger its label weight. ${this.inWords(k)}`,
      height,
      count: this.count,
      names: this.names,
      short: this.short,
      colours: this.colours,
      shapes: this.shapes,
      places: base64(places),
      labels: base64(look.label),
      labelSize: 2,
      shades: base64(shades),
      hues: base64(hues),
      truth: byTruth,
      selected,
      spokes,
      ids: this.called,
    };
  }

  // ---- for the heatmap --------------------------------------------------------------------------------------------------

  mostFrequent() {
    const often = this.names.map((_, j) => [0, j]);
    this.labels.forEach((j) => { often[j][0] += 1; });
    const kept = often.sort((a, b) => b[0] - a[0] || a[1] - b[1]).slice(0, COLUMNS);
    return kept.map(([, j]) => j).sort((a, b) => a - b);
  }

  /** Rows from sure to unsure; of many those at evenly spaced quantiles. */
  order(k) {
    const { sure } = this.look(k);
    const rows = Array.from(sure.keys()).sort((a, b) => sure[b] - sure[a] || a - b);
    if (rows.length <= ROWS) return rows;
    return Array.from({ length: ROWS }, (_, r) => rows[Math.floor(((r + 0.5) * rows.length) / ROWS)]);
  }

  heatmap(k, { selected, order, held, height }) {
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
    const shown = order.length < this.n ? `${order.length} of ${this.n.toLocaleString("en")} examples` : this.note;
    return {
      when: this.when(k),
      note: shown,
      description: `Heatmap of label weights, ${this.when(k)}: a row an example, a column a class, blank where the class is no candidate. ${this.inWords(k)}`,
      first: held ? "" : "sure",
      last: held ? "" : "unsure",
      height,
      names: this.columns.map((j) => this.names[j]),
      short: this.columns.map((j) => this.short[j]),
      colours: this.columns.map((j) => this.colours[j]),
      mask: base64(mask),
      values: base64(Uint8Array.from(values)),
      examples: base64(Uint32Array.from(order)),
      exampleSize: 4,
      selected,
      ids: order.map((i) => this.called[i]),
    };
  }
}
