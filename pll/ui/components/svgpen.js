// SVG writer with the part of the canvas API that our pictures use, so that one drawing routine serves screen and export.

const round = (value) => Math.round(100 * value) / 100;

const escaped = (text) => String(text).replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

class SvgPen {
  /** `context`: a canvas to measure texts with. */
  constructor(context) {
    this.ruler = context;
    this.isVector = true;
    this.parts = [];
    this.count = 0;          // of what has an id
    this.stack = [];         // states put away by save
    this.state = { at: "", open: 0 };
    this.images = new Map();
    this.path = "";
    Object.assign(this, {
      fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "10px sans-serif",
      textAlign: "left", textBaseline: "alphabetic", imageSmoothingEnabled: true,
    });
  }

  /** All of it, with what it shows in words for those who do not see it. */
  svg(width, height, words) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${round(width)}" height="${round(height)}" `
      + `viewBox="0 0 ${round(width)} ${round(height)}" role="img">\n<title>${escaped(words)}</title>\n${this.parts.join("\n")}\n</svg>\n`;
  }

  put(tag, looks, inside = null) {
    const alpha = this.globalAlpha < 1 ? ` opacity="${round(this.globalAlpha)}"` : "";
    this.parts.push(`<${tag} ${looks}${this.moved()}${alpha}${inside === null ? "/>" : `>${inside}</${tag}>`}`);
  }

  moved() { return this.state.at ? ` transform="${this.state.at.trim()}"` : ""; }

  /** A colour as older programs read it too: how opaque it is stands apart. */
  paint(kind, colour) {
    if (typeof colour !== "string") return `${kind}="url(#${colour.id})"`;
    const [, r, g, b, alpha] = colour.match(/^rgba\(([\d.]+), *([\d.]+), *([\d.]+), *([\d.]+)\)$/) ?? [];
    return alpha === undefined ? `${kind}="${colour}"` : `${kind}="rgb(${r},${g},${b})" ${kind}-opacity="${alpha}"`;
  }

  // ---- where ------------------------------------------------------------------------------------------------------------

  save() { this.stack.push([{ ...this.state }, this.globalAlpha]); }

  restore() {
    const open = this.state.open;
    [this.state, this.globalAlpha] = this.stack.pop();
    for (let k = this.state.open; k < open; k += 1) this.parts.push("</g>");
  }

  translate(x, y) { this.state.at += ` translate(${round(x)} ${round(y)})`; }

  rotate(angle) { this.state.at += ` rotate(${round((180 * angle) / Math.PI)})`; }

  clip() {
    this.count += 1;
    this.state.open += 1;
    this.parts.push(`<clipPath id="clip${this.count}"><path d="${this.path}"${this.moved()}/></clipPath><g clip-path="url(#clip${this.count})">`);
  }

  // ---- paths ------------------------------------------------------------------------------------------------------------

  beginPath() { this.path = ""; }

  moveTo(x, y) { this.path += `M${round(x)} ${round(y)}`; }

  lineTo(x, y) { this.path += `${this.path ? "L" : "M"}${round(x)} ${round(y)}`; }

  closePath() { this.path += "Z"; }

  /** Clockwise, as all of ours. Two pieces, since SVG knows no arc that ends where it began. */
  arc(x, y, radius, from, to) {
    const point = (angle) => [x + radius * Math.cos(angle), y + radius * Math.sin(angle)];
    const half = (to - from) / 2;
    this.lineTo(...point(from));
    for (const angle of [from + half, to]) {
      const [px, py] = point(angle);
      this.path += `A${round(radius)} ${round(radius)} 0 0 1 ${round(px)} ${round(py)}`;
    }
  }

  roundRect(x, y, width, height, radius) {
    const [right, low, r] = [x + width, y + height, round(radius)];
    const corner = (px, py) => `A${r} ${r} 0 0 1 ${round(px)} ${round(py)}`;
    this.path += `M${round(x + r)} ${round(y)}H${round(right - r)}${corner(right, y + r)}V${round(low - r)}`
      + `${corner(right - r, low)}H${round(x + r)}${corner(x, low - r)}V${round(y + r)}${corner(x + r, y)}Z`;
  }

  stroke() {
    this.put("path", `d="${this.path}" fill="none" ${this.paint("stroke", this.strokeStyle)} stroke-width="${this.lineWidth}"`);
  }

  fill() { this.put("path", `d="${this.path}" ${this.paint("fill", this.fillStyle)}`); }

  /** A point with a thin edge: one of thousands, so in as few letters as can be. */
  dot(x, y, radius, edge, width) {
    const looks = `cx="${round(x)}" cy="${round(y)}" r="${round(radius)}" fill="${this.fillStyle}"`;
    this.put("circle", `${looks} stroke="${edge}" stroke-width="${width}"`);
  }

  box(x, y, width, height) {
    return `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
  }

  fillRect(...box) { this.put("rect", `${this.box(...box)} ${this.paint("fill", this.fillStyle)}`); }

  strokeRect(...box) {
    this.put("rect", `${this.box(...box)} fill="none" ${this.paint("stroke", this.strokeStyle)} stroke-width="${this.lineWidth}"`);
  }

  createLinearGradient(x1, y1, x2, y2) {
    this.count += 1;
    const id = `ramp${this.count}`;
    const place = this.parts.push("") - 1;
    const stops = [];
    const addColorStop = (offset, colour) => {
      stops.push(`<stop offset="${round(offset)}" stop-color="${colour}"/>`);
      this.parts[place] = `<linearGradient id="${id}" gradientUnits="userSpaceOnUse" x1="${round(x1)}" y1="${round(y1)}" `
        + `x2="${round(x2)}" y2="${round(y2)}">${stops.join("")}</linearGradient>`;
    };
    return { id, addColorStop };
  }

  // ---- words and pictures -----------------------------------------------------------------------------------------------

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  fillText(text, x, y) {
    const [, weight = "400", size, family] = this.font.match(/^(?:(\d+) )?([\d.]+)px (.*)$/);
    const anchor = { center: "middle", right: "end" }[this.textAlign] ?? "start";
    const down = this.textBaseline === "middle" ? 0.35 * size : 0;  // not every program knows dominant-baseline
    const looks = `x="${round(x)}" y="${round(y + down)}" font-family="${escaped(family)}" font-size="${size}" `
      + `font-weight="${weight}" text-anchor="${anchor}" ${this.paint("fill", this.fillStyle)}`;
    this.put("text", looks, escaped(text));
  }

  /** What is pixels stays pixels: a part of a canvas, as drawImage takes it with 5 or 9 arguments. */
  drawImage(image, ...places) {
    const whole = [0, 0, image.width, image.height];
    const [sx, sy, wide, high, ...place] = places.length === 8 ? places : [...whole, ...places];
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [wide, high];
    copy.getContext("2d").drawImage(image, sx, sy, wide, high, 0, 0, wide, high);
    const crisp = this.imageSmoothingEnabled ? "" : ' style="image-rendering:pixelated"';
    this.put("image", `${this.box(...place)} preserveAspectRatio="none" href="${copy.toDataURL()}"${crisp}`);
  }
}

