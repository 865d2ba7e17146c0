// The page: which frame is in view, which example, and what plays. Everything else follows from these.

const SPEEDS = [4, 8, 16, 32];   // frames a second
const HIGH = 430;                // pixels of the two pictures, at most

const one = (selector) => document.querySelector(selector);
const share = (value) => (value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)} %`);

class Replay {
  constructor(film) {
    this.film = film;
    this.k = film.epochs.length - 1;
    this.selected = null;
    this.byTruth = false;
    this.order = null;
    this.timer = 0;
    this.prepare();
    const linked = location.hash.match(/epoch=(\d+)/);
    this.choose(this.mostChanged());
    this.look(linked ? film.near(Number(linked[1])) : this.k);
  }

  // ---- what is there ----------------------------------------------------------------------------------------------------

  prepare() {
    const { film } = this;
    one("h1").textContent = film.title;
    one(".settings").textContent = film.settings;
    document.title = `${film.title} · replay`;
    const has = (name) => film.metrics[name].some((value) => value !== null);
    this.bar = one("#epoch");
    this.bar.max = film.epochs.length - 1;
    this.bar.addEventListener("input", () => { this.pause(); this.look(Number(this.bar.value)); });
    one("#play").addEventListener("click", () => (this.timer ? this.pause() : this.play()));
    for (const speed of SPEEDS) one("#speed").append(new Option(`${speed} epochs a second`, speed));
    one("#speed").value = 8;
    one("#speed").addEventListener("change", () => this.timer && this.play());
    one("#hold").addEventListener("change", (event) => {
      this.order = event.target.checked ? film.order(this.k) : null;
      this.draw();
    });
    one("#truth").addEventListener("change", (event) => { this.byTruth = event.target.checked; this.draw(); });
    one("#truth").closest("label").hidden = film.truth === null;
    one("#before").addEventListener("click", () => this.choose(this.selected - 1));
    one("#after").addEventListener("click", () => this.choose(this.selected + 1));
    one("#ids").append(...film.exampleNames.map((name) => new Option("", name)));
    one("#find").addEventListener("change", (event) => this.find(event.target.value.trim()));
    document.addEventListener("keydown", (event) => this.press(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    addEventListener("hashchange", () => {
      const linked = location.hash.match(/epoch=(\d+)/);
      if (linked) this.look(film.near(Number(linked[1])));
    });

    const goTo = (epoch) => { this.pause(); this.look(film.near(epoch)); };
    this.lines = new Chart(one("#lines"), film.epochs, 190, goTo);
    const series = [
      ["transductive_accuracy", "right", "identified correctly"],
      ["test_accuracy", "unseen", "correct on unseen"],
      ["mean_confidence", "sharp", "sharpness"],
    ].filter(([name]) => has(name));
    this.lines.lines(series.map(([name, kind]) => ({ values: film.metrics[name], kind })));
    this.lines.describe(series.map(([name, , words]) => `${words}: ${share(this.last(name))} at the end`).join("; "));
    one("#legend").append(...series.map(([, kind, words]) => {
      const entry = document.createElement("span");
      entry.className = `key ${kind}`;
      entry.textContent = words;
      return entry;
    }));
    this.areas = new Chart(one("#story"), film.epochs, 190, goTo);
    this.table(series);
  }

  last(name) {
    return lastValue(this.film.metrics[name]);
  }

  /** The numbers behind the lines. */
  table(series) {
    const rows = [["epoch", ...series.map(([, , words]) => words), "labels changed"]];
    this.film.epochs.forEach((epoch, k) => rows.push([
      epoch, ...series.map(([name]) => share(this.film.metrics[name][k])), this.film.metrics.changed_labels[k] ?? "–",
    ]));
    rows.forEach((cells, r) => {
      const line = one("#numbers").insertRow();
      for (const cell of cells) {
        const element = line.appendChild(document.createElement(r ? "td" : "th"));
        element.textContent = cell;
      }
    });
  }

  // ---- what is in view --------------------------------------------------------------------------------------------------

  look(k) {
    this.k = Math.min(Math.max(k, 0), this.film.epochs.length - 1);
    this.draw();
  }

  draw() {
    const { film, k, selected } = this;
    const setTriggerValue = (_, example) => this.choose(example);
    const order = this.order ?? film.order(k);
    const star = film.star(k, { selected, byTruth: this.byTruth, height: HIGH });
    plotIn(one("#star"), Star).update({ data: star, setTriggerValue });
    const heatmap = film.heatmap(k, { selected, order, fixed: this.order !== null, height: HIGH });
    plotIn(one("#heatmap"), Heatmap).update({ data: heatmap, setTriggerValue });
    this.bar.value = k;
    this.bar.setAttribute("aria-valuetext", film.when(k));
    this.lines.at(k);
    this.areas.at(k);
    this.figures();
    this.describe();
  }

  figures() {
    const { film, k } = this;
    const of = (name) => film.metrics[name][k];
    const { top } = film.prediction(k);
    const sharp = top.filter((weight) => weight >= SHARP).length / Math.max(film.count, 1);
    const hasTruth = film.metrics.transductive_accuracy.some((value) => value !== null);
    const strip = [
      ["Epoch", film.epochs[k].toLocaleString("en"), `of ${film.epochs[film.epochs.length - 1].toLocaleString("en")}`],
      hasTruth ? ["Identified", share(of("transductive_accuracy")), "correct labels"] : ["Sharp", share(sharp), "label weight 90 % or more"],
      ["Changed", (of("changed_labels") ?? 0).toLocaleString("en"), `of ${film.n.toLocaleString("en")} labels`],
      ["Sharpness", share(of("mean_confidence")), k === 0 ? "not begun" : hasTruth ? `${share(sharp)} at 90 % or more` : "largest label weight"],
    ];
    one("#figures").replaceChildren(...strip.map((words) => {
      const cell = document.createElement("div");
      words.forEach((word, at) => {
        cell.appendChild(document.createElement(["small", "strong", "small"][at])).textContent = word;
      });
      return cell;
    }));
  }

  // ---- one example ------------------------------------------------------------------------------------------------------

  /** The example to begin with: the one whose label changed most often. */
  mostChanged() {
    const { film } = this;
    const changes = new Uint16Array(film.count);
    for (let k = 2; k < film.epochs.length; k += 1) {
      for (let i = 0; i < film.count; i += 1) changes[i] += film.changed(k, i) ? 1 : 0;
    }
    return changes.indexOf(Math.max(...changes));
  }

  choose(i) {
    const { film } = this;
    this.selected = (i + film.count) % film.count;
    const end = film.epochs.length - 1;
    const story = film.story(this.selected).sort((a, b) => b[1][end] - a[1][end]);
    this.areas.areas(story.map(([j, values]) => ({ values, colour: film.colours[j], name: film.names[j] })));
    one("#candidates").replaceChildren(...story.map(([j]) => {
      const entry = document.createElement("span");
      entry.className = "key";
      entry.style.setProperty("--colour", film.colours[j]);
      entry.textContent = film.names[j];
      return entry;
    }));
    one("#picture").hidden = !film.pictures;
    if (film.pictures) this.show();
    one("#text").textContent = film.texts ? film.texts[this.selected] : "";
    one("#find").value = "";
    this.draw();
  }

  find(name) {
    const i = this.film.ids.indexOf(name);
    const index = i >= 0 ? i : this.film.exampleNames.indexOf(name);
    if (index >= 0) this.choose(index);
    else if (name) one("#life").textContent = `No example here is called ${name}.`;
  }

  show() {
    const { uri, side, across } = this.film.pictures;
    const picture = one("#picture");
    picture.width = picture.height = side;
    picture.setAttribute("aria-label", `Picture of ${this.film.exampleNames[this.selected]}`);
    this.sheet ??= Object.assign(new Image(), { src: uri });
    const [left, top] = [(this.selected % across) * side, Math.floor(this.selected / across) * side];
    const drawn = this.selected;
    this.sheet.decode().then(() => {
      if (drawn === this.selected) picture.getContext("2d").drawImage(this.sheet, left, top, side, side, 0, 0, side, side);
    });
  }

  describe() {
    const { film, k, selected: i } = this;
    if (i === null) return;
    const prediction = film.prediction(k);
    const name = film.names[prediction.label[i]];
    const truth = film.truth === null || film.truth[i] === UNKNOWN ? null : film.truth[i];
    const verdict = truth === null ? "" : truth === prediction.label[i] ? ", and that is its true label" : `, but truly ${film.names[truth]}`;
    const state = prediction.tied[i] ? "undecided" : `${name}, label weight ${percent(prediction.top[i])}${verdict}`;
    one("#name").textContent = film.exampleNames[i];
    one("#now").textContent = `${film.when(k)}: ${state}.`;
    const moves = film.epochs.map((_, at) => at).filter((at) => film.changed(at, i));
    const since = film.epochs[moves.length ? moves[moves.length - 1] : 1];
    const last = film.names[film.prediction(film.epochs.length - 1).label[i]];
    const times = ["never", "once", "twice"][moves.length] ?? `${moves.length} times`;
    one("#life").textContent = film.sizes[i] === 1
      ? "It has one candidate, so its label weight is 1 throughout."
      : `Identified as ${last} since epoch ${since}; the label ${times === "never" ? "never changed" : `changed ${times}`}.`;
    const story = `Label weights of ${film.exampleNames[i]} over the epochs. ${one("#now").textContent} ${one("#life").textContent}`;
    this.areas.describe(story);
  }

  // ---- playing ----------------------------------------------------------------------------------------------------------

  play() {
    clearInterval(this.timer);
    const end = this.film.epochs.length - 1;
    if (this.k >= end) this.look(0);
    this.timer = setInterval(() => {
      this.look(this.k + 1);
      if (this.k >= end) this.pause();
    }, 1000 / Number(one("#speed").value));
    this.showPlaying();
  }

  pause() {
    clearInterval(this.timer);
    this.timer = 0;
    this.showPlaying();
  }

  showPlaying() {
    one("#play").classList.toggle("playing", this.timer !== 0);
    one("#play").setAttribute("aria-label", this.timer ? "Pause" : "Play");
    one("#play").title = this.timer ? "Pause (space)" : "Play (space)";
  }

  press(event) {
    if (event.target.closest("button, input:not([type=range]), select, canvas, summary") || event.ctrlKey || event.metaKey) return;
    const onBar = event.target === this.bar;   // which has arrow keys of its own
    if (event.key === " ") one("#play").click();
    else if (event.key === "ArrowLeft" && !onBar) { this.pause(); this.look(this.k - 1); }
    else if (event.key === "ArrowRight" && !onBar) { this.pause(); this.look(this.k + 1); }
    else return;
    event.preventDefault();
  }
}

/** The last value that is not null. */
function lastValue(values) {
  return values.findLast((value) => value !== null);
}

new Film(JSON.parse(one("#film").textContent)).open().then(
  (film) => { globalThis.replay = new Replay(film); document.body.classList.add("ready"); },
  (error) => { one("#problem").hidden = false; throw error; },
);
