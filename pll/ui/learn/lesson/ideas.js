// The ideas: words, questions and figures of each, for the Learn page and for the lesson without a server.

const OUTSIDE = 0.1;      // what the model gives to classes that are no candidates
const CARDS = 6;
const STARTS = 10;
const shareText = (share) => share.toFixed(2);
const JOINS = "A wrong label joins with probability q, one at least";
const range = (from, to, count) => Array.from({ length: count }, (_, k) => from + ((to - from) * k) / (count - 1));
const xlogy = (x, y) => (x > 0 ? x * Math.log(y) : 0);
const INKS = { min: "wrong", weights: "accent", mean: "quiet" };   // one colour a reading of the candidate set

const cache = new Map();
/** A value that is computed once for its key; the latest few are kept. */
function once(key, make) {
  if (!cache.has(key)) cache.set(key, make());
  if (cache.size > 60) cache.delete(cache.keys().next().value);
  return cache.get(key);
}

const landscape = (q) => once(`landscape ${q}`, () => new Landscape(q));
const wayDown = (q, start, sure, reading) => once(`way ${q} ${start} ${sure} ${reading}`, () => landscape(q).descend(start, sure, reading));
const valleys = (q, sure, reading) => once(`valleys ${q} ${sure} ${reading}`, () => landscape(q).valleys(sure, reading));
const curve = (q, sure, reading) => once(`risk ${q} ${sure} ${reading}`, () => ANGLES.map((theta) => [theta, landscape(q).risk(theta, sure, reading)]));

/** The chart of ideas 3 and 4: curves over the angle, and the ball on one of them with its way down. */
function hills(screen, { q, sure, start, readings, ball, way }) {
  const names = { min: "minimum", weights: "weights" };
  const lines = readings.map((reading) => ({
    name: names[reading], ink: INKS[reading], points: curve(q, sure, reading), dash: reading === ball ? "" : "3 4", thin: reading !== ball,
  }));
  const level = (theta) => landscape(q).risk(theta, sure, ball);
  const marks = [{ ink: INKS[ball], x: start, y: level(start), hollow: Boolean(way), name: way ? "start" : "the ball" }];
  if (way) {
    lines.unshift({ ink: INKS[ball], points: way.map((theta) => [theta, level(theta)]), wide: true });
    marks.push({ ink: INKS[ball], x: way.at(-1), y: level(way.at(-1)), name: "end" });
  }
  const all = lines.flatMap(({ points }) => points.map(([, risk]) => risk));
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const step = [0.05, 0.1, 0.2, 0.5, 1, 2].find((size) => (high - low) / size < 6) ?? 5;
  const [from, to] = [Math.floor((low - 0.02) / step) * step, Math.ceil((high + 0.02) / step) * step];
  const words = readings.map((reading) => `${names[reading]} ${valleys(q, sure, reading)}`).join("; ");
  return {
    title: "Risk of the whole data set", lines, marks,
    x: { label: "angle θ by which the classifier is turned", from: -182, to: 182, ticks: [-180, -120, -60, 0, 60, 120, 180], format: degrees },
    y: { label: "risk", from, to, ticks: range(from, to, Math.round((to - from) / step) + 1), format: shareText },
    words: `Risk over the angle: ${words}. Ball at ${degrees(way ? way.at(-1) : start)}`,
  };
}

/** The points on their circle in the colours of their true classes, and the classifier's three directions. */
function dial(q, theta, colours) {
  const { angles, truth } = landscape(q);
  const dots = angles.map((angle, i) => {
    const radius = 100 + 7 * ((Math.floor(i / 3) % 3) - 1);   // three rings: points at one angle would hide one another
    return `<circle cx="${round(radius * Math.sin(angle))}" cy="${round(-radius * Math.cos(angle))}" r="3" fill="${colours[truth[i]]}" fill-opacity="0.75"/>`;
  });
  const hands = CLASSES.map((name, j) => {
    const angle = (2 * Math.PI * j) / 3 + theta * DEGREE;
    const [x, y] = [Math.sin(angle), -Math.cos(angle)];
    return `<path d="M0 0L${round(70 * x)} ${round(70 * y)}" stroke="${colours[j]}" stroke-width="5" stroke-linecap="round"/>`
      + `<text x="${round(84 * x)}" y="${round(84 * y)}" fill="${colours[j]}" text-anchor="middle" dominant-baseline="central">${name}</text>`;
  });
  return `<svg class="dial" viewBox="-120 -115 240 230" role="img" aria-label="Points of three classes around a circle, and a classifier turned by ${degrees(theta)}">${dots.join("")}${hands.join("")}</svg>`;
}

