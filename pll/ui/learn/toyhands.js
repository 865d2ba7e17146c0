// Pointer and keyboard input of the toy, reported to Python one edit at a time.

const SLIDE = 4;          // pixels from which on a press is a drag
const PAUSE = 170;        // ms between two reports of a drag, at least
const PATIENCE = 2500;    // ms after which a report counts as lost
const NUDGE = 0.04;       // of a held point, for an arrow key

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
    this.held = { point, by: "pointer", from: [px, py], moved: false };
  }

  point(event) {
    const [px, py] = this.spot(event);
    if (!this.held || this.held.by !== "pointer") return super.point(event);
    const [fx, fy] = this.held.from;
    if (!this.held.moved && Math.hypot(px - fx, py - fy) < SLIDE) return;
    this.held.moved = true;
    const [left, top] = this.corners[this.panel];
    this.carry(inside((2 * (px - left)) / this.side - 1), inside(1 - (2 * (py - top)) / this.side));
  }

  carry(x, y) {
    const { point } = this.held;
    this.x[point] = x;
    this.y[point] = y;
    this.tip.hidden = true;
    this.waiting = { kind: "move", point, x, y };
    this.report();
    this.paint();
  }

  drop() {
    const { held } = this;
    this.held = null;
    if (held?.moved) {
      this.dropped = true;   // the click that follows selects nothing
      this.report(true);
    }
  }

  /** A click: adds a point where one is wanted, else selects. */
  choose() {
    if (this.dropped) { this.dropped = false; return; }
    if (this.placing !== null && this.pressed) {
      const ground = this.ground(...this.pressed);
      if (ground) this.edit({ kind: "add", label: this.placing, x: ground.x, y: ground.y });
      return;
    }
    super.choose();
    this.root.querySelector(".remove").disabled = this.selected === null;
  }

  add(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const label = Number(button.dataset.label);
    if (event.detail === 0) {  // by keyboard: into the middle, from where arrow keys take it on
      this.edit({ kind: "add", label, x: 0, y: 0 });
      this.canvas.focus();
      return;
    }
    this.wantPoints(this.placing === label ? null : label);
  }

  wantPoints(label) {
    this.placing = label;
    this.canvas.classList.toggle("placing", label !== null);
    for (const one of this.root.querySelectorAll(".adders button")) {
      one.setAttribute("aria-pressed", String(Number(one.dataset.label) === label));
    }
  }

  remove() {
    if (this.selected === null || this.selected === undefined) return;
    this.edit({ kind: "remove", point: this.selected });
  }

  press(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.key === " " && this.cursor !== null) {
      if (this.held) { this.drop(); this.dropped = false; this.spoken.textContent = `point ${this.cursor} put down`; }
      else { this.held = { point: this.cursor, by: "keys", moved: false }; this.spoken.textContent = `point ${this.cursor} held: arrow keys move it, space puts it down`; }
    } else if (this.held?.by === "keys" && step) {
      this.held.moved = true;
      const { point } = this.held;
      this.carry(inside(this.x[point] + NUDGE * step[0]), inside(this.y[point] + NUDGE * step[1]));
    } else if (event.key === "Delete" || event.key === "Backspace") {
      if (this.cursor !== null) this.edit({ kind: "remove", point: this.cursor });
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
    if (cursor === null && this.held?.by === "keys") { this.drop(); this.dropped = false; }
    super.moveCursor(cursor, speak);
  }

  // ---- reports to Python ---------------------------------------------------------------------------------------------------

  waits() {
    return this.asked > this.data.asked && performance.now() - this.sentAt < PATIENCE;
  }

  /** Tell where the held point is: not too often, and one report at a time; the last one always arrives. */
  report(last = false) {
    if (!this.waiting) return;
    const soon = performance.now() - this.sentAt < PAUSE;
    if (!last && (this.waits() || soon)) {
      clearTimeout(this.later);
      this.later = setTimeout(() => this.report(), PAUSE);
      return;
    }
    const edit = this.waiting;
    this.waiting = null;
    this.edit(edit);
  }

  edit(what) {
    this.asked += 1;
    this.sentAt = performance.now();
    this.tell({ ...what, asked: this.asked });
  }
}
