// Training in the browser: points in the plane with candidate sets, a linear model or a small network, and four methods,
// epoch by epoch. tests/browser/test_lesson.py compares it with the estimators of `pll.methods`.

const SIZES = { linear: [2, 3], mlp: [2, 16, 3] };   // units of each layer; tanh between them
const EPOCHS = 60;        // of one step each, with all points
const MOMENTUM = 0.9;
const ALL = [0, 1, 2];    // classes

/** Random numbers in [0, 1), the same for the same seed (mulberry32). */
function generator(seed) {
  let state = (seed * 0x9e3779b9 + 0x6d2b79f5) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A normal random number (Box–Muller). */
const normal = (random) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Candidate sets of the true labels: each wrong label joins with probability q; where none did, a random one does. */
function flipBinomial(truth, classes, q, random) {
  return truth.map((label) => {
    const set = [];
    for (let j = 0; j < classes; j += 1) if (random() < q || j === label) set.push(j);
    if (set.length === 1) set.push((label + 1 + Math.floor(random() * (classes - 1))) % classes);
    return set.sort((a, b) => a - b);
  });
}

/** Probabilities of the logits of some labels. */
function softmax(z, labels = ALL) {
  let top = -Infinity;
  for (const j of labels) if (z[j] > top) top = z[j];
  const shares = new Array(labels.length);
  let sum = 0;
  for (let m = 0; m < labels.length; m += 1) sum += shares[m] = Math.exp(z[labels[m]] - top);
  for (let m = 0; m < labels.length; m += 1) shares[m] /= sum;
  return shares;
}

const argmax = (values) => values.indexOf(Math.max(...values));

/** A network whose parameters are one array: layer by layer, unit by unit, the weights of its inputs and its bias. */
class Network {
  constructor(sizes) {
    this.sizes = sizes;
    this.units = sizes.map((size) => new Float64Array(size));   // of the latest forward pass
    this.slopes = sizes.map((size) => new Float64Array(size));  // of the loss by them
    this.count = sizes.slice(1).reduce((sum, size, k) => sum + size * (sizes[k] + 1), 0);
  }

  /** Initial parameters, as torch's `nn.Linear` draws them: uniform up to 1 / √inputs. */
  start(seed) {
    const random = generator(seed);
    const parameters = new Float64Array(this.count);
    let at = 0;
    for (let k = 1; k < this.sizes.length; k += 1) {
      const inputs = this.sizes[k - 1];
      for (let end = at + this.sizes[k] * (inputs + 1); at < end; at += 1) parameters[at] = (2 * random() - 1) / Math.sqrt(inputs);
    }
    return parameters;
  }

  /** The logits at (x, y), in an array that the next call overwrites. */
  forward(parameters, x, y) {
    const { units } = this;
    units[0][0] = x;
    units[0][1] = y;
    let at = 0;
    for (let k = 1; k < units.length; k += 1) {
      const from = units[k - 1];
      const to = units[k];
      const last = k === units.length - 1;
      for (let j = 0; j < to.length; j += 1) {
        let sum = 0;
        for (let i = 0; i < from.length; i += 1) sum += parameters[at + i] * from[i];
        sum += parameters[at + from.length];
        to[j] = last ? sum : Math.tanh(sum);
        at += from.length + 1;
      }
    }
    return units[units.length - 1];
  }

  /** Adds the gradient by the parameters, for the latest forward pass and the gradient by its logits. */
  backward(parameters, byLogits, gradient) {
    let by = byLogits;
    let end = this.count;
    for (let k = this.sizes.length - 1; k >= 1; k -= 1) {
      const from = this.units[k - 1];
      const wide = from.length + 1;
      const begin = end - by.length * wide;
      const below = this.slopes[k - 1].fill(0);
      for (let j = 0; j < by.length; j += 1) {
        const at = begin + j * wide;
        const slope = by[j];
        for (let i = 0; i < from.length; i += 1) {
          gradient[at + i] += slope * from[i];
          below[i] += slope * parameters[at + i];
        }
        gradient[at + from.length] += slope;
      }
      if (k > 1) for (let i = 0; i < from.length; i += 1) below[i] *= 1 - from[i] * from[i];
      by = below;
      end = begin;
    }
  }
}

/** Label weights of one point: the softmax of its candidates' logits (Eq. norm). */
const labelWeights = (network, parameters, { x, y, sets }, i) => softmax(network.forward(parameters, x[i], y[i]), sets[i]);

/**
 * Trains by stochastic gradient descent with momentum on the weighted cross-entropy.
 *
 * `points`: {x, y, truth, sets}. `parameters`: those of the start. `batches`: for each epoch its mini-batches, arrays of
 * points; by default one of all points. Returns a frame for the start and one for each epoch: {parameters, weights}, the
 * label weights of each point by candidate. They are those of the training pass; the last ones are those of the final
 * model, as in `pll`.
 */
function train(points, { method, network, parameters, epochs = EPOCHS, lr, batches = null }) {
  const { x, y, truth, sets } = points;
  const all = [truth.map((_, i) => i)];
  const uniform = sets.map((set) => set.map(() => 1 / set.length));
  const now = Float64Array.from(parameters);
  const speed = new Float64Array(now.length);
  const latest = [...uniform];
  // What the loss multiplies: class by class, since the truth may be none of the candidates.
  const target = sets.map((set, i) => (method === "supervised" ? oneHot(truth[i]) : spread(set, uniform[i])));
  const frames = [{ parameters: Float64Array.from(now), weights: uniform }];
  for (let epoch = 0; epoch < epochs; epoch += 1) {
    for (const batch of batches?.[epoch] ?? all) {
      const gradient = new Float64Array(now.length);
      for (const i of batch) {
        const z = network.forward(now, x[i], y[i]);
        const g = softmax(z);
        network.backward(now, g.map((share, j) => (share - target[i][j]) / batch.length), gradient);   // old weights
        latest[i] = softmax(z, sets[i]);                                                               // Eq. (norm)
      }
      for (const i of batch) {
        if (method === "proden") target[i] = spread(sets[i], latest[i]);
        else if (method === "sudden") target[i] = oneHot(sets[i][argmax(latest[i])]);
      }
      for (let k = 0; k < now.length; k += 1) {
        speed[k] = MOMENTUM * speed[k] + gradient[k];
        now[k] -= lr * speed[k];
      }
    }
    frames.push({ parameters: Float64Array.from(now), weights: [...latest] });
  }
  frames[epochs].weights = sets.map((_, i) => labelWeights(network, now, points, i));
  return frames;
}

const oneHot = (label) => ALL.map((j) => Number(j === label));

function spread(set, weights) {
  const row = [0, 0, 0];
  set.forEach((label, m) => { row[label] = weights[m]; });
  return row;
}
