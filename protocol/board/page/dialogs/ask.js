// A question that is asked before something is lost.

import { $ } from "../dom.js";
import { show } from "./form.js";

/** Asks; resolves with true if the answer is the button `yes`. */
export async function ask(question, text, yes, no) {
  $("ask-title").textContent = question;
  $("ask-text").textContent = text;
  $("ask-yes").textContent = yes;
  $("ask-no").textContent = no;
  return await show($("ask-dialog")) === "yes";
}
