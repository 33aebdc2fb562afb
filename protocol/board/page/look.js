// Applies the user's theme, colour scheme and numbers of the board, before the page is drawn.

(() => {
  const { dataset } = document.documentElement;
  dataset.theme = localStorage.getItem("theme") || "wood";
  const scheme = localStorage.getItem("scheme");
  if (scheme) dataset.scheme = scheme;
  if (localStorage.getItem("numbers") === "off") dataset.numbers = "off";
})();