/** A handwritten digit, 8 × 8, in 17 shades of the text colour. */
function digitPicture(pixels, colour) {
  const canvas = made("canvas", { width: 8, height: 8, "aria-hidden": "true" });
  const context = canvas.getContext("2d");
  const image = context.createImageData(8, 8);
  [...pixels].forEach((value, k) => image.data.set([...rgb(colour), (255 * parseInt(value, 36)) / 16], 4 * k));
  context.putImageData(image, 0, 0);
  return canvas;
}

const ballSliders = (screen, idea) => {
  const q = `${idea}-q`;
  screen.slider(q, JOINS, { from: 0.1, to: 1, step: 0.1, format: (value) => value.toFixed(1) });
  screen.slider(`${idea}-start`, "Start the ball at", { from: -175, to: 175, step: 5, format: degrees });
};
const ENDS = ["In the valley of the true labels", "In another valley"];

const IDEAS = {
  partial(screen) {
    const { settings, lesson: { digits } } = screen;
    const sets = () => {
      const q = settings.get("partial-q");
      return once(`digits ${q}`, () => flipBinomial(digits.labels, 10, q, generator(21)));
    };
    const blind = () => sets().reduce((sum, set) => sum + 1 / set.length, 0) / sets().length;
    const bands = [0.12, 0.2, 0.35];
    const first = () => settings.get("partial-first") % (digits.labels.length - CARDS);
    screen.say("An ordinary label says what an example <em>is</em>. A <strong>partial label</strong> says what it <em>may be</em>: a set of candidates. Exactly one is true; nobody says which.");
    screen.slider("partial-q", JOINS, { from: 0.1, to: 0.9, step: 0.1, format: (value) => value.toFixed(1) });
    screen.formula(() => `<var>S</var> = {${sets()[first()].join(", ")}}, &emsp; |<var>S</var>| = ${sets()[first()].length}, &emsp; Pr(<var>Y</var> ∈ <var>S</var>) = 1`);
    screen.say(() => `The first digit has ${sets()[first()].length} candidates. The paper assumes only that the true label is among them. The ✓ is for you; no method sees it.`, { class: "note" });
    screen.guess(() => "Take one candidate of every digit at random. How many would be right?",
      ["below 12 %, hardly better than any of ten", "12 to 20 %", "20 to 35 %", "above 35 %"],
      () => bands.filter((edge) => blind() >= edge).length);
    screen.say(() => {
      if (!screen.guessed) return "";
      const size = sets().reduce((sum, set) => sum + set.length, 0) / sets().length;
      const full = sets().filter((set) => set.length === 10).length;
      return `<strong>${(100 * blind()).toFixed(1)} %</strong> of ${sets().length} digits on average, with ${size.toFixed(2)} candidates each. Everything better than this comes from looking at many pictures at once.`
        + (full ? ` ${full} ${full === 1 ? "set holds" : "sets hold"} every label and ${full === 1 ? "says" : "say"} nothing; the paper's definition excludes them.` : "");
    });
    screen.box = screen.figure;
    const cards = screen.put(made("div", { class: "cards" }), () => {
      cards.replaceChildren(...Array.from({ length: CARDS }, (_, k) => {
        const i = first() + k;
        const says = made("p");
        for (const j of sets()[i]) {  // each digit in a place of its own: cards stay as high, and a set is seen as a pattern
          const chip = made("span", { style: `grid-area: ${1 + Math.floor(j / 5)} / ${1 + (j % 5)}` }, String(j));
          if (j === digits.labels[i]) {
            chip.className = "truth";
            chip.append(made("sup", {}, "✓"));
          }
          says.append(chip);
        }
        return made("div", { class: "card" }, digitPicture(digits.pixels.slice(64 * i, 64 * i + 64), getComputedStyle(screen.root).color), says);
      }));
    });
    screen.button("Other digits", () => settings.set("partial-first", (first() + CARDS) % (digits.labels.length - CARDS)));
  },

  minimum(screen) {
    const risks = () => {
      const p = screen.settings.get("minimum-p");
      const losses = [-Math.log(p), -Math.log(1 - OUTSIDE - p)];
      return { p, losses, least: Math.min(...losses), mean: (losses[0] + losses[1]) / 2 };
    };
    screen.say("An example may be a <strong>3</strong> or a <strong>5</strong>. How wrong is a model about it? Averaging over the candidates punishes a model that found the true one. So the paper counts only <strong>the best candidate</strong>.");
    screen.slider("minimum-p", "What the model gives to “3”", { from: 0.01, to: 0.89, step: 0.01, format: shareText });
    screen.formula(() => {
      const { p, losses: [a, b], least } = risks();
      return `min<sub><var>i</var>∈<var>S</var></sub> ℓ(<var>g</var>, <var>e<sup>i</sup></var>) = min(−log ${shareText(p)}, −log ${shareText(1 - OUTSIDE - p)})<br>`
        + `= min(${shareText(a)}, ${shareText(b)}) = <strong>${shareText(least)}</strong>`;
    });
    screen.guess(() => "Training makes the loss smaller. It sees this example alone. Where does the best candidate's loss lead the model?",
      ["It becomes sure of 3", "It becomes sure of 5", "It stays undecided between them"],
      () => (risks().p >= (1 - OUTSIDE) / 2 ? 0 : 1));
    screen.say(() => {
      if (!screen.guessed) return "";
      const { losses: [a, b], mean } = risks();
      return `Here the best guess is <strong>${a <= b ? 3 : 5}</strong>, and the loss falls towards it. The minimum has <em>two</em> valleys: being sure of 3 is as good as being sure of 5. The average has one, `
        + `in between, where the model stays undecided (here ${shareText(mean)}). What decides between the valleys are <em>other</em> examples that look alike and have other wrong labels.`;
    });
    screen.box = screen.figure;
    screen.chart(() => {
      const { p, least, mean } = risks();
      const at = range(0.01, 0.89, 89);   // hundredths, as the table shows them
      const losses = (g) => [-Math.log(g), -Math.log(1 - OUTSIDE - g)];
      const shown = screen.guessed ? [
        { name: "average over the candidates", ink: "quiet", dash: "6 5", points: at.map((g) => [g, (losses(g)[0] + losses(g)[1]) / 2]) },
        { name: "the best candidate", ink: "wrong", points: at.map((g) => [g, Math.min(...losses(g))]) },
      ] : [
        { name: "if it is a 3", ink: "quiet", dash: "2 4", points: at.map((g) => [g, losses(g)[0]]) },
        { name: "if it is a 5", ink: "quiet", dash: "6 5", points: at.map((g) => [g, losses(g)[1]]) },
      ];
      return {
        title: "Loss of one example", lines: shown, marks: [{ ink: "wrong", x: p, y: least, name: "you are here" }],
        x: { label: "what the model gives to “3”", from: 0, to: 0.9, ticks: [0, 0.2, 0.4, 0.6, 0.8] },
        y: { label: "cross-entropy", from: 0, to: 3, ticks: [0, 1, 2, 3] },
        words: `Loss of one example over what the model gives to 3: the minimum over the candidates is ${shareText(least)} at ${shareText(p)}, their average ${shareText(mean)}`,
      };
    });
    screen.say("The model gives 10 % to classes that are no candidates, and the rest to “5”.", { class: "note" });
  },

  stuck(screen) {
    const { settings } = screen;
    const [q, start] = [() => settings.get("stuck-q"), () => settings.get("stuck-start")];
    const way = () => wayDown(q(), start(), 1, "min");
    const theta = () => (screen.guessed ? way().at(-1) : start());
    screen.say("A small classifier: three directions, one for each class, that turn together by θ. At θ = 0 each points at its own class, at ±120° at the next one. Its risk (the minimum over the candidates, averaged over all points) is a curve. Training is a ball that rolls down.");
    ballSliders(screen, "stuck");
    screen.guess(() => `The ball is let go at ${degrees(start())}. Where does it come to rest?`, ENDS, () => Number(!isHome(way().at(-1))));
    screen.say(() => {
      if (!screen.guessed) return "";
      const end = way().at(-1);
      const risk = (at) => shareText(landscape(q()).risk(at, 1, "min"));
      return `It rests at <strong>${degrees(end)}</strong> with a risk of ${risk(end)}; its best guesses are right for ${percent(landscape(q()).right(end, 1))} of the points. `
        + (isHome(end) ? "From here it finds the true labels. Try another start."
          : `At θ = 0 the risk would be ${risk(0)}. But every step fits the current guesses and makes the model surer of them: <em>“if a wrong label is selected in the beginning, the optimization will focus on the wrong label till the end”</em> (paper, §4).`);
    });
    screen.say(() => (screen.guessed ? `This landscape has ${valleys(q(), 1, "min")}.`
      + (q() >= 1 ? " With q = 1 every label is always a candidate, and all valleys are equally deep: nothing in the data prefers the true one." : "") : ""), { class: "note" });
    screen.box = screen.figure;
    screen.chart(() => hills(screen, { q: q(), sure: 1, start: start(), readings: ["min"], ball: "min", way: screen.guessed ? way() : null }));
    const drawn = screen.put(made("div"), () => { drawn.innerHTML = dial(q(), theta(), screen.lesson.colours); });
    screen.say(() => `The classifier, turned by ${degrees(theta())}. Points have the colours of their true classes.`, { class: "note centred" });
  },

  weights(screen) {
    const { settings } = screen;
    const [q, start, sure] = ["q", "start", "sure"].map((name) => () => settings.get(`weights-${name}`));
    const way = () => wayDown(q(), start(), sure(), "weights");
    screen.say("Do not choose yet. Give every candidate a <strong>weight</strong>, equal at first, that follows the model's probabilities.");
    ballSliders(screen, "weights");
    screen.slider("weights-sure", "How sure the model is of itself", { from: 0.5, to: 8, step: 0.5, format: (value) => value.toFixed(1) });
    screen.formula(() => {
      const scene = landscape(q());
      const i = Math.max(0, scene.sets.findIndex((set) => set.length === 2));
      const [set, g] = [scene.sets[i], softmax(scene.logits(i, start(), sure()))];
      const inside = set.map((j) => shareText(g[j]));
      const share = g[set[0]] / set.reduce((sum, j) => sum + g[j], 0);
      return `<var>w<sub>ij</sub></var> = ${fraction("<var>g<sub>j</sub></var>(<var>x<sub>i</sub></var>)", "Σ<sub><var>k</var>∈<var>S<sub>i</sub></var></sub> <var>g<sub>k</sub></var>(<var>x<sub>i</sub></var>)")}`
        + `, &emsp; one point: <var>w</var><sub>${CLASSES[set[0]]}</sub> = ${fraction(inside[0], inside.join(" + "))} = <strong>${shareText(share)}</strong>`
        + "<small>The blue curve: −log Σ<sub><var>j</var>∈<var>S</var></sub> <var>g<sub>j</sub></var>. Its slope is that of Σ<sub><var>j</var></sub> <var>w<sub>ij</sub></var> ℓ<sub><var>j</var></sub> with fixed weights, as in a training step (for cross-entropy; our remark, not the paper's).</small>";
    });
    screen.guess(() => `The same ball, let go at ${degrees(start())}, now with weights. Where does it come to rest?`, ENDS, () => Number(!isHome(way().at(-1))));
    screen.say(() => {
      if (!screen.guessed) return "";
      const end = way().at(-1);
      const place = isHome(end) ? "with the true labels" : valleys(q(), sure(), "weights").startsWith("no ") ? "where it began: the curve is flat" : "in a wrong valley";
      return `It ends at <strong>${degrees(end)}</strong>, ${place}. The weighted curve has ${valleys(q(), sure(), "weights")}; the minimum has ${valleys(q(), sure(), "min")}.`;
    });
    screen.say(() => (screen.guessed ? "Now make the model surer, and start at 170°. The weights become one-hot, the blue curve comes near the orange one, and a wrong valley comes back. So identification must be <em>progressive</em>: when the model becomes sure, the ball must already be in the right valley." : ""));
    screen.box = screen.figure;
    screen.chart(() => hills(screen, { q: q(), sure: sure(), start: start(), readings: ["min", "weights"], ball: "weights", way: screen.guessed ? way() : null }));
  },

  algorithm(screen) {
    const { ground, settings } = screen;
    const end = () => ground.trained("proden").right[EPOCHS] / ground.count;
    screen.say(() => `${ground.count} points, three classes, a linear model. Each point is a <strong>pie of its label weights</strong>. Training makes the pies take one colour while the boundaries move. Drag a point: the model trains again from the start.`);
    screen.guess(() => `No pie says which label is true. After ${EPOCHS} epochs, how many of the ${ground.count} points will have their true label?`,
      ["A third or fewer", "More, but at most nine tenths", "More than nine tenths"], () => (end() <= 1 / 3 ? 0 : end() <= 0.9 ? 1 : 2));
    const listing = made("div", { class: "listing" });
    screen.inside(screen.below, () => {
      pointControls(screen);
      screen.put(listing, () => { listing.innerHTML = algorithmLines(ground, Math.min(settings.get("toy-epoch"), EPOCHS - 1)); });
    }, () => screen.guessed);
    screen.box = screen.figure;
    screen.toy(() => ["proden"], { still: () => !screen.guessed, fill: 340 });
  },

  together(screen) {
    const { ground, settings } = screen;
    const right = (method) => ground.trained(method).right[EPOCHS];
    screen.root.classList.add("wide");
    screen.say(() => `The same ${ground.count} points, initial parameters and ${EPOCHS} epochs. One method keeps weights; the other puts all weight on its best guess at every step, which is descent on the minimum. With weights, ${right("proden")} of ${ground.count} points get their true label.`);
    screen.guess(() => "How many will the minimum alone identify?",
      ["As many as with weights, or at most five fewer", "Fewer, but more than two thirds", "Two thirds or fewer"],
      () => (right("proden") - right("sudden") <= 5 ? 0 : right("sudden") / ground.count > 2 / 3 ? 1 : 2));
    const guessed = () => screen.guessed;
    screen.inside(screen.put(made("div")), () => {
      const { proden, ...others } = TITLES;
      screen.choice("Beside PRODEN", others, { chosen: () => settings.get("together-other"), choose: (value) => settings.set("together-other", value) });
    }, guessed);
    screen.inside(screen.below, () => screen.say(() => togetherWords(ground, settings.get("together-other"))), guessed);
    screen.box = screen.figure;
    screen.toy(() => ["proden", settings.get("together-other")], { still: () => !guessed(), fill: 330 });
    screen.inside(screen.put(made("div")), () => {
      learningRate(screen);
      manyStarts(screen);
    }, guessed);
  },

  sure(screen) {
    const noise = () => screen.settings.get("sure-noise");
    const told = () => once(`sure ${noise()}`, () => sharpAndSure(noise()));
    const end = (name) => told()[name].at(-1)[1];
    screen.say("PRODEN trains on its own weights. So they run towards 0 and 1 <em>whatever is true</em>: that is the method. Here a small network learns 90 points of three classes, but some of them stand where their class says nothing.");
    screen.slider("sure-noise", "Points whose place says nothing", { from: 0, to: 1, step: 0.25, format: (value) => percent(value) });
    screen.guess(() => `After ${SURE_EPOCHS} epochs, the largest weight of a point is ${percent(end("sharp"))} in the mean. How many of the labels are right?`,
      ["About as many", "5 to 15 of 100 fewer", "Still fewer"],
      () => (end("sharp") - end("right") < 0.05 ? 0 : end("sharp") - end("right") <= 0.15 ? 1 : 2));
    const isGap = () => end("sharp") - end("right") >= 0.05;
    screen.say(() => (!screen.guessed ? "" : `<strong>${percent(end("right"))}</strong> are right. ${isGap() ? "<strong>Sharp is not sure.</strong>" : "Here what is sharp is right; but it is as sharp where places say nothing: move the slider."} To know how sure a label is, ask a model that has not learnt from it: eight networks, each trained on a quarter of the points and asked about the others, `
      + `put ${percent(end("sure"))} on these labels.${isGap() ? " What one network made up, another does not confirm." : ""}`));
    screen.say(() => (screen.guessed ? "Candid says this as <em>confidence</em>, at the end of a run; the pictures show weights. What no model can tell: labels that always come together. A certificate proves how many are wrong." : ""), { class: "note" });
    screen.box = screen.figure;
    screen.chart(() => {
      const lines = [{ name: "largest weight (sharp)", ink: "accent", points: told().sharp }];
      if (screen.guessed) {
        lines.push({ name: "right", ink: "wrong", points: told().right });
        lines.push({ name: "models of other points (sure)", ink: "quiet", dash: "6 5", points: told().sure });
      }
      return {
        title: "The same labels, in the mean", lines, marks: [],
        x: { label: "epoch", from: 0, to: SURE_EPOCHS, ticks: range(0, SURE_EPOCHS, 5) },
        y: { label: "share", from: 0.3, to: 1, ticks: [0.4, 0.6, 0.8, 1], format: shareText },
        words: `After ${SURE_EPOCHS} epochs the mean largest weight is ${percent(end("sharp"))}, ${percent(end("right"))} of the labels are right, and models of other points expect ${percent(end("sure"))}`,
      };
    });
  },

  jin(screen) {
    const z = () => screen.settings.get("jin-z");
    const entropy = () => -xlogy(z(), z()) - xlogy(1 - z(), 1 - z());
    const at = range(0.01, 0.99, 99);
    const cross = (g) => -z() * Math.log(g) - (1 - z()) * Math.log(1 - g);
    const seen = (g) => Math.min(Math.max(g, at[0]), at.at(-1));
    screen.say("In 2003 Jin and Ghahramani fitted the model to a <em>prior</em> <var>z<sub>i</sub></var> over the candidates by KL divergence, and estimated the prior again after each fit (an EM algorithm). Here the weights are in the loss.");
    screen.slider("jin-z", "Weight of the first of two candidates, z = w", { from: 0, to: 1, step: 0.05, format: shareText });
    screen.guess(() => "Where is each of the two curves at its least?", ["At the same model", "At different models"], () => 0);
    screen.formula(() => `theirs: ${fraction("1", "<var>n</var>")} Σ<sub><var>i</var></sub> KL[<var>z<sub>i</sub></var> ‖ <var>g</var>(<var>x<sub>i</sub></var>)]<br>`
      + `here: ${fraction("1", "<var>n</var>")} Σ<sub><var>i</var></sub> Σ<sub><var>j</var></sub> <var>w<sub>ij</sub></var> ℓ(<var>g</var>(<var>x<sub>i</sub></var>), <var>e<sup>j</sup></var>)<br>`
      + "Σ<sub><var>j</var></sub> <var>z<sub>j</sub></var> (−log <var>g<sub>j</sub></var>) = KL[<var>z</var> ‖ <var>g</var>] + <var>H</var>(<var>z</var>)<br>"
      + `<var>H</var>(${shareText(z())}, ${shareText(1 - z())}) = ${entropy().toFixed(3)}`);
    screen.say(() => (screen.guessed ? `Both at g = ${shareText(z())}: the curves are ${entropy().toFixed(3)} apart <em>everywhere</em>, and a constant has no slope. So with cross-entropy PRODEN's objective contains the older one. New are other decomposable losses, and weights that follow at every step. <em>PRODEN-itera</em> is the variant that waits.` : ""));
    screen.box = screen.figure;
    screen.chart(() => ({
      title: "Two objectives of one example",
      lines: [
        { name: "Σ w ℓ (cross-entropy)", ink: "accent", points: at.map((g) => [g, cross(g)]) },
        { name: "KL[z ‖ g] (Jin & Ghahramani)", ink: "wrong", dash: "6 5", points: at.map((g) => [g, cross(g) - entropy()]) },
      ],
      marks: screen.guessed ? [{ ink: "accent", x: z(), y: cross(seen(z())), name: "least" }, { ink: "wrong", x: z(), y: cross(seen(z())) - entropy(), name: "least" }] : [],
      x: { label: "what the model gives to the first candidate", from: 0, to: 1, ticks: [0, 0.2, 0.4, 0.6, 0.8, 1] },
      y: { label: "value", from: -0.1, to: 3, ticks: [0, 1, 2, 3] },
      words: `Cross-entropy and KL divergence of one example with weights ${shareText(z())} and ${shareText(1 - z())}: ${entropy().toFixed(3)} apart`,
    }));
  },

  own(screen) {
    const { ground, settings } = screen;
    const methods = () => Object.keys(TITLES).filter((name) => settings.get("own-methods").split(",").includes(name));
    const change = (name, joins) => {
      const chosen = methods().filter((one) => one !== name).concat(joins ? [name] : []);
      if (chosen.length) settings.set("own-methods", Object.keys(TITLES).filter((one) => chosen.includes(one)).join(","));
    };
    screen.root.classList.add("wide");
    screen.say("Make a data set of your own. Drag points, add some, choose what each one may be, and press <em>Train</em>. The link of this page holds everything you set.");
    screen.choice("Methods", TITLES, { many: true, chosen: methods, choose: change });
    screen.choice("Model", { linear: "linear", mlp: "small network" }, { chosen: () => settings.get("own-model"), choose: (value) => settings.set("own-model", value) });
    learningRate(screen);
    screen.slider("toy-q", JOINS, { from: 0, to: 0.9, step: 0.1, format: (value) => value.toFixed(1), changed: () => ground.redraw() });
    screen.box = screen.figure;
    screen.toy(methods, { model: () => settings.get("own-model"), editable: true, fill: 385 });
    pointControls(screen, true);
    screen.inside(screen.put(made("div", { class: "buttons" })), () => {
      const next = (name) => settings.set(name, (settings.get(name) + 1) % 1000000);
      screen.button("Draw new sets", () => { next("toy-draw"); ground.redraw(); });
      screen.button("Other start", () => next("toy-start"), { title: "Other initial parameters" });
      screen.button("Reset points", () => ground.reset());
      screen.button("Points as CSV", () => saveText(ground.csv(), "candid-points.csv"));
    });
    screen.say(() => (ground.missing ? `${ground.missing} ${ground.missing === 1 ? "point has" : "points have"} no true label among the candidates. The paper excludes this; so do its methods.` : ""), { class: "note" });
    screen.say(() => (ground.count >= MOST ? `${MOST} points are the most; remove some first.` : ""), { class: "note" });
  },
};

