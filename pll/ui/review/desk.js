// The desk: one example, its candidates as keys. The browser draws and listens; what is next is decided by the server,
// which has stored the answer before it sends another example.

const GRACE = 120;        // milliseconds in which nobody can have seen a new example: what is pressed then is a bounce
const SEVERAL = 5;        // more candidates are drawn smaller where the window is low, so that the actions stay in view
const MANY = 12;          // more stand side by side
const FARTHEST = 3;       // standard deviations that fill the bar beside a column

/** A short form that the eye reads; the pointer and a screen reader get all of it. */
function inShort(full, short, parent) {
  if (full === short) return parent.append(` ${full}`);
  const eye = element("span", "", parent, ` ${short}`);
  eye.title = full;
  eye.setAttribute("aria-hidden", "true");
  element("span", "unseen", parent, ` ${full}`);
}

class Desk extends Station {
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
      this.mode = "pick";
      this.query = null;
      this.filter = "";
    }
    this.draw(isNew);
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
    this.root.querySelector(".board").replaceChildren(view);
    this.root.dataset.token = data.token;
    this.root.dataset.row = data.row;
    if (spoken.textContent !== data.message) spoken.textContent = data.message;
    if (wasFiltering) this.root.querySelector(".filter input")?.focus();
    else if (this.query !== null) this.root.querySelector(".other input")?.focus();
    else if (hadFocus && isNew) this.root.querySelector(".board").focus({ preventScroll: true });
  }

  drawPast(view) {
    const bar = element("div", "past", view);
    element("strong", "", bar, `Earlier decision, ${this.data.past.place} of ${this.data.past.of}`);
    element("span", "", bar, this.data.past.words);
    button("quiet", "Esc", "Back to the current example", bar, () => this.send({ what: "now" }));
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
    for (const { name, value, usual: near, distance, classes } of columns) {
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
    const { choices, can, keys } = this.data;
    if (this.mode === "rule out") element("p", "ask", side, "Which one is wrong? Press its key. Esc goes back.");
    if (choices.some(({ key }) => !key)) this.drawFilter(side);
    const list = element("ol", `choices ${choices.length > MANY ? "many" : choices.length > SEVERAL ? "several" : ""}`, side);
    choices.forEach((choice, k) => this.drawChoice(list, choice, k));
    this.applyFilter(list);
    if (!can.decide) element("p", "ask", side, can.why);
    const more = element("div", "more", side);
    const act = (key, name, press, title, off) => {
      const made = button("act", key, name, more, press);
      made.title = title;
      made.disabled = Boolean(off);
      return made;
    };
    act(keys.none, "None of these", () => this.decide("none"), "None of the candidates is correct", !can.decide);
    act(keys.other, "Another label", () => this.openOther(), "A label that is not among the candidates, or a new one", !can.decide);
    act(keys.unsure, "Unsure", () => this.decide("unsure"), "You cannot tell", !can.decide);
    act(keys.eliminate, "Rule one out", () => this.ruleOut(), "One candidate is wrong; the example stays", !can.decide || this.open().length < 2)
      .setAttribute("aria-pressed", this.mode === "rule out");
    act(keys.skip, "Skip", () => this.decide("skip"), "Decide later: it comes back at the end", !can.decide || this.data.past);
    const ways = element("div", "ways", side);
    const way = (key, name, press, off, title) => {
      const made = button("act quiet", key, name, ways, press);
      made.disabled = Boolean(off);
      made.title = title;
    };
    way(keys.undo, "Undo", () => this.send({ what: "undo" }), !can.undo, "Undo your last decision");
    way("←", "", () => this.send({ what: "back" }), !can.back, "The decision before");
    way("→", "", () => this.send({ what: "forward" }), !this.data.past, "Forward again");
    element("span", "state", ways, "Saving…");
    if (this.query !== null) this.drawOther(side);
  }

  drawChoice(list, choice, k) {
    const item = element("li", "choice", list);
    const { choices } = this.data;
    item.classList.toggle("alone", choices.length > MANY || !choices.some(({ near }) => near.length));
    const made = button(`pick ${choice.picked ? "picked" : ""}`, choice.key, "", item, () => this.choose(k));
    made.disabled = choice.out || !this.data.can.decide;
    made.style.setProperty("--colour", choice.colour);
    const name = element("span", "name", made, choice.short);
    if (choice.short !== choice.label) name.title = choice.label;
    if (choice.votes) element("small", "", name, choice.votes);
    const parts = [choice.label];
    if (choice.out) parts.push("ruled out");
    if (choice.picked) parts.push("your answer");
    if (choice.weight !== null && !choice.out) {
      element("span", "weight", made, `${Math.round(choice.weight * 100)} %`);
      made.style.setProperty("--weight", choice.weight);
      parts.push(`${Math.round(choice.weight * 100)} percent`);
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
    keycap(this.data.keys.filter, label);
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
    return label.toLowerCase().includes(this.filter.trim().toLowerCase());
  }

  applyFilter(list) {
    this.data.choices.forEach((choice, k) => { list.children[k].hidden = !this.passes(choice); });
  }

  drawOther(side) {
    const form = element("form", "other", side);
    const label = element("label", "", form, "Another label");
    const field = element("input", "", label);
    field.setAttribute("list", "desk-classes");
    field.value = this.query;
    field.autocomplete = "off";
    field.placeholder = "type a label, Enter saves";
    const classes = element("datalist", "", form);
    classes.id = "desk-classes";
    for (const name of this.data.classes) element("option", "", classes).value = name;
    field.addEventListener("input", () => { this.query = field.value; });
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.closeOther();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const wanted = field.value.trim();
      if (wanted) this.decide("other", wanted);
    });
    const save = button("act", "", "Save", form, () => form.requestSubmit());
    save.title = "Save this label";
    button("act quiet", "Esc", "Close", form, () => this.closeOther());
  }

  openOther() {
    this.query = "";
    this.draw(false);
  }

  closeOther() {
    this.query = null;
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
    if (this.mode === "rule out") {
      this.mode = "pick";
      this.decide("eliminate", choice.label);
    } else {
      this.decide("pick", choice.label);
    }
  }

  ruleOut() {
    this.mode = this.mode === "rule out" ? "pick" : "rule out";
    this.draw(false);
  }

  decide(kind, label = null) {
    if (!this.data.can.decide || performance.now() - this.shownAt < GRACE) return;
    this.send({ what: "decide", kind, label, token: this.data.token, seconds: (performance.now() - this.shownAt) / 1000 });
  }

  /** True where the key did something, or would have if the desk were not waiting. */
  press(event) {
    const { can, past } = this.data;
    const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
    const { choices, keys } = this.data;
    let picked = choices.findIndex((choice) => choice.key === event.key);   // classes a and A are two keys
    if (picked < 0) picked = choices.findIndex((choice) => choice.key && choice.key === key);
    if (picked >= 0) {
      if (can.decide) this.choose(picked);
      return true;
    }
    const acts = {
      [keys.none]: () => this.decide("none"),
      [keys.other]: () => this.openOther(),
      [keys.unsure]: () => this.decide("unsure"),
      [keys.eliminate]: () => this.open().length > 1 && this.ruleOut(),
      [keys.skip]: () => !past && this.decide("skip"),
      [keys.filter]: () => this.root.querySelector(".filter input")?.focus(),
    };
    if (Object.hasOwn(acts, key)) {
      if (can.decide && !this.pending) acts[key]();
      return true;
    }
    if (key === "Escape" && this.mode === "rule out") this.ruleOut();
    else if (key === "Escape" && past) this.send({ what: "now" });
    else if (key === keys.undo) { if (can.undo) this.send({ what: "undo" }); }
    else if (key === "ArrowLeft") { if (can.back) this.send({ what: "back" }); }
    else if (key === "ArrowRight") { if (past) this.send({ what: "forward" }); }
    else return false;
    return true;
  }
}

export default function (component) {
  return attend(component, Desk);
}
