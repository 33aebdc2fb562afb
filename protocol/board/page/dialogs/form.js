// Functions that the dialogs share.

import { $, element } from "../dom.js";

/** Fills a select with [text, value] pairs. */
export function fill(select, choices, chosen) {
  const options = choices.map(([text, value]) => new Option(text, value, false, value === chosen));
  select.replaceChildren(...options);
}

/** An input with its label, for the two columns of a form. */
export function labelled(text, id, input) {
  input.id = id;
  return [element("label", { for: id }, text), input];
}

/** A field's value as the protocol writes it. */
export function valueOf(input) {
  return input.type === "checkbox" ? String(input.checked) : input.value;
}

/** Shows a dialog and resolves with the value of the button that closed it. */
export function show(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}

/** Asks before something is lost; resolves with true if the answer is the button `yes`. */
export async function ask(question, text, yes, no) {
  $("ask-title").textContent = question;
  $("ask-text").textContent = text;
  $("ask-yes").textContent = yes;
  $("ask-no").textContent = no;
  return await show($("ask-dialog")) === "yes";
}

/** Has the buttons that are not the one Enter presses close their dialogs. */
export function closeByButtons() {
  for (const button of document.querySelectorAll("dialog button[type=button][value]")) {
    button.addEventListener("click", () => button.closest("dialog").close(button.value));
  }
}

/** Has the browser save a file. */
export function download(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
