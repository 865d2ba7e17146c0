// The demo as a recorded film: it plays once, by itself, and again on request. Who asks for less motion sees its end.

const FIRST = 1600;       // ms that the moment before training stays: there is nothing to see it move from
const BEAT = 850;         // ms of every other frame
const PLAY = "M6 4l10 6-10 6z";
const PAUSE = "M5 4h4v12H5zm6 0h4v12h-4z";

class Film extends Star {
  constructor(root) {
    super(root);
    this.at = 0;
    this.timer = 0;
  }

  update(component) {
    const isNew = !this.film;
    this.film = component;
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    if (isNew && still) this.at = component.data.frames.length - 1;
    const taken = this.show();
    if (isNew && !still) this.play();
    else this.label();
    return taken;
  }

  show() {
    const data = { ...this.film.data };
    for (const name of ["places", "labels", "shades"]) {
      const size = data[name].length / data.frames.length;
      data[name] = data[name].slice(this.at * size, (this.at + 1) * size);
    }
    return super.update({ ...this.film, data: { ...data, ...data.frames[this.at] } });
  }

  play() {
    if (this.at === this.film.data.frames.length - 1) this.at = 0;
    this.wait();
    this.show();
    this.label();
  }

  wait() {
    this.timer = setTimeout(() => {
      if (!this.root.isConnected) return;
      this.at += 1;
      this.show();
      if (this.at === this.film.data.frames.length - 1) this.stop();
      else this.wait();
    }, this.at ? BEAT : FIRST);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.label();
  }

  label() {
    const name = this.timer ? "Pause" : this.at === this.film.data.frames.length - 1 ? "Play again" : "Play";
    this.button.title = name;
    this.button.setAttribute("aria-label", name);
    this.button.querySelector("path").setAttribute("d", this.timer ? PAUSE : PLAY);
  }

  /** Nothing is selected here. */
  choose() {}

  /** A button to play in place of the one to save. */
  offer() {
    this.button = this.root.querySelector(".save");
    this.button.className = "play";
    this.button.innerHTML = '<svg viewBox="0 0 20 20" aria-hidden="true"><path /></svg>';
    this.button.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
    this.root.querySelector("#keys").textContent = "Arrow keys move, Page Up and Page Down go further, Escape leaves.";
  }

  dispose() {
    clearTimeout(this.timer);
    super.dispose();
  }
}

export default function (component) {
  return plotIn(component.parentElement, Film).update(component);
}
