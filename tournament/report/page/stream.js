// A worker with the event stream of a running tournament. All tabs of a browser share it, because a
// browser opens only a few connections to one server.

const ports = [];
/** Longest pause before the stream is opened again, in milliseconds. */
const LONGEST_PAUSE = 10000;
let source = null;
let pause = 1000;
let timer = 0;

/** Opens the stream, whose first event is the whole state; null is sent if the connection fails. */
function open() {
  clearTimeout(timer);
  source?.close();
  source = new EventSource("events");
  source.onmessage = ({ data }) => {
    pause = 1000;
    const event = JSON.parse(data);
    if (event.over) source.close();
    for (const port of ports) port.postMessage(event);
  };
  source.onerror = () => {
    source.close();
    for (const port of ports) port.postMessage(null);
    timer = setTimeout(open, pause);
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  };
}

onconnect = (event) => {
  ports.push(event.ports[0]);
  // The new tab needs the whole state.
  open();
};
