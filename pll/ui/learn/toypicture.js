// Drawing of the toy: panels, shaded plane, decision boundary, and points as pies of label weights.

const REACH = 18;         // pixels within which the pointer finds a point
const CELLS = 64;         // of the shaded plane, each way
const HEAD = 26;          // pixels above a panel, for its title

const inside = (value) => Math.max(-1, Math.min(1, value));

class ToyPicture extends Plot {
  // ---- layout -----------------------------------------------------------------------------------------------------------

  heightFor(width) {
    const many = this.data.panels.length;
    this.stacked = many > 1 && width < 560;
    const across = this.stacked ? 1 : many;
    this.gap = 18;
    this.side = Math.floor(Math.min(this.data.height, (width - (across - 1) * this.gap) / across));
    this.dot = Math.max(6, Math.min(9, this.side / 46));
    return (this.side + HEAD) * (this.stacked ? many : 1) + (this.stacked ? (many - 1) * this.gap : 0);
  }

  layout() {
    const across = this.side + this.gap;
    const left = this.stacked ? (this.width - this.side) / 2
      : (this.width - this.data.panels.length * across + this.gap) / 2;
    this.corners = this.data.panels.map((_, k) => (this.stacked
      ? [left, k * (this.side + HEAD + this.gap) + HEAD] : [left + k * across, HEAD]));
  }

  place(k, x, y) {
    const [left, top] = this.corners[k];
    return [left + ((x + 1) / 2) * this.side, top + ((1 - y) / 2) * this.side];
  }

  placeOf(i) {
    return this.place(this.panel, this.x[i], this.y[i]);
  }

  /** Where in the plane a pixel is, and in which panel; null outside of all. */
  ground(px, py) {
    for (let k = 0; k < this.corners.length; k += 1) {
      const [left, top] = this.corners[k];
      const [x, y] = [(2 * (px - left)) / this.side - 1, 1 - (2 * (py - top)) / this.side];
      if (Math.abs(x) <= 1.03 && Math.abs(y) <= 1.03) return { k, x: inside(x), y: inside(y) };
    }
    return null;
  }

  // ---- drawing ------------------------------------------------------------------------------------------------------------

  draw(context) {
    this.data.panels.forEach((panel, k) => {
      const [left, top] = this.corners[k];
      context.save();
      context.beginPath();
      context.roundRect(left, top, this.side, this.side, 6);
      context.clip();
      this.drawPlane(context, k);
      this.drawBoundary(context, k);
      this.drawNames(context, k);
      context.restore();
      context.beginPath();
      context.roundRect(left + 0.5, top + 0.5, this.side - 1, this.side - 1, 6);
      context.strokeStyle = this.theme.border;
      context.lineWidth = 1;
      context.stroke();
      for (let i = 0; i < this.data.count; i += 1) this.drawPoint(context, k, i);
      this.drawTitle(context, k);
    });
  }

  /** The shaded plane: each class's share of the softmax in its colour, the paler the less sure. */
  drawPlane(context, k) {
    const cells = this.cells.getContext("2d");
    const image = cells.createImageData(CELLS, CELLS);
    const colours = this.data.colours.map(rgb);
    const w = this.nowPlanes[k];
    for (let row = 0; row < CELLS; row += 1) {
      const y = 1 - (2 * (row + 0.5)) / CELLS;
      for (let column = 0; column < CELLS; column += 1) {
        const x = (2 * (column + 0.5)) / CELLS - 1;
        const z = [0, 1, 2].map((j) => w[3 * j] * x + w[3 * j + 1] * y + w[3 * j + 2]);
        const top = Math.max(...z);
        const e = z.map((value) => Math.exp(value - top));
        const sum = e[0] + e[1] + e[2];
        const at = 4 * (row * CELLS + column);
        for (let c = 0; c < 3; c += 1) {
          image.data[at + c] = (e[0] * colours[0][c] + e[1] * colours[1][c] + e[2] * colours[2][c]) / sum;
        }
        image.data[at + 3] = 255 * (0.05 + 0.3 * ((1 / sum - 1 / 3) * 1.5));
      }
    }
    cells.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = true;
    const [left, top] = this.corners[k];
    context.drawImage(this.cells, left, top, this.side, this.side);
  }

