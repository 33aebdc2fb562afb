// Requests to the server and the stream of its news. Everything the page knows comes through here.

let session = null;

/** Sends a request and gives its answer; throws an Error with the server's own words. */
export async function api(action, body = {}) {
  let response;
  try {
    response = await fetch(`api/${action}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ session, ...body }),
    });
  } catch {
    throw new Error("The board's program does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error || `The request failed (${response.status}).`);
  return answer;
}

/** Opens this tab's board: the one it had before it was reloaded, or a new one. */
export async function open() {
  session = sessionStorage.getItem("board");
  const answer = await api("open");
  session = answer.session;
  sessionStorage.setItem("board", session);
  return answer.about;
}

/**
 * Listens to news: `on` maps kinds to handlers. A page in the background lets go of its stream,
 * for a browser allows few connections to one server, and takes it up when it is looked at again.
 */
export function listen(on, onLost) {
  let source = null;
  let failures = 0;
  const start = () => {
    if (source) return;
    source = new EventSource(`events?session=${encodeURIComponent(session)}`);
    source.onopen = () => { failures = 0; onLost(false); };
    source.onerror = () => {
      // A restarted server has another token, and a forgotten board is gone: say so, do not spin.
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
  // A page that is left is hidden, too, before or after. It may still come back from the cache.
  window.addEventListener("pagehide", () => {
    left = true;
    stop();
    const body = JSON.stringify({ session, left });
    navigator.sendBeacon("api/hidden", new Blob([body], { type: "application/json" }));
  });
  window.addEventListener("pageshow", () => { left = false; start(); });
  start();
}
