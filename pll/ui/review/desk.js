// The desk: one example, its candidates as keys. The browser draws and listens; what is next is decided by the server,
// which has stored the answer before it sends another example.

const GRACE = 120;        // milliseconds in which nobody can have seen a new example: what is pressed then is a bounce
const UNSEEN = 500;       // and in which a click counts only where the pointer has moved: else it was meant for the example before
const STILL = 8;          // pixels that a hand at rest moves it by
const SEVERAL = 5;        // more candidates are drawn smaller where the window is low, so that the actions stay in view
const MANY = 12;          // more stand side by side
const FARTHEST = 3;       // standard deviations that fill the bar beside a column
const OFFERED = 200;      // classes listed at a time for another label
const DRAWN = { ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" };

/** A short form that the eye reads; the pointer and a screen reader get all of it. */
function inShort(full, short, parent) {
  if (full === short) return parent.append(` ${full}`);
  const eye = element("span", "", parent, ` ${short}`);
  eye.title = full;
  eye.setAttribute("aria-hidden", "true");
  element("span", "unseen", parent, ` ${full}`);
}

/** How well a class fits what was typed: itself, its beginning, that of a word in it, any part, all words of it
    wherever they stand; Infinity for not at all. */
function fit(name, typed) {
  const low = name.toLowerCase();
  if (low === typed) return 0;
  const at = low.indexOf(typed);
  if (at < 0) return typed.split(/\s+/).every((word) => low.includes(word)) ? 4 : Infinity;
  if (at === 0) return 1;
  const inside = [...low.matchAll(/[\p{L}\p{N}]+/gu)].some(({ index }) => low.startsWith(typed, index));
  return inside ? 2 : 3;
}

class Desk extends Station {
  constructor(root) {
    super(root);
    this.onPointer = ({ clientX, clientY }) => { this.pointer = [clientX, clientY]; };
    root.addEventListener("click", (event) => {
      if (!this.isUnseen(event)) return;
      event.stopPropagation();
      event.preventDefault();
    }, true);
  }

  listen() {
    super.listen();
    for (const kind of ["pointermove", "pointerdown"]) document.addEventListener(kind, this.onPointer, true);
  }

  leave() {
    super.leave();
    for (const kind of ["pointermove", "pointerdown"]) document.removeEventListener(kind, this.onPointer, true);
  }

  /** Whether a click was aimed at what stood there before this example came. One of a key has no place on the screen. */
  isUnseen({ detail, clientX, clientY, target }) {
    if (!detail || !this.rested || performance.now() - this.shownAt >= UNSEEN || target.closest(".moves")) return false;
    return Math.hypot(clientX - this.rested[0], clientY - this.rested[1]) < STILL;
  }

  update(component) {
    const { data } = component;
    const before = this.data;
    this.data = data;
    this.receive(component);
    if (data.row < 0) return;                      // nothing is left: the page says so
    if (this.pending && before) return;            // the answer is still to come
    const isNew = !before || before.token !== data.token || before.row !== data.row;
    if (isNew) {
      this.shownAt = performance.now();
      this.rested = this.pointer;
      this.mode = "pick";
      this.filter = "";
    }
    this.draw(isNew);
    if (before && before.row !== data.row) this.toTop();
  }

  /** A page that was scrolled through a long example shows the next one from its beginning; else it stays where it is. */
  toTop() {
    const board = this.root.querySelector(".board");
    const covered = parseFloat(getComputedStyle(board).scrollMarginTop);
    if (board.getBoundingClientRect().top < covered) board.scrollIntoView();
  }

  draw(isNew) {
    const active = this.root.getRootNode().activeElement;
    const hadFocus = this.root.contains(active);
    const wasFiltering = hadFocus && !isNew && active.closest(".filter");
    const view = document.createDocumentFragment();
    const { data } = this;
    if (data.problem) element("div", "problem", view, data.problem);
    if (data.past) this.drawPast(view);
    const stage = element("div", "stage", view);
    this.drawExample(stage);
    this.drawAnswers(stage);
    const spoken = this.root.querySelector(".spoken");
    this.drawBar();
    this.root.querySelector(".board").replaceChildren(view);
    this.root.dataset.token = data.token;
    this.root.dataset.row = data.row;
    if (spoken.textContent !== data.message) spoken.textContent = data.message;
    if (wasFiltering) this.root.querySelector(".filter input")?.focus();
    else if (this.mode === "other") this.root.querySelector(".other input").focus();
    else if (hadFocus && isNew) this.root.querySelector(".board").focus({ preventScroll: true });
  }

  drawPast(view) {
    const bar = element("div", "past", view);
    element("strong", "", bar, `Earlier decision, ${this.data.past.place} of ${this.data.past.of}`);
    element("span", "", bar, this.data.past.words);
    const now = this.action("now");
    button("quiet", now.key, now.label, bar, () => this.perform(now));
  }

  /** What is not a candidate, in places of its own: there a second click never meets a candidate of the next example. */
  drawBar() {
    const bar = this.root.querySelector(".bar");
    const view = document.createDocumentFragment();
    for (const place of ["answers", "moves"]) {
      const group = element("div", place, view);
      for (const action of this.data.actions) {
        if (action.place !== place) continue;
        const made = button("act", action.key, action.label, group, () => this.perform(action));
        made.title = action.title;
        made.disabled = !action.possible;
        if (!action.label) made.setAttribute("aria-label", action.title);
        if (action.name === "eliminate" || action.name === "other") made.setAttribute("aria-pressed", this.mode === action.name);
      }
      if (place === "moves") element("span", "state", group, "Saving…");
    }
    bar.replaceChildren(view);
  }

  // ---- the example --------------------------------------------------------------------------------------------------

  drawExample(stage) {
    const { hero, id, votes } = this.data;
    const figure = element("figure", "hero", stage);
    const frame = element("div", `frame ${hero.picture ? "of-picture" : ""}`, figure);
    if (hero.picture) picture(hero.picture, frame, `example ${id}`).className = "";  // smooth: easier to read than squares
    if (hero.text !== null) element("p", hero.text.length > 400 ? "text long" : "text", frame, hero.text);
    if (hero.columns.length) this.drawColumns(frame, hero);
    const caption = element("figcaption", "", figure);
    element("span", "id", caption, id);
    if (votes.length) {
      const list = element("span", "votes", caption);
      for (const { who, labels, short } of votes) {
        const vote = element("span", "vote", list);
        element("b", "", vote, who);
        inShort(labels, short, vote);
      }
    }
  }

  drawColumns(frame, { columns, beside }) {
    const table = element("table", "columns", frame);
    const head = element("tr", "", element("thead", "", table));
    const usual = columns.some((column) => column.usual);
    for (const name of ["column", "here", ...(usual ? ["nearby", ...beside] : [])]) element("th", "", head, name).scope = "col";
    const body = element("tbody", "", table);
    for (const { name, value, usual: near, distance, of_classes: classes } of columns) {
      const row = element("tr", "", body);
      element("th", "", row, name).scope = "row";
      element("td", "value", row, value);
      if (!usual) continue;
      const cell = element("td", "usual", row, near);
      cell.style.setProperty("--far", Math.min(1, distance / FARTHEST));
      for (const one of classes) element("td", "", row, one);
    }
  }

  // ---- the answers --------------------------------------------------------------------------------------------------

  drawAnswers(stage) {
    const side = element("div", "answers", stage);
    side.dataset.mode = this.mode;
    if (this.mode === "other") return this.drawOther(side);
    const { choices, decidable, beyond, by_place: byPlace } = this.data;
    if (this.mode === "eliminate") element("p", "ask", side, "Which one is wrong? Press its key. Esc goes back.");
    if (!decidable) element("p", "ask", side, "Somebody else has this example, or has answered it.");
    if (byPlace) element("p", "order", side, "Keys follow this card: 1 is its first candidate.");
    if (choices.some(({ key }) => !key)) this.drawFilter(side);
    const list = element("ol", `choices ${choices.length > MANY ? "many" : choices.length > SEVERAL ? "several" : ""}`, side);
    choices.forEach((choice, k) => this.drawChoice(list, choice, k));
    this.applyFilter(list);
    if (beyond !== null) element("p", "of", side, beyond >= 0.005 ? `None of these: ${likely(beyond)}` : "Percentages are among the candidates.");
  }

  drawChoice(list, choice, k) {
    const item = element("li", "choice", list);
    const { choices } = this.data;
    item.classList.toggle("alone", choices.length > MANY || !choices.some(({ near }) => near.length));
    const made = button(`pick ${choice.picked ? "picked" : ""}`, choice.key, "", item, () => this.choose(k));
    made.disabled = choice.out || !this.data.decidable;
    made.style.setProperty("--colour", choice.colour);
    const name = element("span", "name", made, choice.label);
    if (choice.votes) element("small", "", name, choice.votes);
    const parts = [choice.label];
    if (choice.out) parts.push("ruled out");
    if (choice.picked) parts.push("your answer");
    if (choice.weight !== null && !choice.out) {
      element("span", "weight", made, likely(choice.weight));
      made.style.setProperty("--weight", choice.weight);
      parts.push(likely(choice.weight));
    }
    if (choice.votes) parts.push(choice.votes);
    made.setAttribute("aria-label", parts.join(", "));
    const near = element("div", "near", item);
    near.title = choice.near.length ? `The nearest of the examples that are most surely ${choice.label}` : "";
    for (const one of choice.near) {
      if (one.picture) picture(one.picture, near, `example ${one.id}, most surely ${choice.label}`);
      else if (one.text) element("span", "text", near, one.text);
    }
  }

  /** More candidates than keys: a part of a name leaves those that have it. */
  drawFilter(side) {
    const label = element("label", "filter", side);
    keycap(this.action("filter").key, label);
    const field = element("input", "", label);
    field.type = "search";
    field.value = this.filter;
    field.autocomplete = "off";
    field.placeholder = `filter ${this.data.choices.length} candidates, Enter takes the first`;
    field.setAttribute("aria-label", "Filter the candidates");
    field.addEventListener("input", () => {
      this.filter = field.value;
      this.applyFilter(this.root.querySelector(".choices"));
    });
    field.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter") {
        if (this.filter.trim() && !event.repeat) this.choose(this.data.choices.findIndex((choice) => this.passes(choice) && !choice.out));
      } else if (event.key === "Escape") {
        this.filter = field.value = "";
        this.applyFilter(this.root.querySelector(".choices"));
        this.root.querySelector(".board").focus({ preventScroll: true });
      } else return;
      event.preventDefault();
    });
  }

  passes({ label }) {
    return fit(label, this.filter.trim().toLowerCase()) < Infinity;
  }

  applyFilter(list) {
    this.data.choices.forEach((choice, k) => { list.children[k].hidden = !this.passes(choice); });
  }

  // ---- another label ------------------------------------------------------------------------------------------------

  /** All classes, those that fit what is typed first. A class that there is not is the last entry, and asked about. */
  drawOther(side) {
    const form = element("div", "other", side);
    const label = element("label", "", form, "Another label");
    const field = element("input", "", label);
    field.autocomplete = "off";
    field.maxLength = 200;
    field.placeholder = "type a part of its name";
    field.setAttribute("role", "combobox");
    field.setAttribute("aria-expanded", "true");
    field.setAttribute("aria-controls", "desk-classes");
    field.setAttribute("aria-autocomplete", "list");
    button("act quiet", "Esc", "Close", form, () => this.closeOther());
    const list = element("ul", "classes", form);
    list.id = "desk-classes";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Classes");
    list.tabIndex = -1;
    const typed = () => field.value.trim();
    let offered = [];
    let at = -1;                                   // the entry that Enter takes; none before anything is typed
    const mark = (k) => {
      at = k;
      [...list.children].forEach((entry, j) => entry.setAttribute("aria-selected", j === at));
      list.children[at]?.scrollIntoView({ block: "nearest" });
      if (at < 0) field.removeAttribute("aria-activedescendant");
      else field.setAttribute("aria-activedescendant", list.children[at].id);
    };
    const take = (k) => {
      const entry = offered[k];
      if (!entry) return;
      if (!entry.isNew) return this.name(entry.name);
      if (entry.isAsked) return this.decide("other", entry.name);
      entry.isAsked = true;
      list.children[k].textContent = `Add the class “${entry.name}”? Enter or a click adds it.`;
      mark(k);
    };
    const offer = () => {
      const wanted = typed().toLowerCase();
      const fits = this.data.texts.map((name) => ({ name, fit: wanted ? fit(name, wanted) : 0 })).filter((one) => one.fit < Infinity);
      fits.sort((a, b) => a.fit - b.fit);          // stable: the order of the classes within
      offered = fits.slice(0, OFFERED);
      if (wanted && fits[0]?.fit !== 0) offered.push({ name: typed(), isNew: true });
      list.replaceChildren();
      offered.forEach(({ name, isNew }, k) => {
        const entry = element("li", isNew ? "new" : "", list, isNew ? `New class: ${name}` : name);
        entry.id = `desk-class-${k}`;
        entry.setAttribute("role", "option");
        entry.addEventListener("click", ({ detail }) => { if (detail < 2) take(k); });
      });
      mark(wanted ? 0 : -1);
      if (fits.length > OFFERED) element("li", "left", list, `${(fits.length - OFFERED).toLocaleString("en")} more: type a part of the name`);
    };
    field.addEventListener("input", offer);
    field.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step && offered.length) mark((Math.max(at + step, step < 0 && at < 0 ? -1 : at + step) + offered.length) % offered.length);
      else if (event.key === "Enter") { if (!event.repeat) take(at); }
      else if (event.key === "Escape") this.closeOther();
      else return;
      event.preventDefault();
    });
    offer();
  }

  openOther() {
    this.mode = "other";
    this.draw(false);
  }

  closeOther() {
    this.mode = "pick";
    this.draw(false);
    this.root.querySelector(".board").focus({ preventScroll: true });
  }

  // ---- what is pressed ----------------------------------------------------------------------------------------------

  open() {
    return this.data.choices.filter(({ out }) => !out);
  }

  choose(k) {
    const choice = this.data.choices[k];
    if (!choice || choice.out) return;
    if (this.mode === "eliminate") {
      this.mode = "pick";
      this.decide("eliminate", choice.label);
    } else {
      this.decide("pick", choice.label);
    }
  }

  /** A class of which it does not matter whether it is a candidate. */
  name(label) {
    const isOpen = this.open().some((choice) => choice.label === label);
    this.decide(isOpen ? "pick" : "other", label);
  }

  ruleOut() {
    this.mode = this.mode === "eliminate" ? "pick" : "eliminate";
    this.draw(false);
  }

  decide(kind, label = null) {
    if (!this.data.decidable || performance.now() - this.shownAt < GRACE) return;
    this.send({ what: "decide", kind, label, token: this.data.token, seconds: (performance.now() - this.shownAt) / 1000 });
  }

  action(name) {
    return this.data.actions.find((action) => action.name === name);
  }

  /** Does what a button or a key stands for, where that is possible now. */
  perform({ name, possible, stores }) {
    if (!possible || this.pending) return;
    const own = {
      other: () => (this.mode === "other" ? this.closeOther() : this.openOther()),
      eliminate: () => this.ruleOut(),
      filter: () => this.root.querySelector(".filter input")?.focus(),
    };
    if (Object.hasOwn(own, name)) own[name]();
    else if (stores) this.decide(name);
    else this.send({ what: name });
  }

  /** True where the key did something, or would have if it were possible now. */
  press(event) {
    const key = event.key.length === 1 ? event.key.toUpperCase() : (DRAWN[event.key] ?? event.key);
    if (this.mode !== "pick" && event.key === "Escape") {
      this.mode = "pick";
      this.draw(false);
      return true;
    }
    if (this.mode === "other") return false;       // the candidates and their keys are not in sight
    const { choices, actions, decidable } = this.data;
    let picked = choices.findIndex((choice) => choice.key === event.key);   // classes a and A are two keys
    if (picked < 0) picked = choices.findIndex((choice) => choice.key && choice.key === key);
    if (picked >= 0) {
      if (decidable) this.choose(picked);
      return true;
    }
    const action = actions.find((one) => one.key === key);
    if (!action || (action.name === "now" && !action.possible)) return false;
    this.perform(action);
    return true;
  }
}

export default function (component) {
  return attend(component, Desk);
}
