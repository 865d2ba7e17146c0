// Replaces the chart by the SVG that svg_lines.py made from numbers and escaped text.

export default function ({ parentElement, data }) {
  parentElement.querySelector(".lines").innerHTML = data.svg;
}
