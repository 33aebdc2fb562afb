// Sounds, synthesized from tones.

import { isOn } from "./settings.js";

/** Each sound's tones: pitch in hertz, start and length in seconds. */
const SOUNDS = {
  move: [[190, 0, 0.07]],
  mill: [[392, 0, 0.12], [523, 0.1, 0.2]],
  end: [[392, 0, 0.16], [494, 0.15, 0.16], [587, 0.3, 0.4]],
};

let context = null;

/** Plays the sound with a name, if sounds are on. */
export function sound(name) {
  if (!isOn("sound")) return;
  context ||= new AudioContext();
  const now = context.currentTime;
  for (const [pitch, start, length] of SOUNDS[name]) {
    const tone = new OscillatorNode(context, { type: "triangle", frequency: pitch });
    const volume = new GainNode(context, { gain: 0.25 });
    volume.gain.setValueAtTime(0.25, now + start);
    volume.gain.exponentialRampToValueAtTime(0.001, now + start + length);
    tone.connect(volume).connect(context.destination);
    tone.start(now + start);
    tone.stop(now + start + length);
  }
}
