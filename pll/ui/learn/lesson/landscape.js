// The risk of a classifier that can only turn: points of three classes around a circle, and the loss of their candidate
// sets over the angle, read in three ways. tests/browser/test_lesson.py compares it with the losses of `pll`.

const DEGREE = Math.PI / 180;
const ANGLES = Array.from({ length: 241 }, (_, k) => -180 + 1.5 * k);
const HOME = 60;          // degrees around the true directions: nearer to them than to the next class
const REST = 1e-4;        // degrees of a step below which the ball lies still
const LEVEL = 1e-9;       // differences of risk below this are rounding errors

/** An angle in degrees, in (−180, 180]. */
const wrapped = (theta) => 180 - ((((180 - theta) % 360) + 360) % 360);
const isHome = (theta) => Math.abs(theta) < HOME;
const degrees = (theta) => `${Math.round(theta)}°`.replace("-", "−");

class Landscape {
  /** The same points for every q; their candidate sets by binomial flipping. */
  constructor(q, count = 150) {
    const random = generator(11);
    this.truth = Array.from({ length: count }, (_, i) => i % 3);
    this.angles = this.truth.map((label) => (2 * Math.PI * label) / 3 + 25 * DEGREE * normal(random));
    this.sets = flipBinomial(this.truth, 3, q, generator(12));
  }

  /** Logits of point i under the classifier turned by theta degrees: s · cos(φ − 120°j − θ). */
  logits(i, theta, sharpness) {
    return ALL.map((j) => sharpness * Math.cos(this.angles[i] - theta * DEGREE - (2 * Math.PI * j) / 3));
  }

  /** What a point costs: the mean over its candidates, the least, or −log of their joint probability (Eq. norm's descent). */
  cost(i, theta, sharpness, reading) {
    const g = softmax(this.logits(i, theta, sharpness));
    const own = this.sets[i].map((j) => g[j]);
    if (reading === "mean") return own.reduce((sum, share) => sum - Math.log(share), 0) / own.length;
    return -Math.log(reading === "min" ? Math.max(...own) : own.reduce((sum, share) => sum + share, 0));
  }

  risk(theta, sharpness, reading) {
    return this.truth.reduce((sum, _, i) => sum + this.cost(i, theta, sharpness, reading), 0) / this.truth.length;
  }

  /** The gradient of a training step by θ, a degree: the weights of the candidates are held fixed. */
  slope(theta, sharpness, reading) {
    let sum = 0;
    this.truth.forEach((_, i) => {
      const z = this.logits(i, theta, sharpness);
      const g = softmax(z);
      const own = softmax(z, this.sets[i]);
      const w = reading === "weights" ? spread(this.sets[i], own) : oneHot(this.sets[i][argmax(own)]);
      const turned = this.angles[i] - theta * DEGREE;
      for (const j of ALL) sum += (g[j] - w[j]) * sharpness * Math.sin(turned - (2 * Math.PI * j) / 3);
    });
    return (sum / this.truth.length) * DEGREE;
  }

  /** The angles on the way down from `start`, until it rests; in (−180, 180]. */
  descend(start, sharpness, reading) {
    const way = [start];
    for (let k = 0; k < 400; k += 1) {
      // A step of at most 4° keeps descent descent, however steep the hill.
      const move = (1500 / Math.max(sharpness, 1)) * this.slope(way[k], sharpness, reading);
      if (Math.abs(move) < REST) break;
      way.push(wrapped(way[k] - Math.max(-4, Math.min(4, move))));
    }
    return way;
  }

  /** Share of points whose best candidate is the true one. */
  right(theta, sharpness) {
    const right = this.truth.filter((label, i) => {
      const z = this.logits(i, theta, sharpness);
      return this.sets[i][argmax(this.sets[i].map((j) => z[j]))] === label;
    });
    return right.length / this.truth.length;
  }

  /** The valleys of a landscape, in words. */
  valleys(sharpness, reading) {
    const risk = ANGLES.slice(1).map((theta) => Math.round(this.risk(theta, sharpness, reading) / LEVEL));
    const { length } = risk;
    const valleys = risk.map((_, k) => k).filter((k) => risk[k] < risk[(k + length - 1) % length] && risk[k] <= risk[(k + 1) % length]);
    if (!valleys.length) return "no valley at all";
    const places = valleys.map((k) => degrees(ANGLES[k + 1]));
    if (valleys.length === 1) return `one valley, at ${places[0]}`;
    const least = Math.min(...valleys.map((k) => risk[k]));
    const deepest = places.filter((_, at) => risk[valleys[at]] === least);
    const listed = (some) => (some.length === 1 ? some[0] : `${some.slice(0, -1).join(", ")} and ${some.at(-1)}`);
    const where = valleys.length < 5 ? `, at ${listed(places)}` : "";
    return `${valleys.length} valleys${where}, ${deepest.length === places.length ? "all equally deep" : `the deepest at ${listed(deepest)}`}`;
  }
}
