// A line chart as SVG: curves, marks on them, a legend below. Colours come from the page's style sheet (`ink-…`).

const CHART = { wide: 560, high: 330, left: 46, right: 12, top: 34, bottom: 44 };
const LABEL = [40, 16];   // room of a mark's name, across and down

/** `points`: pairs of data; a gap where x jumps back over the edge. */
function pathOf(points, at) {
  let path = "";
  points.forEach(([x, y], k) => {
    const [px, py] = at(x, y);
    const jump = k > 0 && Math.abs(x - points[k - 1][0]) > 180;
    path += `${k === 0 || jump ? "M" : "L"}${round(px)} ${round(py)}`;
  });
  return path;
}

/**
 * `lines`: [{name, ink, points, dash, thin, wide}]; `marks`: [{name, ink, x, y, hollow}]; `x`, `y`: {label, from, to, ticks,
 * format}. Values outside of `y` are cut off at the frame.
 */
function lineChart({ title, lines, marks = [], x, y, words }) {
  const { wide, high, left, right, top, bottom } = CHART;
  const [inner, tall] = [wide - left - right, high - top - bottom];
  const at = (vx, vy) => [
    left + ((vx - x.from) / (x.to - x.from)) * inner, top + ((y.to - vy) / (y.to - y.from)) * tall,
  ];
  const format = (axis, value) => (axis.format ? axis.format(value) : String(value).replace("-", "−"));
  const across = y.ticks.map((value) => {
    const [, py] = at(x.from, value);
    return `<path class="grid" d="M${left} ${round(py)}H${wide - right}"/><text x="${left - 8}" y="${round(py) + 4}" text-anchor="end">${format(y, value)}</text>`;
  });
  const along = x.ticks.map((value) => {
    const [px] = at(value, y.from);
    return `<text x="${round(px)}" y="${high - bottom + 19}" text-anchor="middle">${format(x, value)}</text>`;
  });
  const curves = lines.map(({ ink: colour, points, dash, thin, wide: broad }) => (
    `<path class="curve ink-${colour}${thin ? " thin" : ""}${broad ? " broad" : ""}" d="${pathOf(points, at)}"${dash ? ` stroke-dasharray="${dash}"` : ""}/>`
  ));
  const places = marks.map(({ x: vx, y: vy }) => at(vx, Math.min(Math.max(vy, y.from), y.to)));
  const dots = marks.map(({ ink: colour, hollow, name }, k) => {
    const [px, py] = places[k];
    const near = places.findIndex(([ox, oy], j) => j !== k && Math.abs(ox - px) < LABEL[0] && Math.abs(oy - py) < LABEL[1]);
    // of two marks side by side, the left one has its name on the left
    const before = near < 0 ? px > wide - 110 : px < places[near][0] || (px === places[near][0] && k > near);
    return `<circle class="mark ink-${colour}${hollow ? " hollow" : ""}" cx="${round(px)}" cy="${round(py)}" r="6.5"/>`
      + (name ? `<text class="label" x="${round(px) + (before ? -12 : 12)}" y="${round(py) - 9}" text-anchor="${before ? "end" : "start"}">${name}</text>` : "");
  });
  const legend = lines.filter(({ name }) => name).map(({ name, ink: colour, dash }) => (
    `<span><svg width="26" height="10" aria-hidden="true"><path class="curve ink-${colour}" d="M1 5H25"${dash ? ` stroke-dasharray="${dash}"` : ""}/></svg>${name}</span>`
  ));
  return `<figure class="chart"><svg viewBox="0 0 ${wide} ${high}" role="img" aria-label="${escaped(words)}">
    <clipPath id="frame"><rect x="${left}" y="${top - 8}" width="${inner}" height="${tall + 8}"/></clipPath>
    <text class="title" x="${left}" y="18">${title}</text>
    ${across.join("")}${along.join("")}
    <text class="axis" x="${left + inner / 2}" y="${high - 4}" text-anchor="middle">${x.label}</text>
    <g clip-path="url(#frame)">${curves.join("")}</g>${dots.join("")}
  </svg><figcaption><span class="axis">${y.label}</span>${legend.join("")}</figcaption></figure>`;
}
