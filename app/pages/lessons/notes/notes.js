// The clock of the teacher's notes. It follows the lesson that the other window shows, and says whether time is short.

const state = (window.__tpcNotes ??= { began: Date.now(), lessonBegan: Date.now(), lesson: null });

const clock = (ms) => `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".tpc-notes-clock");
  state.data = data;
  if (state.lesson !== data.lesson) Object.assign(state, { lesson: data.lesson, lessonBegan: Date.now() });
  if (!state.channel) {
    state.channel = new BroadcastChannel("tpc-lessons");
    state.channel.onmessage = ({ data: said }) => {
      if (said.lesson && said.lesson !== state.data.lesson) state.emit("follow", { lesson: said.lesson, at: Date.now() });
    };
    state.channel.postMessage({ ask: true });
  }
  state.emit = setTriggerValue;
  const draw = () => {
    const { minutes, before, all } = state.data;
    const here = Date.now() - state.lessonBegan;
    const whole = Date.now() - state.began;
    const late = whole - 60_000 * before - 60_000 * minutes;
    root.textContent = `This lesson ${clock(here)} of ${minutes}:00. All ${clock(whole)} of ${all}:00.`
      + (late > 0 ? ` ${Math.ceil(late / 60_000)} min late.` : "");
    root.classList.toggle("late", late > 0);
  };
  draw();
  clearInterval(state.timer);
  state.timer = setInterval(draw, 1000);
  return () => {
    if (!document.contains(root)) clearInterval(state.timer);
  };
}
