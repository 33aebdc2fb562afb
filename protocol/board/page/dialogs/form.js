// Functions shared by the dialogs.

import { $, element } from "../dom.js";

/** Fills a select with [text, value] pairs. */
export function fill(select, choices, chosen) {
  const options = choices.map(([text, value]) => new Option(text, value, false, value === chosen));
  select.replaceChildren(...options);
}

/** Returns a label and its input, for the two columns of a form. */
export function labelled(text, id, input) {
  input.id = id;
  return [element("label", { for: id }, text), input];
}

/** Shows a dialog, with `beside` as a part of the page; resolves with its button's value. */
export function show(dialog, beside = false) {
  dialog.returnValue = "";
  // Unlike the method `show`, the attribute leaves the focus where it is.
  if (beside) dialog.setAttribute("open", "");
  else dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}

/** Runs an action; if it fails, shows the error's message in the element with the id `fault`. */
export async function attempt(fault, action) {
  try {
    await action();
  } catch (error) {
    $(fault).textContent = error.message;
  }
}

/** Asks for confirmation; resolves with true if the user presses the button `yes`. */
export async function ask(question, text, yes, no) {
  $("ask-title").textContent = question;
  $("ask-text").textContent = text;
  $("ask-yes").textContent = yes;
  $("ask-no").textContent = no;
  return await show($("ask-dialog")) === "yes";
}

/** Makes buttons of type "button" with a value close their dialog; Enter does not press them. */
export function closeByButtons() {
  for (const button of document.querySelectorAll("dialog button[type=button][value]")) {
    button.addEventListener("click", () => button.closest("dialog").close(button.value));
  }
}

/** Makes the browser download a file. */
export function download(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
