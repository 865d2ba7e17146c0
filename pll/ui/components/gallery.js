// Gallery component: one card per example, kept between updates, so that bars move smoothly.

const LINE = 17;          // pixels a candidate
const galleries = new WeakMap();

class Gallery {
  constructor(root) {
    this.root = root;
    this.cards = new Map();  // by example
  }

  update({ data, setTriggerValue }) {
    const renamed = Object.entries(data.names).some(([label, name]) => (this.data?.names[label] ?? name) !== name);
    if (renamed) this.clear();  // other classes: a card that stays would keep their old names
    this.data = data;
    this.send = (example) => setTriggerValue("selected", example);
    const wanted = data.cards.map((card) => this.card(card));
    for (const [example, { root }] of this.cards) {
      if (wanted.includes(root)) continue;
      root.remove();
      this.cards.delete(example);
    }
    wanted.forEach((root, k) => {
      if (this.root.children[k] !== root) this.root.insertBefore(root, this.root.children[k] ?? null);
    });
  }

  clear() {
    this.root.replaceChildren();
    this.cards.clear();
  }

  card(card) {
    if (!this.cards.has(card.example)) this.cards.set(card.example, this.newCard(card));
    const { root, bars, rows } = this.cards.get(card.example);
    const { names, colours } = this.data;
    bars.style.height = `${LINE * this.data.bars}px`;  // of cards that change, the same
    root.classList.toggle("selected", card.example === this.data.selected);
    const present = new Set(card.bars.map(([label]) => label));
    for (const [label, row] of rows) row.classList.toggle("gone", !present.has(label));
    card.bars.forEach(([label, weight], rank) => {
      if (!rows.has(label)) rows.set(label, this.newRow(bars, names[label], this.data.short[label], colours[label], label === card.truth));
      const row = rows.get(label);
      row.style.translate = `0 ${LINE * rank}px`;
      row.querySelector(".bar i").style.width = `${weight / 10}%`;
      row.querySelector(".n").textContent = `${Math.round(weight / 10)} %`;
    });
    root.querySelector(".decided").textContent = card.decided;
    const words = card.bars.map(([label, weight]) => `${names[label]} ${Math.round(weight / 10)} %`);
    const said = `${card.id}${card.text ? `, ${card.text}` : ""}${card.decided ? `, ${card.decided}` : ""}`;
    root.setAttribute("aria-label", `${said}: ${words.join(", ")}${card.more ? ` and ${card.more} more` : ""}`);
    return root;
  }

  newCard(card) {
    const root = element("div", "card");
    root.setAttribute("role", "button");
    root.tabIndex = 0;
    root.addEventListener("click", () => this.send(card.example));
    root.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.send(card.example);
    });
    if (card.picture) picture(card.picture, root, "");
    const text = element("div", "text", root);
    const head = element("div", "id", text);
    element("span", "", head, card.id);
    if (card.more) element("span", "more", head, `+ ${card.more}`);
    element("div", "decided", text);
    if (card.text) element("div", "excerpt", text, card.text).title = card.text;
    head.title = card.more ? `${card.id}, and ${card.more} more candidates` : card.id;
    return { root, bars: element("div", "bars", text), rows: new Map() };
  }

  newRow(bars, name, short, colour, isTrue) {
    const row = element("div", isTrue ? "row true" : "row", bars);
    row.title = isTrue ? `${name}: true label` : name;
    element("span", "name", row, short);
    element("i", "", element("span", "bar", row)).style.background = colour;
    element("span", "n", row);
    return row;
  }
}

export default function (component) {
  const root = component.parentElement.querySelector(".gallery");
  if (!galleries.has(root)) galleries.set(root, new Gallery(root));
  galleries.get(root).update(component);
}
