// The ideas on the Learn page. Settings, points and guesses live as long as the tab, whichever idea is in view.

const screens = new WeakMap();

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".lesson");
  const tab = (window.candidLesson ??= {});
  if (!tab.settings) {
    tab.settings = new Settings(data.settings, (text) => tab.tell(text));
    tab.ground = new Ground(tab.settings);
  }
  tab.tell = (text) => { if (text !== data.settings) setTriggerValue("settings", text); };
  const screen = screens.get(root);
  if (screen?.name === data.idea) screen.refresh();   // the theme may be another one
  else {
    screens.set(root, new Screen(root, data.idea, { lesson: data.lesson, settings: tab.settings, ground: tab.ground }));
    tab.tell(tab.settings.text());                // the address of a page that is opened again has none
  }
}
