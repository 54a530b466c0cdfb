// Progress in the browser's own storage. It is read once, when the page is opened, and written after every change.

const NAME = "tpc-lessons";

function stored() {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? "null");
  } catch {
    return null; // nothing is kept here, or it is damaged
  }
}

export default function ({ data, setTriggerValue }) {
  if (!data.read) {
    if (!window.__tpcLessonsAsked) {
      window.__tpcLessonsAsked = true;
      setTriggerValue("restored", stored() ?? {});
    }
    return;
  }
  try {
    localStorage.setItem(NAME, JSON.stringify(data.progress));
  } catch {
    // a browser that keeps nothing starts anew at the next visit
  }
}
