"use strict";
// A click on a column's name sorts by it: numbers from the largest, text from A, and the
// other way round at the next click.
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement, body = head.closest("table").tBodies[0];
    const number = head.classList.contains("n");
    const before = head.getAttribute("aria-sort");
    const order = before ? (before === "ascending" ? "descending" : "ascending") : number ? "descending" : "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1, at = head.cellIndex;
    const compare = number
      ? (a, b) => a.cells[at].dataset.n - b.cells[at].dataset.n
      : (a, b) => a.cells[at].textContent.localeCompare(b.cells[at].textContent);
    body.append(...[...body.rows].sort((a, b) => sign * compare(a, b)));
  });
}
