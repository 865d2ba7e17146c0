// Two buttons that save the Plotly chart of a given key: as PNG, at twice its size, and as SVG.
//
// Plotly's own button can write one format only. It is asked for either here: Streamlit leaves the Plotly that drew the
// chart where it can be found.

export default function ({ parentElement, data }) {
  for (const button of parentElement.querySelectorAll("button")) {
    button.onclick = async () => {
      const chart = document.querySelector(`.st-key-${CSS.escape(data.chart)} .js-plotly-plot`);
      const { width, height } = chart.getBoundingClientRect();
      const format = button.dataset.kind;
      const link = document.createElement("a");  // not Plotly's own: a press on that would count as one beside the menu
      link.href = await window.Plotly.toImage(chart, { format, width, height, scale: format === "png" ? 2 : 1 });
      link.download = `${data.name}.${format}`;
      link.click();
    };
  }
}
