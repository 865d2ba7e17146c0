// The timeline: progress, and the epoch in view. What the handle asks for is answered by an update whose `requested` is the
// number of the request; until then the handle stays where the person put it, and the next request waits.

const PATIENCE = 1500;    // ms after which a request counts as lost, and is made once more
const BEAT = 160;         // ms between two epochs of a replay, at least
const INSET = 8;          // px from the ends of the strip to epoch 0 and to the last one
const LENGTH = 16_000;    // ms that a replay of many epochs takes, about

const timelines = new WeakMap();

class Timeline {
  constructor(root) {
    this.root = root;
    this.track = root.querySelector(".track");
    this.requested = 0;       // the number of the last request
    this.wanted = null;      // what the person wants to see and has not been shown: [epoch, follow]
    this.sentAt = 0;
    this.shown = 0;
    this.timer = 0;          // of the replay
    // Not an <input>: while one has the focus, the page's own keys would be taken for typing.
    this.track.addEventListener("pointerdown", (event) => this.hold(event));
    this.track.addEventListener("pointermove", (event) => this.track.hasPointerCapture(event.pointerId) && this.slide(event));
    this.track.addEventListener("lostpointercapture", () => root.classList.remove("dragged"));
    this.track.addEventListener("keydown", (event) => this.press(event));
    root.querySelector(".live").addEventListener("click", () => { this.stop(); this.want(this.last(), true); });
    root.querySelector(".replay").addEventListener("click", () => (this.timer ? this.stop() : this.play()));
  }

  update({ data, setTriggerValue }) {
    this.data = data;
    this.send = (look) => setTriggerValue("look", look);
    this.requested = Math.max(this.requested, data.requested);
    this.stored = new Uint32Array(data.stored.buffer);
    this.root.querySelector(".done").style.width = `${(100 * data.done) / data.total}%`;
    this.root.querySelector(".live").classList.toggle("ended", !data.live);
    this.root.querySelector("path").setAttribute("d", this.outline());
    this.track.setAttribute("aria-valuemax", data.done);
    this.next();
    if (this.wanted === null && !this.waits()) this.show(data.viewed, data.follow);
    return () => setTimeout(() => this.root.isConnected || this.stop());
  }

  last() {
    return this.stored[this.stored.length - 1];
  }

  /** The stored epoch nearest to one that may not be. */
  near(epoch) {
    let best = this.stored[0];
    for (const one of this.stored) if (Math.abs(one - epoch) <= Math.abs(best - epoch)) best = one;
    return best;
  }

  /** How often labels changed, over the epochs: an area from the left to where training is. */
  outline() {
    const { changed, total, done } = this.data;
    if (!changed.length) return "";
    const x = (epoch) => ((1000 * epoch) / total).toFixed(1);
    const points = changed.map(([epoch, high]) => `L${x(epoch)} ${100 - high}`);
    return `M${x(changed[0][0])} 100${points.join("")}L${x(done)} ${100 - changed[changed.length - 1][1]}L${x(done)} 100Z`;
  }

  show(epoch, follow) {
    this.shown = epoch;
    this.follows = follow;
    const share = Math.min(epoch / this.data.total, 1);
    this.root.querySelector(".thumb").style.left = `calc(8px + ${share} * (100% - 16px))`;
    this.root.querySelector(".live").setAttribute("aria-pressed", String(follow));
    this.track.setAttribute("aria-valuenow", epoch);
    this.track.setAttribute("aria-valuetext", `epoch ${epoch} of ${this.data.total}${follow && this.data.live ? ", live" : ""}`);
  }

  // ---- what the person wants ------------------------------------------------------------------------------------------

  hold(event) {
    if (event.button !== 0) return;
    this.track.setPointerCapture(event.pointerId);
    this.stop();
    this.slide(event);
    this.root.classList.add("dragged");  // from now on the handle keeps up with the pointer
  }

  slide(event) {
    const box = this.track.getBoundingClientRect();
    const share = (event.clientX - box.left - INSET) / (box.width - 2 * INSET);
    const value = Math.round(share * this.data.total);
    this.want(this.near(value), this.data.live && value >= this.data.done);
  }

  press(event) {
    const at = this.stored.indexOf(this.near(this.shown));
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (step) this.stop();
    if (step) this.want(this.stored[Math.min(Math.max(at + step, 0), this.stored.length - 1)], false);
    else if (event.key === "Home") this.want(this.stored[0], false);
    else if (event.key === "End") this.want(this.last(), this.data.live);
    else return;
    event.preventDefault();
  }

  want(epoch, follow) {
    if (epoch === this.shown && follow === this.follows) return;
    this.wanted = [epoch, follow];
    this.show(epoch, follow);
    this.next();
  }

  /** Whether a request is under way. */
  waits() {
    return this.requested > this.data.requested && performance.now() - this.sentAt < PATIENCE;
  }

  next() {
    if (this.wanted === null || this.waits()) return;
    const [epoch, follow] = this.wanted;
    this.wanted = null;
    this.request(epoch, follow, () => this.request(epoch, follow, () => {}));
  }

  /** Streamlit drops what is asked of a fragment that a rerun of the page is just replacing. */
  request(epoch, follow, unanswered) {
    const number = (this.requested += 1);
    this.sentAt = performance.now();
    this.send([epoch, follow, number]);
    setTimeout(() => {
      const lost = this.requested === number && this.data.requested < number && this.wanted === null;
      if (lost && this.root.isConnected) unanswered();
    }, PATIENCE);
  }

  // ---- replay -----------------------------------------------------------------------------------------------------------

  play() {
    const stride = Math.max(1, Math.round((this.stored.length * BEAT) / LENGTH));
    let at = this.stored.indexOf(this.near(this.shown));
    if (at >= this.stored.length - 1) at = -stride;
    this.root.querySelector(".replay").classList.add("playing");
    this.root.querySelector(".replay").title = "Stop playing back";
    this.timer = setInterval(() => {
      if (!this.root.isConnected) return this.stop();
      if (this.waits() || this.wanted !== null) return this.next();
      at = Math.min(at + stride, this.stored.length - 1);
      const end = at === this.stored.length - 1;
      this.want(this.stored[at], end && this.data.live);
      if (end) this.stop();
    }, BEAT);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.root.querySelector(".replay").classList.remove("playing");
    this.root.querySelector(".replay").title = "Play it back";
  }
}

export default function (component) {
  const root = component.parentElement.querySelector(".timeline");
  if (!timelines.has(root)) timelines.set(root, new Timeline(root));
  return timelines.get(root).update(component);
}
