// The stream of news, shared by the tabs of a browser: it opens few connections to one server.

const SILENCE = 12000;
const LONGEST_PAUSE = 10000;

/**
 * Listens until `onNews` returns true: nothing more will come. `onState` is called with "here",
 * "silent" or "gone".
 *
 * The tab that holds a lock keeps its stream open and passes its news on. The others close theirs
 * once they hear that tab, and open them again if they miss a piece or hear nothing.
 */
export function listen(onNews, onState) {
  const others = navigator.locks ? new BroadcastChannel("news") : null;
  let source = null;
  let leads = false;
  let leave = () => {};
  let over = false;
  /** The number of the last news. */
  let known = -1;
  let last = performance.now();
  let pause = 1000;

  const stop = () => { if (source) source.close(); source = null; };

  /** Takes a piece of news, `whole` if it is everything so far; else it must be the next one. */
  const take = ({ number, text, whole }) => {
    last = performance.now();
    onState("here");
    if (!whole && number !== known + 1) return;
    known = number;
    if (!onNews(JSON.parse(text))) return;
    over = true;
    stop();
    leave();
    if (others) others.close();
  };
  const lose = () => {
    last = performance.now();
    onState("gone");
  };
  const start = () => {
    if (source || over) return;
    let whole = true;
    source = new EventSource("news");
    source.onmessage = ({ data, lastEventId }) => {
      const news = { number: Number(lastEventId), text: data, whole };
      whole = false;
      pause = 1000;
      if (leads) others.postMessage(news);
      take(news);
    };
    source.onerror = () => {
      stop();
      lose();
      if (leads) others.postMessage("gone");
      setTimeout(start, pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    };
  };
  const hear = ({ data }) => {
    if (data === "mine") stop();
    else if (data === "gone") lose();
    else {
      if (!data.whole && data.number > known + 1) start();
      else if (!leads) stop();
      take(data);
    }
  };
  setInterval(() => {
    if (over || performance.now() - last < SILENCE) return;
    if (source) onState("silent");
    start();
  }, 1000);
  // A page that is left must not take the end of its stream for that of the runner.
  window.addEventListener("pagehide", stop);
  start();
  if (!others) return;
  others.onmessage = hear;
  navigator.locks.request("news", () => {
    if (over) return null;
    leads = true;
    // The streams of the others may be all that the browser allows.
    if (!source) others.postMessage("mine");
    start();
    return new Promise((resolve) => { leave = resolve; });
  });
}
