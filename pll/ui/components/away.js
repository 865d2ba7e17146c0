// While the server is away, people read what that means for them, and not Streamlit's words for developers.

const WORDS = "Candid is restarting; nothing you decided is lost.";

export default function () {
  if (globalThis.candidAway) return;
  const isAway = () =>
    [...document.querySelectorAll("[role=dialog]")].find((one) => one.textContent.includes("Connection error"));
  const look = () => {
    const dialog = isAway(), shown = document.querySelector(".candid-away");
    if (dialog && !shown) {
      const words = document.createElement("div");
      words.className = "candid-away";
      words.setAttribute("role", "alert");
      words.textContent = WORDS;
      document.body.append(words);
    } else if (!dialog && shown) {
      shown.remove();
    }
  };
  globalThis.candidAway = new MutationObserver(look);
  globalThis.candidAway.observe(document.body, { childList: true, subtree: true });
}
