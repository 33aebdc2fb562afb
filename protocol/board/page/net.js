// Requests to the server, and the event stream from it.

import { fromServer, t } from "./text.js";

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
    throw new Error(fromServer(answer.error) || t("trouble.request", { status }));
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

/**
 * Listens to events; `on` maps their kinds to handlers. `onLost` is called with whether the
 * connection is lost. A hidden page closes its stream, because browsers allow few connections to
 * one server, and reopens it when shown again.
 */
export function listen(on, onLost) {
  let source = null;
  let failures = 0;
  const start = () => {
    if (source) return;
    source = new EventSource(`events?session=${encodeURIComponent(session)}`);
    source.onopen = () => { failures = 0; onLost(false); };
    source.onerror = () => {
      // The first retry may succeed; once the server or the board has ended, none does.
      failures += 1;
      if (failures > 1 || source.readyState === EventSource.CLOSED) onLost(true);
    };
    for (const [kind, handler] of Object.entries(on)) {
      source.addEventListener(kind, (event) => handler(JSON.parse(event.data)));
    }
  };
  const stop = () => { if (source) source.close(); source = null; };
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
