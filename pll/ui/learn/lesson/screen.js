// What ideas are made of: settings that a link holds, and a screen with words beside a figure, whose parts follow them.

const WAIT = 400;         // ms after which a setting that stands still is reported
const among = (...options) => (text) => (options.includes(text) ? text : undefined);
const within = (from, to) => (text) => (text !== "" && Number(text) >= from && Number(text) <= to ? Number(text) : undefined);
const integer = (from, to) => (text) => (/^\d{1,6}$/.test(text) ? within(from, to)(text) : undefined);
/** Every setting: its usual value, and how a text is read; undefined where that cannot be meant. */
const SETTINGS = {
  "partial-q": [0.7, within(0.1, 0.9)],
  "partial-first": [0, integer(0, 999)],
  "minimum-p": [0.6, within(0.01, 0.89)],
  "stuck-q": [0.9, within(0.1, 1)],
  "stuck-start": [110, within(-175, 175)],
  "weights-q": [0.9, within(0.1, 1)],
  "weights-start": [110, within(-175, 175)],
  "weights-sure": [1, within(0.5, 8)],
  "sure-noise": [0.5, within(0, 1)],
  "jin-z": [0.7, within(0, 1)],
  "toy-q": [0.5, within(0, 0.9)],
  "toy-draw": [0, integer(0, 999999)],
  "toy-start": [0, integer(0, 999999)],
  "toy-lr": [0.5, (text) => [0.05, 0.2, 0.5].find((rate) => rate === Number(text))],
  "toy-epoch": [0, integer(0, EPOCHS)],
  "together-other": ["sudden", among("sudden", "naive", "supervised")],
  "own-model": ["linear", among(...Object.keys(SIZES))],
  "own-methods": ["proden,sudden", (text) => (text.split(",").every((name) => name in TITLES) ? text : undefined)],
  points: ["", (text) => (pointsOf(text) ? text : undefined)],
};

class Settings {
  /** `tell(text)`: called once settings stand still. */
  constructor(text, tell) {
    this.tell = tell;
    this.guesses = {};        // of each idea: the guess, what was right and what was asked; nothing where the answer was shown
    this.read(text);
  }

  read(text) {
    this.values = new Map();
    for (const [name, value] of new URLSearchParams(text)) {
      const meant = SETTINGS[name]?.[1](value);
      if (meant !== undefined) this.values.set(name, meant);
    }
  }

  get(name) { return this.values.get(name) ?? SETTINGS[name][0]; }

  set(name, value) {
    if (value === SETTINGS[name][0]) this.values.delete(name);
    else this.values.set(name, value);
    clearTimeout(this.later);
    this.later = setTimeout(() => this.tell(this.text()), WAIT);
  }

  forget(name) { this.set(name, SETTINGS[name][0]); }

  text() { return new URLSearchParams([...this.values].map(([name, value]) => [name, String(value)])).toString(); }
}

