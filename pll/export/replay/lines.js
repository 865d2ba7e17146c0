// Two charts over the epochs, as SVG: lines (accuracy and sharpness), and stacked areas (one example's label weights).

const WIDE = 600;         // the charts' own units; they stretch to the room there is
const SIDE = { left: 44, right: 16, top: 8, bottom: 20 };

function svg(name, attributes, parent, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

/** Axes in per cent over epochs, and the line that marks the epoch in view. Press or drag on it to go there. */
class Chart {
  constructor(root, epochs, high, onLook) {
    this.epochs = epochs;
    this.high = high;
    this.last = Math.max(epochs[epochs.length - 1], 1);
    this.root = svg("svg", { viewBox: `0 0 ${WIDE} ${high}`, role: "img" });
    root.append(this.root);
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      svg("line", { class: "grid", x1: SIDE.left, x2: WIDE - SIDE.right, y1: this.y(share), y2: this.y(share) }, this.root);
      if (share % 0.5 === 0) svg("text", { x: SIDE.left - 5, y: this.y(share) + 4, "text-anchor": "end" }, this.root, `${100 * share} %`);
    }
    const step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000, 5000].find((one) => this.last / one <= 6) ?? 10000;
    for (let epoch = 0; epoch <= this.last; epoch += step) {
      svg("text", { x: this.x(epoch), y: high - 5, "text-anchor": "middle" }, this.root, epoch);
    }
    this.body = svg("g", {}, this.root);
    this.mark = svg("line", { class: "mark", y1: SIDE.top, y2: high - SIDE.bottom }, this.root);
    const look = (event) => {
      const box = this.root.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * WIDE;
      onLook(((at - SIDE.left) / (WIDE - SIDE.left - SIDE.right)) * this.last);
    };
    this.root.addEventListener("pointerdown", (event) => { this.root.setPointerCapture(event.pointerId); look(event); });
    this.root.addEventListener("pointermove", (event) => event.buttons && look(event));
  }

  x(epoch) {
    return SIDE.left + (epoch / this.last) * (WIDE - SIDE.left - SIDE.right);
  }

  y(share) {
    return this.high - SIDE.bottom - share * (this.high - SIDE.top - SIDE.bottom);
  }

  at(k) {
    const x = this.x(this.epochs[k]);
    this.mark.setAttribute("x1", x);
    this.mark.setAttribute("x2", x);
  }

  points(values) {
    return values
      .map((value, k) => (value === null ? "" : `${this.x(this.epochs[k]).toFixed(1)},${this.y(value).toFixed(1)}`))
      .filter(Boolean);
  }

  lines(series) {
    for (const { values, kind } of series) {
      svg("polyline", { class: `line ${kind}`, points: this.points(values).join(" ") }, this.body);
    }
  }

  /** One on top of the other, the first at the bottom. */
  areas(series) {
    const below = this.epochs.map(() => 0);
    this.body.replaceChildren();
    for (const { values, colour, name } of series) {
      const floor = this.points(below).reverse();
      values.forEach((value, k) => { below[k] = Math.min(1, below[k] + value); });
      const area = svg("polygon", { fill: colour, points: [...this.points(below), ...floor].join(" ") }, this.body);
      svg("title", {}, area, name);
    }
  }

  describe(text) {
    this.root.setAttribute("aria-label", text);
  }
}
