// What the desk and the batch share: keycaps, keys that are not meant for a field, and messages to the server
// that are sent until they are acknowledged.

const AWAY = 1500;        // milliseconds without an answer after which a message is sent again
const LONGEST = 6000;
const TRIES = 50;

function keycap(key, parent) {
  const cap = element("kbd", "cap", parent, key);
  cap.setAttribute("aria-hidden", "true");
  return cap;
}

/** A button with its key on it. A second click of a double click would meet the next example: it does not count. */
function button(className, key, name, parent, press) {
  const made = element("button", className, parent);
  made.type = "button";
  if (key) {
    keycap(key, made);
    made.setAttribute("aria-keyshortcuts", key);
  }
  if (name) element("span", "name", made, name);
  made.addEventListener("click", (event) => {
    if (event.detail < 2) press();
  });
  return made;
}

/** How likely a model finds a label; nothing that it did not measure as certain is shown as 100 % or as 0 %. */
function likely(weight) {
  if (weight >= 0.995) return "> 99 %";
  return weight < 0.005 ? "< 1 %" : `${Math.round(100 * weight)} %`;
}

const FIELDS = "input, textarea, select, [contenteditable=''], [contenteditable=true]";
const MOVED = "[role=slider], [role=radio], [role=radiogroup], [role=tab], [role=tablist], [role=listbox], [role=option], [role=menu], [role=combobox], [role=grid], [data-testid=stDataFrame]";

/** Whether a key press is meant for something else than the desk: a field, a menu, the browser. */
function isElsewhere(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return true;
  const at = event.composedPath()[0];
  if (!(at instanceof Element)) return false;
  if (at.closest(FIELDS) && !["button", "checkbox", "radio"].includes(at.type)) return true;
  if (document.querySelector("[role=dialog], [data-testid=stPopoverBody]")) return true;
  return event.key.startsWith("Arrow") && at.closest(MOVED) !== null;
}

const VIEWS = "[data-testid=stButtonGroup], [role=radiogroup]";

/** Listens to the keys of the whole page for as long as its element is on it; sends one message at a time. */
class Station {
  constructor(root) {
    this.root = root;
    // A page that is built anew (the server was away) makes another desk: what was under way goes on in that one.
    const left = globalThis.candidPending;
    this.pending = left?.on === location.href ? { ...left.message, tries: 0 } : null;
    this.pressedAt = left?.at ?? performance.now();
    this.count = 0;
    // A view that was chosen with the pointer keeps the focus, and would take the arrow keys that are meant for the desk.
    this.onChosen = ({ detail, target }) => {
      if (detail && target instanceof Element && target.closest(VIEWS)) this.takeFocus();
    };
    if (document.activeElement?.closest(VIEWS) && !document.activeElement.matches(":focus-visible")) this.takeFocus();
    this.onKey = (event) => {
      if (!this.root.isConnected || isElsewhere(event)) return;
      if (event.repeat && !event.key.startsWith("Arrow")) return;   // a key held down labels one example
      if (this.press(event)) event.preventDefault();
    };
  }

  listen() {
    document.addEventListener("keydown", this.onKey);
    document.addEventListener("click", this.onChosen);
  }

  takeFocus() {
    setTimeout(() => this.root.querySelector(".board").focus({ preventScroll: true }));
  }

  leave() {
    document.removeEventListener("keydown", this.onKey);
    document.removeEventListener("click", this.onChosen);
    this.again = clearTimeout(this.again);
    clearTimeout(this.patience);
  }

  /** One message is under way at a time: what is pressed meanwhile was meant for an example that has been answered. */
  send(message) {
    if (this.pending) return;
    this.count += 1;
    this.pending = { ...message, nonce: `${Date.now()}-${this.count}`, tries: 0 };
    this.pressedAt = performance.now();
    globalThis.candidPending = { message: this.pending, on: location.href, at: this.pressedAt };
    this.root.classList.add("busy");
    clearTimeout(this.patience);
    this.patience = setTimeout(() => this.root.classList.add("slow"), 300);
    this.transmit();
  }

  transmit() {
    this.again = clearTimeout(this.again);
    if (!this.pending || this.pending.tries >= TRIES) return;
    this.pending.tries += 1;
    const { tries, ...message } = this.pending;
    try {
      this.trigger(message);
    } catch (error) {
      // No connection at this moment: it is tried again below.
    }
    this.sendAgainLater();
  }

  /** Unless that is due already. */
  sendAgainLater() {
    this.again ??= setTimeout(() => this.transmit(), Math.min(AWAY * Math.max(this.pending.tries, 1), LONGEST));
  }

  /** What has come from the server: whether it answers what was sent. */
  receive({ data, setTriggerValue }) {
    this.trigger = (message) => setTriggerValue("act", message);
    if (data.cookie) document.cookie = `${data.cookie}; path=/; max-age=31536000; samesite=lax`;
    if (data.strip) this.drawStrip(data.strip);
    if (!this.pending) return;
    const answered = data.ack === this.pending.nonce;
    // After the server was away its memory of this tab is gone, but not what it has stored: another example in hand
    // means that the answer was stored.
    const isStored = this.pending.token && data.token && data.token !== this.pending.token;
    if (answered || isStored) {
      this.pending = globalThis.candidPending = null;
      this.again = clearTimeout(this.again);
      clearTimeout(this.patience);
      this.root.classList.remove("busy", "slow");
      const from = this.pressedAt;
      requestAnimationFrame(() => setTimeout(() => performance.measure("candid-key-to-next", { start: from, end: performance.now() })));
    } else if (data.problem) {
      this.showProblem(data.problem);          // it could not be stored at this moment
      this.sendAgainLater();            // a desk that was made anew has what is pending, and no clock for it yet
    } else {
      this.transmit();
    }
  }

  /** What is wrong, above the example that is still there. */
  showProblem(problem) {
    const board = this.root.querySelector(".board");
    board.querySelector(":scope > .problem")?.remove();
    board.prepend(element("div", "problem", null, problem));
  }

  /** The line above: how much is done, how far it is to the certificate. */
  drawStrip({ left, right, note, share, holds }) {
    const strip = this.root.querySelector(".strip");
    strip.replaceChildren();
    strip.classList.toggle("holds", holds);
    element("span", "", strip, left);
    element("span", "far", strip, right);
    if (note) element("span", "note", strip, note);
    element("i", "", strip).style.width = `${100 * share}%`;
  }
}

const stations = new WeakMap();

/** An update for the station of this element, which is made with the first one; what ends its listening is returned. */
function attend(component, Kind) {
  const root = component.parentElement.querySelector(".desk");
  if (!stations.has(root)) stations.set(root, new Kind(root));
  const station = stations.get(root);
  station.leave();
  station.listen();
  station.update(component);
  return () => station.leave();
}
