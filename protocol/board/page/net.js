// Requests to the server, and the event stream from it.

import { sentenceFrom, t } from "./text.js";

let session = null;

/** Sends a request and returns its answer; throws an Error with the server's message. */
export async function api(action, body = {}) {
  let response;
  try {
    response = await fetch(`api/${action}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ session, ...body }),
    });
  } catch {
    throw new Error(t("trouble.silent"));
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    const { status } = response;
    throw new Error(sentenceFrom(answer.error) || t("trouble.request", { status }));
  }
  return answer;
}

/**
 * Opens this tab's board: after a reload the previous one, otherwise a new one. The answer has the
 * constants `about`, a `warning`, and the `unfinished` game that can be resumed, or null.
 */
export async function open() {
  session = sessionStorage.getItem("board");
  const answer = await api("open");
  session = answer.session;
  sessionStorage.setItem("board", session);
  return answer;
}

/** Milliseconds between two attempts to reach a lost server. */
const RETRY_TIME = 2000;

/**
 * Reconnects when the server is back: to this tab's board, or after a restart with the game that
 * was played, which is stored; then the page is reloaded. Returns whether this tab has its board.
 */
async function reconnect(isPlaying) {
  const before = session;
  try {
    const { unfinished } = await open();
    if (session === before) return true;
    if (unfinished && isPlaying()) await api("reopen", { key: unfinished.key });
    window.location.reload();
  } catch {
    // Not yet.
  }
  return false;
}

/**
 * Listens to events; `on` maps their kinds to handlers. `onLost` is called with whether the
 * connection is lost. After a loss, the page tries again until the server is back; `isPlaying`
 * returns whether a game was being played. A hidden page closes its stream, because browsers allow
 * few connections to one server, and reopens it when shown again.
 */
export function listen(on, onLost, isPlaying) {
  let source = null;
  let failures = 0;
  let timer = null;
  const retry = async () => {
    if (source && await reconnect(isPlaying)) {
      stop();
      start();
    } else if (source) timer = setTimeout(retry, RETRY_TIME);
  };
  const start = () => {
    if (source) return;
    source = new EventSource(`events?session=${encodeURIComponent(session)}`);
    source.onopen = () => { failures = 0; onLost(false); };
    source.onerror = () => {
      // The browser's own first retry may succeed.
      failures += 1;
      if (failures < 2 && source.readyState !== EventSource.CLOSED) return;
      source.close();
      onLost(true);
      timer = setTimeout(retry, RETRY_TIME);
    };
    for (const [kind, handler] of Object.entries(on)) {
      source.addEventListener(kind, (event) => handler(JSON.parse(event.data)));
    }
  };
  const stop = () => {
    if (source) source.close();
    source = null;
    failures = 0;
    clearTimeout(timer);
  };
  let left = false;
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) start();
    else if (!left) api("hidden").then(() => { if (document.hidden) stop(); }).catch(() => {});
  });
  // `pagehide` comes before or after the page is hidden. The browser's cache may restore the page.
  window.addEventListener("pagehide", () => {
    left = true;
    stop();
    const body = JSON.stringify({ session, left });
    navigator.sendBeacon("api/hidden", new Blob([body], { type: "application/json" }));
  });
  window.addEventListener("pageshow", () => { left = false; start(); });
  start();
}
