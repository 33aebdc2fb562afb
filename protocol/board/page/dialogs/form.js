// Functions shared by the dialogs.

import { $, element } from "../dom.js";

/** Fills a select with [text, value] pairs. */
export function fill(select, choices, chosen) {
  const options = choices.map(([text, value]) => new Option(text, value, false, value === chosen));
  select.replaceChildren(...options);
}

/** Fills a list of terms with [term, text] pairs. */
export function fillTerms(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([term, text]) =>
    [element("dt", {}, term), element("dd", {}, text)]));
}

/** Returns a label and its input, for the two columns of a form. */
export function labelled(text, id, input) {
  input.id = id;
  return [element("label", { for: id }, text), input];
}

/** Sets handlers of an event of elements, by id. */
export function on(event, handlers) {
  for (const [id, handler] of Object.entries(handlers)) $(id).addEventListener(event, handler);
}

/** Fills a group with radio buttons from [text, value] pairs; the first one is checked. */
export function fillRadios(name, choices) {
  $(name).replaceChildren(...choices.map(([text, value]) => {
    const input = element("input", { type: "radio", name, value, id: `${name}-${value}` });
    return element("label", {}, input, element("span", {}, text));
  }));
  $(`${name}-${choices[0][1]}`).checked = true;
}

/** Returns the value of a group of radio buttons. */
export const chosen = (name) => $(name).querySelector(":checked").value;

/** Shows a dialog, with `beside` as a part of the page; resolves with its button's value. */
export function show(name, beside = false) {
  const dialog = $(`${name}-dialog`);
  dialog.ariaLabel = dialog.querySelector("h2").textContent;
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
  return await show("ask") === "yes";
}

/** Makes buttons with a value close their dialog, and Enter in a form press the main button. */
export function prepareDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", ({ target }) => {
      const button = target.closest("button[value]");
      if (button) dialog.close(button.value);
    });
    dialog.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !event.target.matches(".form input")) return;
      // Otherwise the key would also press the button that gets the focus.
      event.preventDefault();
      dialog.querySelector(".main").click();
    });
  }
}

/** Makes the browser download a file. */
export function download(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
