// Requests to the server and its event stream: all that the page knows comes from here.

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
    throw new Error("merels board does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error || `The request failed (${response.status}).`);
  return answer;
}

/**
 * Opens this tab's board: the one from before a reload, or a new one. The answer tells `about` the
 * program, and of the `unfinished` game that could be played on.
 */
export async function open() {
  session = sessionStorage.getItem("board");
  const answer = await api("open");
  session = answer.session;
  sessionStorage.setItem("board", session);
  return answer;
}

/**
 * Listens to events: `on` maps kinds to handlers. A page in the background closes its stream,
 * because browsers allow few connections to one server, and reopens it when shown again.
 */
export function listen(on, onLost) {
  let source = null;
  let failures = 0;
  const start = () => {
    if (source) return;
    source = new EventSource(`events?session=${encodeURIComponent(session)}`);
    source.onopen = () => { failures = 0; onLost(false); };
    source.onerror = () => {
      // A restarted server has a new cookie and a forgotten board is gone: do not retry forever.
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
  // Leaving a page also hides it, before or after. It may still come back from the cache.
  window.addEventListener("pagehide", () => {
    left = true;
    stop();
    const body = JSON.stringify({ session, left });
    navigator.sendBeacon("api/hidden", new Blob([body], { type: "application/json" }));
  });
  window.addEventListener("pageshow", () => { left = false; start(); });
  start();
}
