// Drawing of the toy: panels, shaded plane, decision boundary, and points as pies of label weights.

const REACH = 18;         // pixels within which the pointer finds a point
const CELLS = 64;         // of the shaded plane, each way
const HEAD = 26;          // pixels above a panel, for its title

const GAP = 18;           // between panels
const NARROW = 250;       // pixels of a panel below which there is one less in a row

/** Where the middle of a column of the shaded plane is. */
const middle = (column) => (2 * (column + 0.5)) / CELLS - 1;

class ToyPicture extends Plot {
  // ---- layout -----------------------------------------------------------------------------------------------------------

  heightFor(width) {
    const many = this.data.panels.length;
    const fitting = Math.max(1, Math.floor((width + GAP) / (NARROW + GAP)));
    this.across = fitting >= many ? many : many > 2 && fitting >= 2 ? 2 : 1;
    this.side = Math.floor(Math.min(this.data.height, (width - (this.across - 1) * GAP) / this.across));
    this.dot = Math.max(6, Math.min(9, this.side / 46));
    return Math.ceil(many / this.across) * (this.side + HEAD + GAP) - GAP;
  }

  layout() {
    const left = (this.width - this.across * (this.side + GAP) + GAP) / 2;
    this.corners = this.data.panels.map((_, k) => [
      left + (k % this.across) * (this.side + GAP), Math.floor(k / this.across) * (this.side + HEAD + GAP) + HEAD,
    ]);
  }

  place(k, x, y) {
    const [left, top] = this.corners[k];
    return [left + ((x + 1) / 2) * this.side, top + ((1 - y) / 2) * this.side];
  }

  placeOf(i) {
    return this.place(this.panel, this.data.xs[i], this.data.ys[i]);
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

  /** The shaded plane: each class's share of the softmax in its colour, the paler the less sure. Keeps logits and classes. */
  drawPlane(context, k) {
    const cells = this.cells.getContext("2d");
    const image = cells.createImageData(CELLS, CELLS);
    const colours = this.data.colours.map(rgb);
    const { network } = this.data.panels[k];
    const z = (this.logits[k] ??= new Float64Array(3 * CELLS * CELLS));
    const best = (this.best[k] ??= new Uint8Array(CELLS * CELLS));
    for (let row = 0; row < CELLS; row += 1) {
      for (let column = 0; column < CELLS; column += 1) {
        const cell = row * CELLS + column;
        const own = network.forward(this.now[k].parameters, middle(column), -middle(row));
        z.set(own, 3 * cell);
        const g = softmax(own);
        best[cell] = argmax(g);
        for (let c = 0; c < 3; c += 1) {
          image.data[4 * cell + c] = g[0] * colours[0][c] + g[1] * colours[1][c] + g[2] * colours[2][c];
        }
        image.data[4 * cell + 3] = 255 * (0.05 + 0.3 * ((g[best[cell]] - 1 / 3) * 1.5));
      }
    }
    cells.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = true;
    const [left, top] = this.corners[k];
    context.drawImage(this.cells, left, top, this.side, this.side);
  }

  /** Where two classes tie and no third is ahead of them: the zero line of each class's lead, square by square. */
  drawBoundary(context, k) {
    const [z, best] = [this.logits[k], this.best[k]];
    const corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
    context.beginPath();
    for (let row = 0; row < CELLS - 1; row += 1) {
      for (let column = 0; column < CELLS - 1; column += 1) {
        const at = corners.map(([right, down]) => (row + down) * CELLS + column + right);
        if (at.every((cell) => best[cell] === best[at[0]])) continue;
        for (const j of new Set(at.map((cell) => best[cell]))) {
          const leads = at.map((cell) => z[3 * cell + j] - Math.max(z[3 * cell + (j + 1) % 3], z[3 * cell + (j + 2) % 3]));
          let on = false;
          for (let m = 0; m < 4; m += 1) {
            const [from, to] = [leads[m], leads[(m + 1) % 4]];
            if (from > 0 === to > 0) continue;
            const part = from / (from - to);
            const [[ax, ay], [bx, by]] = [corners[m], corners[(m + 1) % 4]];
            const spot = this.place(k, middle(column + ax + part * (bx - ax)), -middle(row + ay + part * (by - ay)));
            context[on ? "lineTo" : "moveTo"](...spot);
            on = !on;
          }
        }
      }
    }
    context.strokeStyle = this.theme.text;
    context.globalAlpha = 0.75;
    context.lineWidth = 1.5;
    context.stroke();
    context.globalAlpha = 1;
  }

  /** The name of a class in the middle of its part of the plane, so that colour is not the only sign. */
  drawNames(context, k) {
    const sums = [0, 1, 2].map(() => [0, 0, 0]);
    for (let cell = 0; cell < CELLS * CELLS; cell += 1) {
      const sum = sums[this.best[k][cell]];
      sum[0] += middle(cell % CELLS);
      sum[1] -= middle(Math.floor(cell / CELLS));
      sum[2] += 1;
    }
    context.font = `700 ${Math.round(this.side / 11)}px ${this.theme.font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.globalAlpha = 0.28;
    sums.forEach(([x, y, many], j) => {
      if (many < 0.035 * CELLS * CELLS) return;
      context.fillStyle = ink(this.data.colours[j], this.theme.text);
      context.fillText(this.data.names[j], ...this.place(k, x / many, y / many));
    });
    context.globalAlpha = 1;
  }

  /** A point: a pie of its label weights; a cross where the identified label is wrong. */
  drawPoint(context, k, i) {
    const [px, py] = this.place(k, this.data.xs[i], this.data.ys[i]);
    const labels = this.data.sets[i];
    const now = this.now[k].weights[i];
    const marked = i === this.selected;
    const radius = this.dot * (marked ? 1.35 : 1);
    context.beginPath();
    context.arc(px, py, radius + 1.5, 0, 2 * Math.PI);
    context.fillStyle = this.theme.background;
    context.fill();
    let from = -Math.PI / 2;
    const total = now.reduce((sum, weight) => sum + weight, 0) || 1;
    labels.forEach((label, m) => {
      const to = from + (2 * Math.PI * now[m]) / total;
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
    return this.data.panels[k].labels[this.epoch][i];
  }

  right(k) {
    return this.data.panels[k].right[this.epoch];
  }

  exampleOf(i) {
    return i;
  }

  at(px, py) {
    const ground = this.ground(px, py);
    if (!ground) return null;
    this.panel = ground.k;
    return nearestPoint(this.data.count, (i) => this.placeOf(i), px, py, REACH);
  }

  next(cursor, direction) {
    const from = cursor === null ? this.place(this.panel, 0, 0) : this.placeOf(cursor);
    return nextPoint(this.data.count, (i) => this.placeOf(i), cursor, from, direction, { least: 1, slant: 1.5 });
  }

  turn(cursor, step) {
    return cursor === null ? 0 : (cursor + step + this.data.count) % this.data.count;
  }

  words(i) {
    const { names, colours, sets, truth, panels } = this.data;
    const weightsOf = (k) => weightsText(names, sets[i], panels[k].frames[this.epoch].weights[i]);
    return [
      { text: `point ${i}` },
      { text: `true label ${names[truth[i]]}`, colour: colours[truth[i]] },
      ...panels.map((panel, k) => ({ text: panels.length > 1 ? `${panel.title}: ${weightsOf(k)}` : weightsOf(k) })),
    ];
  }
}

/** "A 70 %, B 30 %". */
const weightsText = (names, set, weights) => set.map((label, m) => `${names[label]} ${percent(weights[m])}`).join(", ");
