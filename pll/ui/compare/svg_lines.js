// Puts an SVG, made by drawn.py from numbers and escaped words, where the one before was.

export default function ({ parentElement, data }) {
  parentElement.querySelector(".lines").innerHTML = data.svg;
}
