// Keys of the Learn page: left and right arrow go to the idea before and after.

const OWN_ARROWS = "input, textarea, select, canvas, [contenteditable], [role=slider], [role=application], [role=listbox], [role=menu], [role=dialog]";
const PATIENCE = 3000;    // ms after which what was asked for counts as lost
const listening = new WeakMap();

export default function ({ parentElement, data, setTriggerValue }) {
  const state = listening.get(parentElement) ?? {};
  state.data = data;
  if (data.at === state.at || !(performance.now() < state.until)) Object.assign(state, { at: data.at, until: 0 });
  state.go = (name) => {
    if (!name) return;
    Object.assign(state, { at: name, until: performance.now() + PATIENCE });  // the next press may come before the answer
    setTriggerValue("go", name);
  };
  if (!state.onKey) {
    state.onKey = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (event.composedPath().some((part) => part.matches?.(OWN_ARROWS))) return;
      event.preventDefault();
      state.go(state.data.names[state.data.names.indexOf(state.at) + step]);
    };
    document.addEventListener("keydown", state.onKey);
    listening.set(parentElement, state);
  }
  return () => {
    document.removeEventListener("keydown", state.onKey);
    listening.delete(parentElement);
  };
}
