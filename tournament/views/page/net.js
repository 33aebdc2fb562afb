// The stream of news: it comes back after a break, and notices that the runner is silent or gone.

const SILENCE = 12000;
const LONGEST_PAUSE = 10000;

/**
 * Listens until `onNews` returns true: nothing more will come. `onState` is told "here", "silent"
 * or "gone".
 */
export function listen(onNews, onState) {
  let last = performance.now();
  let pause = 1000;
  let over = false;
  let socket = null;
  const start = () => {
    socket = new WebSocket(`ws://${location.host}/news`);
    socket.onmessage = (event) => {
      last = performance.now();
      pause = 1000;
      onState("here");
      if (onNews(JSON.parse(event.data))) {
        over = true;
        socket.close();
      }
    };
    socket.onclose = () => {
      socket = null;
      if (over) return;
      onState("gone");
      setTimeout(start, pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    };
  };
  setInterval(() => {
    if (!over && socket && performance.now() - last > SILENCE) onState("silent");
  }, 1000);
  start();
}
