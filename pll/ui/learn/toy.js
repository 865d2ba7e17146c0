// The toy in the plane: points that can be dragged, added and removed, and what a model makes of the plane around them,
// epoch by epoch. Python trains; every frame (planes of the classes, label weights of the points) comes from there, and
// the browser only moves between them. A panel a method; all panels share the points and the epoch.
//
// Behind canvas.js, toypicture.js (what it looks like) and toyhands.js (what can be done to it): one module with them.

const EASE = 13;          // 1/s: how quickly pictures glide to their targets
const SPEED = 12;         // epochs a second when playing

const floats = (text) => new Float32Array(bytes(text).buffer);

class Toy extends ToyHands {
  constructor(root) {
    super(root);
    this.epoch = 0;
    this.asked = 0;
    this.sentAt = 0;
    this.panel = 0;            // where the pointer is
    this.held = null;          // the point that follows pointer or keys: {point, by, x, y, moved}
    this.placing = null;       // the class of the points that a press on empty ground adds
    this.waiting = null;       // an edit that has not been told yet
    this.cells = document.createElement("canvas");
    this.cells.width = this.cells.height = CELLS;
    this.range = root.querySelector(".epoch");
    this.canvas.addEventListener("pointerdown", (event) => this.hold(event));
    this.canvas.addEventListener("pointerup", () => this.drop());
    this.canvas.addEventListener("pointercancel", () => this.drop());
    this.canvas.addEventListener("touchstart", (event) => this.grabs(event) && event.preventDefault(), { passive: false });
    this.range.addEventListener("input", () => { this.stop(); this.show(Number(this.range.value)); });
    this.range.addEventListener("change", () => this.look());
    root.querySelector(".play").addEventListener("click", () => (this.playing ? this.stop(true) : this.play()));
    root.querySelector(".step").addEventListener("click", () => { this.stop(); this.show(this.epoch + 1); this.look(); });
    root.querySelector(".begin").addEventListener("click", () => { this.stop(); this.show(0); this.look(); });
    root.querySelector(".remove").addEventListener("click", () => this.remove());
    root.querySelector(".adders").addEventListener("click", (event) => this.add(event));
  }

  update(component) {
    const { setTriggerValue } = component;
    this.tell = (edit) => setTriggerValue("edit", edit);
    this.tellLook = (epoch) => {
      this.asked += 1;
      this.sentAt = performance.now();
      setTriggerValue("look", [epoch, this.asked]);
    };
    return super.update(component);
  }

  read(data) {
    const first = this.planes === undefined;
    this.asked = Math.max(this.asked, data.asked);
    this.starts = [0];
    for (const set of data.sets) this.starts.push(this.starts[this.starts.length - 1] + set.length);
    this.nnz = this.starts[data.count];
    this.planes = data.panels.map((panel) => floats(panel.planes));
    this.weights = data.panels.map((panel) => bytes(panel.weights));
    this.labels = data.panels.map((panel) => bytes(panel.identified));
    const shape = `${data.panels.map((panel) => panel.title)} ${JSON.stringify(data.sets)}`;
    if (shape !== this.shape) this.nowWeights = this.weights.map((all, k) => Float32Array.from(this.atEpoch(all, this.nnz)));
    if (first || this.nowPlanes.length !== this.planes.length) this.nowPlanes = this.planes.map((all) => Float32Array.from(this.atEpoch(all, 9)));
    this.shape = shape;
    if (!this.held && !this.waiting && !this.waits()) {
      this.x = Float32Array.from(data.xs);
      this.y = Float32Array.from(data.ys);
    } else if (this.x.length !== data.count) {
      this.held = this.waiting = null;
      this.x = Float32Array.from(data.xs);
      this.y = Float32Array.from(data.ys);
    }
    if (this.cursor !== null && this.cursor >= data.count) this.cursor = null;
    this.range.max = data.epochs;
    this.makeAdders(data);
    this.root.querySelector(".remove").disabled = data.selected === null;
    if (first || data.look !== this.lookTold) this.epoch = data.epoch;
    this.lookTold = data.look;
    this.show(Math.min(this.epoch, data.epochs));
    if (this.waiting) this.report();
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

  /** The values of the epoch in view. */
  atEpoch(all, size) {
    const at = Math.min(this.epoch, all.length / size - 1);
    return all.subarray(at * size, (at + 1) * size);
  }

  // ---- time -----------------------------------------------------------------------------------------------------------

  show(epoch) {
    this.epoch = Math.max(0, Math.min(epoch, this.data.epochs));
    this.range.value = this.epoch;
    const said = this.epoch === 0 ? "before training" : `epoch ${this.epoch} of ${this.data.epochs}`;
    this.range.setAttribute("aria-valuetext", said);
    this.root.querySelector(".when").textContent = said;
    this.wake();
  }

  /** Tell Python which epoch is in view, once it stands still. */
  look() {
    this.tellLook(this.epoch);
    const rights = this.data.panels.map((panel, k) => `${panel.title}: ${this.right(k)} of ${this.data.count} right`);
    this.spoken.textContent = `${this.root.querySelector(".when").textContent}. ${rights.join(". ")}`;
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
    const glide = (now, target, scale) => {
      for (let k = 0; k < now.length; k += 1) {
        const gap = target[k] / scale - now[k];
        now[k] += gap * part;
        far = Math.max(far, Math.abs(gap));
      }
    };
    this.nowPlanes.forEach((now, k) => glide(now, this.atEpoch(this.planes[k], 9), 1));
    this.nowWeights.forEach((now, k) => glide(now, this.atEpoch(this.weights[k], this.nnz), 255));
    return this.playing || far > 0.002;
  }
}

export default function (component) {
  const root = component.parentElement.querySelector(".plot");
  if (!root.dataset.wired) {
    root.dataset.wired = "yes";
    const canvas = root.querySelector("canvas");
    // Where the press was, for the click that `Plot` hands on without its place.
    canvas.addEventListener("click", (event) => {
      const box = canvas.getBoundingClientRect();
      const plot = plots.get(root);
      if (plot) plot.pressed = [event.clientX - box.left, event.clientY - box.top];
    }, { capture: true });
  }
  return plotIn(component.parentElement, Toy).update(component);
}
