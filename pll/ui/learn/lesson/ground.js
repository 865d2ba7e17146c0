// The points of the lesson: what can be done to them, how a link holds them, and what each method makes of them.

const CLASSES = ["A", "B", "C"];
const [FEWEST, MOST] = [3, 150];
const [STEPS, DIGITS] = [1295, 36];     // places each way that a link can hold: two characters of base 36
const TITLES = {
  proden: "Weights (PRODEN)", sudden: "Min alone (sudden)", naive: "Average (naive)", supervised: "With the truth",
};

const inside = (value) => Math.max(-1, Math.min(1, value));
const onGrid = (value) => (Math.round(((inside(value) + 1) / 2) * STEPS) / STEPS) * 2 - 1;

/** Three clouds around the middle, a class each. */
function threeClouds(count = 60) {
  const random = generator(1);
  const truth = Array.from({ length: count }, (_, i) => i % 3);
  const spot = (label) => Math.PI / 2 - (2 * Math.PI * label) / 3;   // A at the top, then clockwise
  const [x, y] = [[], []];
  for (const label of truth) {
    x.push(onGrid(0.55 * Math.cos(spot(label)) + 0.2 * normal(random)));
    y.push(onGrid(0.55 * Math.sin(spot(label)) + 0.2 * normal(random)));
  }
  return { x, y, truth };
}

/** Points as text, five characters each: x, y, and true label and candidates in one. */
function pointsText({ x, y, truth, sets }) {
  const two = (value) => Math.round(((value + 1) / 2) * STEPS).toString(DIGITS).padStart(2, "0");
  return truth.map((label, i) => {
    const mask = sets[i].reduce((sum, j) => sum + 2 ** j, 0);
    return two(x[i]) + two(y[i]) + (8 * label + mask).toString(DIGITS);
  }).join("");
}

/** The points of a text; null where it cannot be meant. */
function pointsOf(text) {
  const count = text.length / 5;
  if (!/^[0-9a-z]*$/.test(text) || !Number.isInteger(count) || count < FEWEST || count > MOST) return null;
  const points = { x: [], y: [], truth: [], sets: [] };
  for (let at = 0; at < text.length; at += 5) {
    const [px, py, rest] = [text.slice(at, at + 2), text.slice(at + 2, at + 4), text[at + 4]].map((part) => parseInt(part, DIGITS));
    if (rest > 23 || rest % 8 === 0) return null;
    points.x.push((px / STEPS) * 2 - 1);
    points.y.push((py / STEPS) * 2 - 1);
    points.truth.push(rest >> 3);
    points.sets.push(CLASSES.map((_, j) => j).filter((j) => (rest >> j) & 1));
  }
  return points;
}

class Ground {
  constructor(settings) {
    this.settings = settings;
    this.selected = 0;
    this.trainings = new Map();     // what was trained on these points
    this.read();
  }

  /** The points that the settings say. */
  read() {
    const own = pointsOf(this.settings.get("points"));
    this.points = own ?? this.drawn(threeClouds());
    this.selected = Math.min(this.selected, this.count - 1);
    this.trainings.clear();
  }

  get count() { return this.points.truth.length; }

  /** How many sets miss their true label; the paper excludes that. */
  get missing() { return this.points.truth.filter((label, i) => !this.points.sets[i].includes(label)).length; }

  drawn(points) {
    const random = generator(1000 + this.settings.get("toy-draw"));
    return { ...points, sets: flipBinomial(points.truth, CLASSES.length, this.settings.get("toy-q"), random) };
  }

  /** Other candidate sets, by the q and the draw of the settings. */
  redraw() {
    const edited = this.settings.get("points") !== "";
    this.points = this.drawn(this.points);
    this.trainings.clear();
    if (edited) this.keep();
  }

  reset() {
    for (const name of ["points", "toy-q", "toy-draw"]) this.settings.forget(name);
    this.read();
  }

  /** The points are as the reader made them: the link holds them from now on. */
  keep() { this.settings.set("points", pointsText(this.points)); }

  move(i, x, y) {
    this.points.x[i] = onGrid(x);
    this.points.y[i] = onGrid(y);
    this.selected = i;
    this.trainings.clear();
  }

  add(label, x, y) {
    if (this.count >= MOST) return false;
    const { points } = this;
    const random = generator(5000 + this.count);
    points.x.push(onGrid(x));
    points.y.push(onGrid(y));
    points.truth.push(label);
    points.sets.push(flipBinomial([label], CLASSES.length, this.settings.get("toy-q"), random)[0]);
    this.selected = this.count - 1;
    this.trainings.clear();
    return true;
  }

  remove(i) {
    if (this.count <= FEWEST) return false;
    for (const part of Object.values(this.points)) part.splice(i, 1);
    this.selected = Math.min(this.selected, this.count - 1);
    this.trainings.clear();
    return true;
  }

  choose(i, set) {
    this.points.sets[i] = set;
    this.trainings.clear();
  }

  /** The frames of a method on these points: {network, frames, labels, right}. */
  trained(method, model = "linear", start = this.settings.get("toy-start")) {
    const lr = this.settings.get("toy-lr");
    const key = [method, model, start, lr].join();
    if (!this.trainings.has(key)) {
      const network = new Network(SIZES[model]);
      const frames = train(this.points, { method, network, parameters: network.start(start), lr });
      const labels = frames.map(({ weights }) => weights.map((own, i) => this.points.sets[i][argmax(own)]));
      const right = labels.map((all) => all.filter((label, i) => label === this.points.truth[i]).length);
      this.trainings.set(key, { method, network, frames, labels, right });
    }
    return this.trainings.get(key);
  }

  /** Lines 6 to 9 of Algorithm 1 for one point: the step that follows epoch `after`, for PRODEN. */
  step(i, after) {
    const { network, frames } = this.trained("proden");
    const [now, next] = [frames[after], frames[after + 1]];
    const set = this.points.sets[i];
    const g = softmax(network.forward(now.parameters, this.points.x[i], this.points.y[i]));
    const old = now.weights[i];
    const inside = set.reduce((sum, j) => sum + g[j], 0);
    const losses = set.map((j) => -Math.log(g[j]));
    return {
      set, old, losses, inside,
      scores: set.map((j) => g[j]),
      loss: losses.reduce((sum, loss, m) => sum + old[m] * loss, 0),
      slopes: set.map((j, m) => g[j] - old[m]),
      fresh: set.map((j) => g[j] / inside),
      move: Math.hypot(...next.parameters.map((value, k) => value - now.parameters[k])),
    };
  }

  /** The points as a file that Candid's Data page reads. */
  csv() {
    const { x, y, truth, sets } = this.points;
    const rows = truth.map((label, i) => [i, sets[i].map((j) => CLASSES[j]).join("|"), CLASSES[label], x[i], y[i]].join());
    return ["id,candidates,true_label,x,y", ...rows].join("\n") + "\n";
  }
}
