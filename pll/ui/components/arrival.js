// The title of a page takes the focus once one has come to the page, or to another run on it, so that the next Tab is in
// what it says and not in the navigation; and the part that scrolls is no stop of its own on the way. What was pressed
// stood at the end of a long form perhaps: the page begins at its top.

const PATIENCE = 40;      // looks for the title, one every 50 ms: a page is drawn piece by piece

export default function ({ data }) {
  if (globalThis.candidPage === data.page) return;
  globalThis.candidPage = data.page;
  const main = document.querySelector("[data-testid=stMain]");
  main?.scrollTo(0, 0);
  main?.setAttribute("tabindex", "-1");
  let looks = 0;
  const arrive = () => {
    const title = main?.querySelector("h1");
    const at = document.activeElement;
    if (at?.matches("input, textarea, [contenteditable=true]") || globalThis.candidPage !== data.page) return;
    if (title) {
      title.tabIndex = -1;
      title.style.outline = "none";
      title.focus({ preventScroll: true });
    } else if ((looks += 1) < PATIENCE) {
      setTimeout(arrive, 50);
    }
  };
  arrive();
}
