// The toy in the plane: points that can be dragged, added and removed, and what models make of the plane around them,
// epoch by epoch. A panel a method; all panels share the points and the epoch.

const EASE = 13;          // 1/s: how quickly pictures glide to their targets
const SPEED = 12;         // epochs a second when playing
const TOY = `
<div class="plot toy">
  <div class="head">
    <span class="when"></span><span class="note"></span>
    <button class="save" type="button" title="Save this picture" aria-label="Save this picture"></button>
  </div>
  <canvas tabindex="0" role="application" aria-describedby="keys"></canvas>
  <div class="bar">
    <button class="begin" type="button" aria-label="Back to before training" title="Back to before training"></button>
    <button class="play" type="button" aria-label="Train"></button>
    <button class="step" type="button" aria-label="One epoch" title="One epoch">+1</button>
    <input class="epoch" type="range" min="0" value="0" aria-label="Epoch">
  </div>
  <div class="bar edits">
    <span class="what">Drag points, or add some:</span><span class="adders"></span>
    <button class="remove" type="button">Remove the chosen one</button>
  </div>
  <div class="tip" hidden></div>
  <div class="spoken" id="keys">Arrow keys go from point to point, Enter chooses one, Space takes it up so that
    arrow keys move it and puts it down again, Delete removes it, Escape leaves.</div>
  <div class="spoken now" role="status" aria-live="polite"></div>
</div>`;

/** A frame that can be changed. */
const copied = ({ parameters, weights }) => ({ parameters: parameters.slice(), weights: weights.map((own) => [...own]) });

class Toy extends ToyHands {
  constructor(root) {
    super(root);
    this.epoch = 0;
    this.panel = 0;            // where the pointer is
    this.dragged = null;          // the point that follows pointer or keys: {point, by, from, moved}
    this.placing = null;       // the class of the points that a press on empty ground adds
    this.now = [];             // the frame that is drawn, of each panel: on its way to that of the epoch
    this.logits = [];          // of the plane, of each panel
    this.best = [];            // and the class ahead
    this.cells = document.createElement("canvas");
    this.cells.width = this.cells.height = CELLS;
    this.range = root.querySelector(".epoch");
    const press = (name, done) => root.querySelector(name).addEventListener("click", done);
    // Where the press was, for the click that `Plot` hands on without its place.
    this.canvas.addEventListener("click", (event) => { this.pressed = this.spot(event); }, { capture: true });
    this.canvas.addEventListener("pointerdown", (event) => this.hold(event));
    this.canvas.addEventListener("pointerup", () => this.drop());
    this.canvas.addEventListener("pointercancel", () => this.drop());
    this.canvas.addEventListener("touchstart", (event) => this.grabs(event) && event.preventDefault(), { passive: false });
    this.range.addEventListener("input", () => { this.stop(); this.show(Number(this.range.value)); });
    this.range.addEventListener("change", () => this.look());
    press(".play", () => (this.playing ? this.stop(true) : this.play()));
    press(".step", () => { this.stop(); this.show(this.epoch + 1); this.look(); });
    press(".begin", () => { this.stop(); this.show(0); this.look(); });
    press(".remove", () => this.data.on.remove(this.selected));
    press(".adders", (event) => this.add(event));
  }

  /** One frame draws whatever an update changed. */
  update(component) {
    this.changing = true;
    const leave = super.update(component);
    this.changing = false;
    return leave;
  }

  paint() { if (!this.changing) super.paint(); }

  read(data) {
    this.range.max = data.epochs;
    this.root.querySelector(".edits").hidden = !data.editable;
    this.makeAdders(data);
    if (this.cursor !== null && this.cursor >= data.count) this.cursor = null;
    const shape = [data.panels.map((panel) => [panel.method, panel.network.count]), data.sets].flat(9).join();
    if (shape !== this.shape) this.now = data.panels.map((panel) => copied(panel.frames[Math.min(data.epoch, data.epochs)]));
    this.shape = shape;
    this.show(data.epoch);
  }

  makeAdders(data) {
    const box = this.root.querySelector(".adders");
    if (box.childElementCount === data.names.length) return;
    box.replaceChildren(...data.names.map((name, j) => {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.label = j;
      button.setAttribute("aria-pressed", "false");
      button.title = `Add points of class ${name}: press, then press in the picture`;
      const dot = button.appendChild(document.createElement("i"));
      dot.style.background = data.colours[j];
      button.append(`+ ${name}`);
      return button;
    }));
  }

  // ---- time -----------------------------------------------------------------------------------------------------------

  show(epoch) {
    this.epoch = Math.max(0, Math.min(epoch, this.data.epochs));
    this.range.value = this.epoch;
    const moment = this.epoch === 0 ? "before training" : `epoch ${this.epoch} of ${this.data.epochs}`;
    this.range.setAttribute("aria-valuetext", moment);
    this.root.querySelector(".when").textContent = moment;
    this.wake();
  }

  /** Tell which epoch is in view, once it stands still. */
  look() {
    this.data.on.look(this.epoch);
    const rights = this.data.panels.map((panel, k) => `${panel.title}: ${this.right(k)} of ${this.data.count} right`);
    this.spoken.textContent = `${this.when()}. ${rights.join(". ")}`;
  }

  play() {
    if (this.epoch >= this.data.epochs) this.show(0);
    this.playing = true;
    this.beat = 0;
    const button = this.root.querySelector(".play");
    button.classList.add("playing");
    button.setAttribute("aria-label", "Pause");
    this.wake();
  }

  stop(tell = false) {
    if (!this.playing) return;
    this.playing = false;
    const button = this.root.querySelector(".play");
    button.classList.remove("playing");
    button.setAttribute("aria-label", "Train");
    if (tell) this.look();
  }

  advance(seconds) {
    if (this.playing) {
      this.beat += Math.min(seconds, 0.064) * SPEED;
      if (this.beat >= 1) {
        this.show(this.epoch + Math.floor(this.beat));
        this.beat %= 1;
      }
      if (this.epoch >= this.data.epochs) this.stop(true);
    }
    const part = seconds === Infinity ? 1 : 1 - Math.exp(-EASE * seconds);
    let far = 0;
    const glide = (now, target) => {
      for (let k = 0; k < now.length; k += 1) {
        const gap = target[k] - now[k];
        now[k] += gap * part;
        far = Math.max(far, Math.abs(gap));
      }
    };
    this.now.forEach((now, k) => {
      const target = this.data.panels[k].frames[this.epoch];
      glide(now.parameters, target.parameters);
      now.weights.forEach((own, i) => glide(own, target.weights[i]));
    });
    return this.playing || far > 0.002;
  }
}
