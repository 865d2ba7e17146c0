// The lesson without a server: one idea at a time, by keys, buttons and the part of the address behind its #, which also
// holds the settings.

const OWN_ARROWS = "input, textarea, select, canvas";
const names = Object.keys(LESSON.titles);
const part = (name) => document.querySelector(`.top .${name}`);
const parameters = () => new URLSearchParams(location.hash.slice(1));
const ideaOf = (address) => (names.includes(address.get("idea")) ? address.get("idea") : names[0]);
const addressOf = (idea) => `#${new URLSearchParams({ idea })}${settings.text() ? `&${settings.text()}` : ""}`;

const settings = new Settings(location.hash.slice(1), () => history.replaceState(null, "", addressOf(at)));
const ground = new Ground(settings);
let at = ideaOf(parameters());
let shown = null;

function show(idea, focus = true) {
  at = idea;
  const number = names.indexOf(at);
  const title = document.querySelector("h1");
  title.textContent = LESSON.titles[at];
  document.title = `${LESSON.titles[at]} · Candid`;
  part("choose").value = at;
  part("back").disabled = number === 0;
  part("next").disabled = number === names.length - 1;
  document.querySelector(".progress i").style.width = `${(100 * (number + 1)) / names.length}%`;
  shown = new Screen(document.querySelector("main"), at, { lesson: LESSON, settings, ground });
  if (focus) title.focus({ preventScroll: true });
  scrollTo(0, 0);
}

function go(idea) {
  if (!idea) return;
  history.replaceState(null, "", addressOf(at));   // a setting just changed may not be in the address yet
  history.pushState(null, "", addressOf(idea));
  show(idea);
}

part("choose").append(...names.map((name, k) => made("option", { value: name }, `${k + 1} of ${names.length} · ${LESSON.titles[name]}`)));
part("choose").addEventListener("change", (event) => go(event.target.value));
part("back").addEventListener("click", () => go(names[names.indexOf(at) - 1]));
part("next").addEventListener("click", () => go(names[names.indexOf(at) + 1]));
document.querySelector("footer button").addEventListener("click", async ({ target }) => {
  history.replaceState(null, "", addressOf(at));
  const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
  target.textContent = copied ? "Link copied" : "Copy it from the address bar";
});
document.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.matches?.(OWN_ARROWS)) return;
  event.preventDefault();
  go(names[names.indexOf(at) + step]);
});
/** The address has another idea or other settings: by the way back, or typed. */
function follow() {
  settings.read(location.hash.slice(1));
  ground.read();
  show(ideaOf(parameters()), false);
}
addEventListener("popstate", follow);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown.refresh());
show(at, false);
