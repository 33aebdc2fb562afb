// The event stream. All tabs of a browser share one stream, because a browser opens only a few
// connections to one server.

/** Milliseconds without an event after which the runner counts as stalled. */
const SILENCE = 12000;
/** Longest pause before the stream is opened again, in milliseconds. */
const LONGEST_PAUSE = 10000;

/**
 * Calls `onEvent` with each event; `onEvent` returns true if the event was the last. Calls
 * `onState` with "here" after an event, "silent" after none for `SILENCE`, and "gone" if the
 * connection failed.
 *
 * The tab that holds a lock keeps its stream open and forwards each event to the other tabs. They
 * close their streams when they receive such an event, and open them again if they miss an event
 * or receive none for `SILENCE`.
 */
export function listen(onEvent, onState) {
  const others = navigator.locks ? new BroadcastChannel("news") : null;
  let source = null;
  let leads = false;
  let leave = () => {};
  let over = false;
  /** Number of the last event. */
  let lastNumber = -1;
  let lastHeard = performance.now();
  let pause = 1000;

  const stop = () => { if (source) source.close(); source = null; };

  /** Processes an event: either the `whole` state, or the changes after event `lastNumber`. */
  const take = ({ number, text, whole }) => {
    lastHeard = performance.now();
    onState("here");
    if (!whole && number !== lastNumber + 1) return;
    lastNumber = number;
    if (!onEvent(JSON.parse(text))) return;
    over = true;
    stop();
    leave();
    if (others) others.close();
  };
  const disconnected = () => {
    lastHeard = performance.now();
    onState("gone");
  };
  const start = () => {
    if (source || over) return;
    let whole = true;
    source = new EventSource("news");
    source.onmessage = ({ data, lastEventId }) => {
      const event = { number: Number(lastEventId), text: data, whole };
      whole = false;
      pause = 1000;
      if (leads) others.postMessage(event);
      take(event);
    };
    source.onerror = () => {
      stop();
      disconnected();
      if (leads) others.postMessage("gone");
      setTimeout(start, pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    };
  };
  const receive = ({ data }) => {
    if (data === "close") stop();
    else if (data === "gone") disconnected();
    else {
      if (!data.whole && data.number > lastNumber + 1) start();
      else if (!leads) stop();
      take(data);
    }
  };
  setInterval(() => {
    if (over || performance.now() - lastHeard < SILENCE) return;
    if (source) onState("silent");
    start();
  }, 1000);
  // When the user leaves the page, the browser ends the stream, which must not look like an error.
  window.addEventListener("pagehide", stop);
  start();
  if (!others) return;
  others.onmessage = receive;
  navigator.locks.request("news", () => {
    if (over) return null;
    leads = true;
    // Without a stream, ask the other tabs to close theirs: they may use all connections that the
    // browser allows to one server.
    if (!source) others.postMessage("close");
    start();
    return new Promise((resolve) => { leave = resolve; });
  });
}