  /** Where two classes tie and no third is ahead of them. */
  drawBoundary(context, k) {
    const w = this.nowPlanes[k];
    const logit = (j, x, y) => w[3 * j] * x + w[3 * j + 1] * y + w[3 * j + 2];
    context.strokeStyle = this.theme.text;
    context.globalAlpha = 0.75;
    context.lineWidth = 1.5;
    for (const [a, b, other] of [[0, 1, 2], [0, 2, 1], [1, 2, 0]]) {
      const [p, q, r] = [0, 1, 2].map((m) => w[3 * a + m] - w[3 * b + m]);
      const length = Math.hypot(p, q);
      if (length < 1e-9) continue;
      const [ox, oy] = [(-p * r) / (length * length), (-q * r) / (length * length)];
      context.beginPath();
      let on = false;
      for (let t = -3; t <= 3; t += 0.02) {
        const [x, y] = [ox - (q / length) * t, oy + (p / length) * t];
        const ahead = logit(a, x, y) >= logit(other, x, y) - 1e-6;
        if (ahead) context[on ? "lineTo" : "moveTo"](...this.place(k, x, y));
        on = ahead;
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  /** The name of a class in the middle of its part of the plane, so that colour is not the only sign. */
  drawNames(context, k) {
    const w = this.nowPlanes[k];
    const sums = [0, 1, 2].map(() => [0, 0, 0]);
    for (let x = -0.95; x < 1; x += 0.1) {
      for (let y = -0.95; y < 1; y += 0.1) {
        const z = [0, 1, 2].map((j) => w[3 * j] * x + w[3 * j + 1] * y + w[3 * j + 2]);
        const sum = sums[z.indexOf(Math.max(...z))];
        sum[0] += x; sum[1] += y; sum[2] += 1;
      }
    }
    context.font = `700 ${Math.round(this.side / 11)}px ${this.theme.font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.globalAlpha = 0.28;
    sums.forEach(([x, y, many], j) => {
      if (many < 14) return;
      context.fillStyle = ink(this.data.colours[j], this.theme.text);
      context.fillText(this.data.names[j], ...this.place(k, x / many, y / many));
    });
    context.globalAlpha = 1;
  }

  /** A point: a pie of its label weights; a cross where the identified label is wrong. */
  drawPoint(context, k, i) {
    const [px, py] = this.place(k, this.x[i], this.y[i]);
    const labels = this.data.sets[i];
    const start = this.starts[i];
    const now = this.nowWeights[k];
    const marked = i === this.selected;
    const radius = this.dot * (marked ? 1.35 : 1);
    context.beginPath();
    context.arc(px, py, radius + 1.5, 0, 2 * Math.PI);
    context.fillStyle = this.theme.background;
    context.fill();
    let from = -Math.PI / 2;
    const total = labels.reduce((sum, _, m) => sum + now[start + m], 0) || 1;
    labels.forEach((label, m) => {
      const to = from + (2 * Math.PI * now[start + m]) / total;
      context.beginPath();
      context.moveTo(px, py);
      context.arc(px, py, radius, from, to);
      context.closePath();
      context.fillStyle = this.data.colours[label];
      context.fill();
      from = to;
    });
    if (this.epoch > 0 && this.identified(k, i) !== this.data.truth[i]) {
      const arm = radius * 0.45;
      context.beginPath();
      context.moveTo(px - arm, py - arm); context.lineTo(px + arm, py + arm);
      context.moveTo(px + arm, py - arm); context.lineTo(px - arm, py + arm);
      context.strokeStyle = "#ffffff";
      context.lineWidth = 2;
      context.stroke();
    }
    if (marked || (i === this.cursor && k === this.panel)) {
      context.beginPath();
      context.arc(px, py, radius + 3, 0, 2 * Math.PI);
      context.strokeStyle = this.theme.text;
      context.lineWidth = marked ? 2 : 1.2;
      context.stroke();
    }
  }

  drawTitle(context, k) {
    const [left, top] = this.corners[k];
    context.textBaseline = "middle";
    context.fillStyle = this.theme.text;
    context.textAlign = "left";
    context.font = `600 14px ${this.theme.font}`;
    context.fillText(this.data.panels[k].title, left + 2, top - 14);
    if (this.epoch === 0) return;
    context.textAlign = "right";
    context.font = `14px ${this.theme.font}`;
    context.fillText(`${this.right(k)} of ${this.data.count} right`, left + this.side - 2, top - 14);
  }

  // ---- what is what ---------------------------------------------------------------------------------------------------

  identified(k, i) {
    return this.atEpoch(this.labels[k], this.data.count)[i];
  }

  right(k) {
    return this.data.panels[k].right[Math.min(this.epoch, this.data.epochs)];
  }

  exampleOf(i) {
    return i;
  }

  at(px, py) {
    const ground = this.ground(px, py);
    if (!ground) return null;
    this.panel = ground.k;
    return nearestPoint(this.x.length, (i) => this.placeOf(i), px, py, REACH);
  }

  next(cursor, direction) {
    const from = cursor === null ? this.place(this.panel, 0, 0) : this.placeOf(cursor);
    return nextPoint(this.x.length, (i) => this.placeOf(i), cursor, from, direction, { least: 1, slant: 1.5 });
  }

  turn(cursor, step) {
    return cursor === null ? 0 : (cursor + step + this.x.length) % this.x.length;
  }

  words(i) {
    const { names, colours, sets, truth, panels } = this.data;
    const said = (k) => {
      const weights = this.atEpoch(this.weights[k], this.nnz);
      return sets[i].map((label, m) => `${names[label]} ${percent(weights[this.starts[i] + m] / 255)}`).join(", ");
    };
    return [
      { text: `point ${i}` },
      { text: `true label ${names[truth[i]]}`, colour: colours[truth[i]] },
      ...panels.map((panel, k) => ({ text: panels.length > 1 ? `${panel.title}: ${said(k)}` : said(k) })),
    ];
  }
}