const fraction = (above, below) => `<span class="fraction"><span>${above}</span><span>${below}</span></span>`;

function saveText(text, name) {
  const link = made("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function learningRate(screen) {
  const { settings } = screen;
  screen.choice("Learning rate", { 0.05: "0.05", 0.2: "0.2", 0.5: "0.5" }, { chosen: () => settings.get("toy-lr"), choose: (value) => settings.set("toy-lr", Number(value)) });
}

/** The point in view, and its candidates to be chosen where `editable`. */
function pointControls(screen, editable = false) {
  const { ground } = screen;
  const own = () => ground.points.sets[ground.selected];
  screen.say(() => `<strong>Point ${ground.selected}</strong> · truly ${CLASSES[ground.points.truth[ground.selected]]}${editable ? "" : ` · may be ${own().map((j) => CLASSES[j]).join(" or ")}`} · choose another one in the picture`);
  if (!editable) return;
  screen.choice("Its candidates", Object.fromEntries(CLASSES.map((name, j) => [j, name])), {
    many: true, chosen: own, colours: screen.lesson.colours,
    choose: (label, joins) => {
      const set = own().filter((j) => j !== Number(label)).concat(joins ? [Number(label)] : []).sort();
      if (!set.length) return;
      ground.choose(ground.selected, set);
      ground.keep();
    },
  });
}

const SURE_EPOCHS = 200;

/** Three curves over the epochs, as [epoch, share]: largest weights, right labels, what models of other points expect. */
function sharpAndSure(noise) {
  const random = generator(9);
  const { x, y, truth } = threeClouds(90);
  const from = shuffled(truth.map((_, i) => i), generator(10)).slice(0, Math.round(noise * truth.length));
  const to = shuffled(from, random);                        // these points change places among themselves
  const [px, py] = [[...x], [...y]];
  from.forEach((i, k) => { px[i] = x[to[k]]; py[i] = y[to[k]]; });
  const points = { x: px, y: py, truth, sets: flipBinomial(truth, CLASSES.length, 0.5, generator(31)) };
  const network = new Network(SIZES.mlp);
  const learn = (start, batch = null) => train(points, {
    method: "proden", network, parameters: network.start(start), epochs: SURE_EPOCHS, lr: 1,
    batches: batch && Array.from({ length: SURE_EPOCHS }, () => [batch]),
  });
  const whole = learn(0);
  const quarters = range(0, 1, 2).flatMap((round) => {
    const order = shuffled(truth.map((_, i) => i), generator(100 + round));
    return range(0, 3, 4).map((part) => ({ frames: learn(4 * round + part + 1, order.filter((_, k) => k % 4 === part)), asked: order.filter((_, k) => k % 4 !== part) }));
  });
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [sharp, right, sure] = [[], [], []];
  for (let epoch = 0; epoch <= SURE_EPOCHS; epoch += 10) {
    const { weights } = whole[epoch];
    const held = points.sets.map((set) => set.map(() => 0));
    for (const { frames, asked } of quarters) {
      for (const i of asked) labelWeights(network, frames[epoch].parameters, points, i).forEach((share, m) => { held[i][m] += share / 6; });   // six of the eight have not seen it
    }
    const label = weights.map((own, i) => argmax(own.map((share, m) => share + held[i][m])));
    sharp.push([epoch, mean(weights.map((own) => Math.max(...own)))]);
    right.push([epoch, mean(label.map((m, i) => Number(points.sets[i][m] === truth[i])))]);
    sure.push([epoch, mean(label.map((m, i) => held[i][m]))]);
  }
  return { sharp, right, sure };
}

function shuffled(values, random) {
  const result = [...values];
  for (let k = result.length - 1; k > 0; k -= 1) {
    const other = Math.floor(random() * (k + 1));
    [result[k], result[other]] = [result[other], result[k]];
  }
  return result;
}

/** Algorithm 1, its lines 6 to 9 with the numbers of the point in view. */
function algorithmLines(ground, after) {
  const step = ground.step(ground.selected, after);
  const names = step.set.map((j) => CLASSES[j]);
  const signed = (value) => `${value < -0.005 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;
  const terms = step.losses.map((loss, m) => `${shareText(step.old[m])} · ${shareText(loss)}`);
  const fresh = names.map((name, m) => `<var>w</var><sub>${name}</sub> = ${shareText(step.scores[m])} / ${shareText(step.inside)} = <strong>${shareText(step.fresh[m])}</strong>`);
  const lines = [
    ["Loss, with the <strong>old</strong> weights", `Σ<sub><var>j</var></sub> <var>w<sub>j</sub></var> ℓ<sub><var>j</var></sub> = ${terms.join(" + ")} = ${shareText(step.loss)}`],
    ["Its slope by the logits, <var>g</var> − <var>w</var>", names.map((name, m) => `${name}: ${signed(step.slopes[m])}`).join(", &ensp; ")],
    ["<strong>New weights</strong>, from the same forward pass", fresh.join("<br>")],
    ["Only then do the parameters move", `‖ΔΘ‖ = ${step.move.toFixed(3)}`],
  ];
  return `<p><strong>Algorithm 1</strong>, the step after epoch ${after} (one mini-batch of all ${ground.count} points an epoch)</p><ol start="6">${lines.map(([text, numbers]) => `<li>${text}<div class="formula">${numbers}</div></li>`).join("")}</ol>`;
}

/** How two methods end, in words. */
function togetherWords(ground, other) {
  const [ours, theirs] = ["proden", other].map((method) => ground.trained(method));
  const n = ground.count;
  const result = `After ${EPOCHS} epochs: PRODEN ${ours.right[EPOCHS]} of ${n}, ${TITLES[other].toLowerCase()} ${theirs.right[EPOCHS]} of ${n}. `;
  if (other === "supervised") return `${result}This is what true labels would give: the mark to reach.`;
  if (theirs.right[EPOCHS] >= ours.right[EPOCHS]) return `${result}Here the weights gain nothing. Try another start, or a larger q (<em>Your own points</em>).`;
  if (other === "naive") return `${result}It never chooses: wrong candidates move the boundary as much as true ones, to the end.`;
  const sure = theirs.frames[EPOCHS].weights.reduce((sum, own) => sum + Math.max(...own), 0) / n;
  return `${result}Its largest weights are ${percent(sure)} in the mean all the same: sharp is not right. Look for a class that has lost its part of the plane; its points follow wrong candidates.`;
}

/** Is that luck? The same from ten starts, where somebody asks for it. */
function manyStarts(screen) {
  const { ground } = screen;
  const methods = ["proden", "sudden", "naive"];
  let requested = false;
  screen.inside(screen.put(made("div", { class: "buttons" })), () => screen.button(`Is that luck? Try ${STARTS} starts`, () => { requested = true; }));
  const shares = () => methods.map((method) => range(0, STARTS - 1, STARTS).map((start) => ground.trained(method, "linear", start).right[EPOCHS] / ground.count));
  const mean = (all) => all.reduce((sum, share) => sum + share, 0) / all.length;
  const dots = screen.put(made("div", { class: "starts" }), () => {
    dots.hidden = !requested;
    if (!requested) return;
    dots.innerHTML = shares().map((all, k) => `<span>${TITLES[methods[k]]}</span><span class="rail">${all.map((share) => `<i class="ink-${INKS[["weights", "min", "mean"][k]]}" style="left: ${100 * share}%"></i>`).join("")}</span><span>${percent(mean(all))}</span>`).join("");
  });
  screen.say(() => (requested ? `Identified right from ${STARTS} starts, a dot each, and the mean. With a small learning rate, ${EPOCHS} steps are too few for methods that find their own targets; then the average may win.` : ""), { class: "note" });
}
