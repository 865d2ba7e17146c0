// Pointer and keyboard input of the toy. `this.data.on` is called with each edit.

const SLIDE = 4;          // pixels from which on a press is a drag
const NUDGE = 0.04;       // of a grabbed point, for an arrow key

class ToyHands extends ToyPicture {
  // ---- hands -------------------------------------------------------------------------------------------------------------

  grabs(event) {
    const box = this.canvas.getBoundingClientRect();
    const touch = event.touches[0];
    return this.placing !== null || this.at(touch.clientX - box.left, touch.clientY - box.top) !== null;
  }

  spot(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  hold(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const [px, py] = this.spot(event);
    const point = this.at(px, py);
    if (point === null) return;
    this.dragged = { point, by: "pointer", from: [px, py], moved: false };
  }

  point(event) {
    const [px, py] = this.spot(event);
    if (!this.dragged || this.dragged.by !== "pointer") return super.point(event);
    const [fx, fy] = this.dragged.from;
    if (!this.dragged.moved && Math.hypot(px - fx, py - fy) < SLIDE) return;
    this.dragged.moved = true;
    const [left, top] = this.corners[this.panel];
    this.carry(inside((2 * (px - left)) / this.side - 1), inside(1 - (2 * (py - top)) / this.side));
  }

  carry(x, y) {
    this.tip.hidden = true;
    this.data.on.move(this.dragged.point, x, y);
  }

  drop() {
    const { dragged } = this;
    this.dragged = null;
    if (dragged?.moved) {
      this.dropped = true;   // the click that follows selects nothing
      this.data.on.dropped();
    }
  }

  /** A click: adds a point where one is wanted, else selects. */
  choose() {
    if (this.dropped) { this.dropped = false; return; }
    if (this.placing !== null && this.pressed) {
      const ground = this.ground(...this.pressed);
      if (ground) this.data.on.add(this.placing, ground.x, ground.y);
      return;
    }
    super.choose();
  }

  add(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const label = Number(button.dataset.label);
    if (event.detail === 0) {  // by keyboard: into the middle, from where arrow keys take it on
      this.data.on.add(label, 0, 0);
      this.canvas.focus();
      return;
    }
    this.wantPoints(this.placing === label ? null : label);
    if (this.placing !== null) this.canvas.focus({ preventScroll: true });   // where Escape ends it
  }

  wantPoints(label) {
    this.placing = label;
    this.canvas.classList.toggle("placing", label !== null);
    const what = this.root.querySelector(".what");
    what.textContent = label === null ? "Drag points, or add some:" : `Click in the picture: a point of class ${this.data.names[label]} a click. Esc ends.`;
    what.classList.toggle("adding", label !== null);
    for (const one of this.root.querySelectorAll(".adders button")) {
      one.setAttribute("aria-pressed", String(Number(one.dataset.label) === label));
    }
  }

  press(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.key === " " && this.cursor !== null) {
      if (this.dragged) { this.drop(); this.dropped = false; this.spoken.textContent = `point ${this.cursor} put down`; }
      else { this.dragged = { point: this.cursor, by: "keys", moved: false }; this.spoken.textContent = `point ${this.cursor} held: arrow keys move it, space puts it down`; }
    } else if (this.dragged?.by === "keys" && step) {
      this.dragged.moved = true;
      const { point } = this.dragged;
      this.carry(inside(this.data.xs[point] + NUDGE * step[0]), inside(this.data.ys[point] + NUDGE * step[1]));
    } else if (event.key === "Delete" || event.key === "Backspace") {
      if (this.cursor !== null) this.data.on.remove(this.cursor);
    } else if (event.key === "Escape") {
      this.wantPoints(null);
      this.drop();
      this.moveCursor(null);
    } else {
      if (event.key === "Enter") this.pressed = null;
      return super.press(event);
    }
    event.preventDefault();
  }

  moveCursor(cursor, speak = false) {
    if (cursor === null && this.dragged?.by === "keys") { this.drop(); this.dropped = false; }
    super.moveCursor(cursor, speak);
  }
}