/** An element: `made("p", { class: "note" }, "text", child)`. Properties that are functions listen. */
function made(tag, looks = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(looks)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

class Screen {
  /** `root` is emptied. `lesson`: what Python gives (colours, digits). */
  constructor(root, name, { lesson, settings, ground }) {
    Object.assign(this, { root, name, lesson, settings, ground });
    this.parts = [];
    this.words = made("div", { class: "words" });
    this.figure = made("div", { class: "figure" });
    this.below = made("div", { class: "below" });     // the words; on a narrow screen, the figure
    root.replaceChildren(this.words, this.figure, this.below);
    root.className = "lesson";
    root.style.setProperty("--ink-wrong", lesson.wrong);
    this.box = this.words;     // where the next part goes
    IDEAS[name](this);
    this.refresh();
  }

  /** Every part shows the settings as they are. */
  refresh() { for (const part of this.parts) part(); }

  put(element, show = null) {
    this.box.append(element);
    if (show) this.parts.push(show);
    return element;
  }

  /** The parts that `fill` makes go into `box`, which is seen only while `isVisible()`. */
  inside(box, fill, isVisible = null) {
    const outer = this.box;
    this.box = box;
    fill();
    this.box = outer;
    if (isVisible) this.parts.push(() => { box.hidden = !isVisible(); });
  }

  get guessed() { return this.settings.guesses[this.name] !== undefined; }

  // ---- words ----------------------------------------------------------------------------------------------------------

  say(words, looks = {}) {
    const element = this.put(made("p", looks));
    if (typeof words === "string") element.innerHTML = words;
    else this.parts.push(() => { element.innerHTML = words(); element.hidden = !element.innerHTML; });
  }

  formula(lines) {
    const inner = made("div", { class: "formula" });
    this.put(made("details", {}, made("summary", {}, "Show the formula"), inner), () => { inner.innerHTML = lines(); });
  }

  /** What a picture shows, as a table for those who do not see it; made while it is open. */
  table(rows) {
    const inner = made("div", { class: "table", tabindex: 0, role: "region", "aria-label": "Table" });
    const show = () => {
      if (!details.open) return;
      const [head, ...body] = rows();
      const row = (cells, kind) => made("tr", {}, ...cells.map((cell) => made(kind, {}, String(cell))));
      inner.replaceChildren(made("table", {}, made("thead", {}, row(head, "th")), made("tbody", {}, ...body.map((cells) => row(cells, "td")))));
    };
    const details = made("details", { class: "twin", toggle: show }, made("summary", {}, "Show as a table"), inner);
    this.put(details, show);
  }

  chart(draw) {
    const element = made("div");
    this.put(element, () => { element.innerHTML = lineChart(draw()); });
    this.table(() => {
      const { lines, x } = draw();
      const named = lines.filter(({ name }) => name);
      return [[x.label, ...named.map(({ name }) => name)],
        ...named[0].points.map(([at], k) => [at, ...named.map(({ points }) => points[k]?.[1])].map((value) => (value === undefined ? "" : round(value))))];
    });
  }

  // ---- controls -------------------------------------------------------------------------------------------------------

  slider(name, label, { from, to, step, format = String, changed = () => {} }) {
    const input = made("input", {
      type: "range", min: from, max: to, step,
      input: () => {
        this.settings.set(name, Number(input.value));
        changed();
        this.refresh();
      },
    });
    const output = made("b");   // an <output> would be what the label belongs to
    this.put(made("label", { class: "slider" }, made("span", {}, label), output, input), () => {
      input.value = this.settings.get(name);
      output.textContent = format(this.settings.get(name));
      input.setAttribute("aria-valuetext", output.textContent);
    });
  }

  button(label, press, looks = {}) {
    return this.put(made("button", { type: "button", ...looks, click: () => { press(); this.refresh(); } }, label));
  }

  /** One of some, or several of them where `many`: their names by value. */
  choice(label, options, { chosen, choose, many = false, colours = null }) {
    const group = `${this.name}-${label}`;
    const inputs = Object.entries(options).map(([value, text], k) => {
      const input = made("input", { type: many ? "checkbox" : "radio", name: group, value, change: () => { choose(value, input.checked); this.refresh(); } });
      const dot = colours ? [made("i", { style: `background: ${colours[k]}` })] : [];
      return [value, input, made("label", {}, input, ...dot, text)];
    });
    this.put(made("fieldset", { class: "choice" }, made("legend", {}, label), ...inputs.map(([, , box]) => box)), () => {
      for (const [value, input] of inputs) input.checked = [chosen()].flat().map(String).includes(value);
    });
  }

  /** A question before the outcome is shown. `answer()` judges the settings as they are at the moment of the guess; when
   *  they have changed, what was asked and right stays to be read, and is said to be of before. */
  guess(question, options, answer) {
    const { guesses } = this.settings;
    const box = this.put(made("div", { class: "guess" }));
    const judge = (choice) => {
      guesses[this.name] = { choice, right: options[answer()], asked: question() };
    };
    this.parts.push(() => {
      const { choice, right, asked = question() } = guesses[this.name] ?? {};
      const before = choice && (asked !== question() || right !== options[answer()]) ? " That was before the settings changed." : "";
      const state = JSON.stringify([guesses[this.name] ?? null, question(), before]);
      if (state === box.state) return;
      box.state = state;
      const prompt = made("p", { class: "question" }, asked);
      const then = (done) => () => {
        done();
        this.refresh();
        box.querySelector("button").focus({ preventScroll: true });
      };
      if (!this.guessed) {
        box.replaceChildren(prompt, ...options.map((option) => made("label", {}, made("input", { type: "radio", name: `guess-${this.name}`, change: then(() => judge(option)) }), option)),
          made("button", { type: "button", class: "quiet", click: then(() => { guesses[this.name] = {}; }) }, "Show the answer"));
        return;
      }
      const said = (choice === right ? "✓ Right." : `You guessed “${choice}”. It is: ${right}.`) + before;
      const verdict = choice ? [made("p", { class: "verdict", role: "status" }, said)] : [];
      box.replaceChildren(prompt, ...verdict, made("button", { type: "button", class: "quiet", click: then(() => { delete guesses[this.name]; }) }, "Ask again"));
    });
  }

  // ---- the toy --------------------------------------------------------------------------------------------------------

  /** The points with a panel for each of the methods; before training, and not to be trained, while `still()`. */
  toy(methods, { model = () => "linear", editable = false, still = () => false, fill }) {
    const box = this.put(made("div"));
    box.innerHTML = TOY;
    const toy = plotIn(box, Toy);
    const { ground, settings } = this;
    let waiting = 0;
    const soon = () => { waiting ||= requestAnimationFrame(() => { waiting = 0; this.refresh(); }); };
    const edited = () => { ground.keep(); this.refresh(); };
    const on = {
      move: (...where) => { ground.move(...where); soon(); },
      dropped: edited,
      add: (...what) => { if (editable && ground.add(...what)) edited(); },
      remove: (i) => { if (editable && ground.remove(i)) edited(); },
      look: (epoch) => { settings.set("toy-epoch", epoch); this.refresh(); },
    };
    this.parts.push(() => {
      const { points } = ground;
      const panels = methods().map((method) => ({ title: TITLES[method], ...ground.trained(method, model()) }));
      const epoch = still() ? 0 : toy.playing ? toy.epoch : settings.get("toy-epoch");
      const data = {
        when: toy.when(), note: `${ground.count} points`, description: described(ground, panels, epoch), height: 560, fill,
        count: ground.count, names: CLASSES, colours: this.lesson.colours, xs: points.x, ys: points.y,
        truth: points.truth, sets: points.sets, panels, epochs: EPOCHS, epoch, selected: ground.selected, editable, on,
      };
      toy.root.classList.toggle("still", still());
      toy.update({ data, setTriggerValue: (_, point) => { ground.selected = point; this.refresh(); } });
    });
    this.say(() => (still() ? "Make your guess, or ask for the answer: then <em>Train</em> stands here." : ""), { class: "note" });
    this.table(() => {
      const { points } = ground;
      const panels = methods().map((method) => ({ title: TITLES[method], ...ground.trained(method, model()) }));
      const epoch = still() ? 0 : settings.get("toy-epoch");
      const named = (set) => set.map((j) => CLASSES[j]).join(" or ");
      return [
        ["point", "x", "y", "true label", "candidates", ...panels.map(({ title }) => `${title}, ${epoch ? `epoch ${epoch}` : "before training"}`)],
        ...points.truth.map((label, i) => [
          i, round(points.x[i]), round(points.y[i]), CLASSES[label], named(points.sets[i]),
          ...panels.map(({ frames }) => weightsText(CLASSES, points.sets[i], frames[epoch].weights[i])),
        ]),
      ];
    });
  }
}

/** The text alternative of the toy. */
function described(ground, panels, epoch) {
  const results = panels.map(({ title, right, frames }) => {
    const sure = frames[epoch].weights.reduce((sum, own) => sum + Math.max(...own), 0) / ground.count;
    return `${title}: ${right[epoch]} of ${ground.count} identified right, largest weight ${percent(sure)} in the mean`;
  });
  return `${ground.count} points of three classes in a square, ${epoch ? `after epoch ${epoch}` : "before training"}; each is a pie of its label `
    + `weights, with a cross where its identified label is wrong, and the plane behind is shaded by the model's class. ${results.join(". ")}.`;
}
