// The ideas on the Learn page. Settings, points and guesses live as long as the tab, whichever idea is in view.

const SETTLED = 500;    // ms
const screens = new WeakMap();

export default function ({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".lesson");
  const tab = (window.candidLesson ??= {});
  if (!tab.settings) {
    tab.tell = () => {   // with it goes what else the page shows by then: not while somebody goes from idea to idea
      clearTimeout(tab.later);
      tab.later = setTimeout(() => {
        const text = tab.settings.text();
        if (text !== tab.data.settings) tab.setTriggerValue("settings", text);
      }, SETTLED);
    };
    tab.settings = new Settings(data.settings, tab.tell);
    tab.ground = new Ground(tab.settings);
  }
  Object.assign(tab, { data, setTriggerValue });
  const screen = screens.get(root);
  if (screen?.name === data.idea) screen.refresh();   // the theme may be another one
  else {
    screens.set(root, new Screen(root, data.idea, { lesson: data.lesson, settings: tab.settings, ground: tab.ground }));
    tab.tell();                                   // the address of a page that is opened again has none
  }
}
