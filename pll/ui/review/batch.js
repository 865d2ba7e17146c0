// Look-alikes: a grid of examples with one proposed label. What is wrong is marked; at a stroke the others get
// the label, and of the marked it is ruled out.

const ACROSS = "ArrowLeft ArrowRight ArrowUp ArrowDown".split(" ");

class Batch extends Station {
  update(component) {
    const { data } = component;
    const before = this.data;
    this.data = data;
    this.receive(component);
    if (this.pending && before) return;
    if (!before || before.token !== data.token) {
      this.marked = new Set(data.marked);        // of a group that is back after an undo
      this.at = 0;
      this.shownAt = performance.now();
    }
    this.draw();
  }

  draw() {
    const hadFocus = this.root.contains(this.root.getRootNode().activeElement);
    const { data } = this;
    const view = document.createDocumentFragment();
    if (data.problem) element("div", "problem", view, data.problem);
    const head = element("div", "proposal", view);
    const title = element("h3", "", head);
    element("i", "dot", title).style.background = data.colour;
    const question = element("span", "", title, "All of these ");
    element("b", "", question, data.label);
    question.append("?");
    const remaining = data.tiles.length - this.marked.size;
    const acts = element("div", "more", head);
    const all = this.marked.size ? `Accept ${remaining}, all but the marked` : `Accept all ${remaining}`;
    const accept = button("act main", "Enter", all, acts, () => this.accept());
    accept.disabled = remaining === 0;
    button("act", "S", "Other group", acts, () => this.send({ what: "other", token: data.token }));
    const undo = button("act quiet", "U", "Undo", acts, () => this.send({ what: "undo" }));
    undo.disabled = !data.undo;
    element("span", "state", acts, "Saving…");
    element("p", "hint", view, `Mark what is something else: arrow keys and X, or a click. Of marked ones ${data.label} is ruled out.`);
    this.grid = element("div", "grid", view);
    data.tiles.forEach((tile, k) => this.drawTile(tile, k));
    const spoken = this.root.querySelector(".spoken");
    this.root.querySelector(".board").replaceChildren(view);
    this.root.dataset.token = data.token;
    if (spoken.textContent !== data.message) spoken.textContent = data.message;
    if (hadFocus) this.grid.children[this.at]?.focus();
  }

  drawTile(tile, k) {
    const marked = this.marked.has(tile.token);
    const made = button(marked ? "tile marked" : "tile", "", "", this.grid, () => this.mark(k));
    made.setAttribute("aria-pressed", marked);
    made.setAttribute("aria-label", `${tile.id}${tile.weight === null ? "" : `, ${likely(tile.weight)}`}`);
    made.title = tile.whole;
    made.tabIndex = k === this.at ? 0 : -1;
    made.addEventListener("focus", () => { this.at = k; });
    if (tile.picture) picture(tile.picture, made, "");
    else element("span", "text", made, tile.text ?? tile.id);
    const foot = element("span", "foot", made);
    element("span", "", foot, tile.id);
    if (tile.weight !== null) element("span", "", foot, likely(tile.weight));
  }

  mark(k) {
    const { token } = this.data.tiles[k];
    if (!this.marked.delete(token)) this.marked.add(token);
    this.at = k;
    this.draw();
    this.grid.children[k].focus();
  }

  accept() {
    if (performance.now() - this.shownAt < 300) return;   // nobody has looked at them yet
    const all = this.data.tiles.map(({ token }) => token);
    const [marked, tokens] = [true, false].map((is) => all.filter((token) => this.marked.has(token) === is));
    if (!tokens.length) return;
    const seconds = (performance.now() - this.shownAt) / 1000;
    this.send({ what: "accept", token: this.data.token, tokens, marked, seconds });
  }

  move(key) {
    const tiles = [...this.grid.children];
    const inRow = Math.max(1, tiles.filter((tile) => tile.offsetTop === tiles[0].offsetTop).length);
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -inRow, ArrowDown: inRow }[key];
    const inside = this.root.contains(this.root.getRootNode().activeElement);
    this.at = inside ? Math.min(tiles.length - 1, Math.max(0, this.at + step)) : this.at;
    tiles.forEach((tile, k) => { tile.tabIndex = k === this.at ? 0 : -1; });
    tiles[this.at].focus();
  }

  press(event) {
    const key = event.key.length === 1 ? event.key.toUpperCase() : event.key;
    if (!this.data?.tiles.length) return false;
    if (ACROSS.includes(key)) this.move(key);
    else if (key === "X" || (key === " " && event.composedPath()[0].closest?.(".tile"))) this.mark(this.at);
    else if (key === "Enter" && !event.composedPath()[0].closest?.("button:not(.tile)")) this.accept();
    else if (key === "S") this.send({ what: "other", token: this.data.token });
    else if (key === "U") { if (this.data.undo) this.send({ what: "undo" }); }
    else return false;
    return true;
  }
}

export default function (component) {
  return attend(component, Batch);
}
