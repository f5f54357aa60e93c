"use strict";
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    try { localStorage.setItem("metaeval-theme", root.dataset.theme); } catch { /* no storage here */ }
  });

  // The contents are folded on a narrow screen.
  document.querySelector(".contents").open = matchMedia("(min-width: 52.01rem)").matches;

  // One collection at a time.
  const parts = [...document.querySelectorAll("[data-collection]")];
  for (const group of document.querySelectorAll(".collections")) {
    const buttons = [...group.querySelectorAll("button")];
    group.hidden = false;
    const choose = button => {
      buttons.forEach(one => one.setAttribute("aria-pressed", String(one === button)));
      document.body.classList.toggle("single", button.dataset.show !== "0");
      parts.forEach(part => part.classList.toggle("off", !["0", part.dataset.collection].includes(button.dataset.show)));
    };
    buttons.forEach(button => button.addEventListener("click", () => choose(button)));
    choose(buttons[0]);
  }
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    const part = target && target.closest(".off");
    if (part) document.querySelector(`.collections [data-show="${part.dataset.collection}"]`).click();
    if (part) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Printing: whatever is folded is opened, and closed again.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not([open])")];
    opened.forEach(one => { one.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach(one => { one.open = false; }));

  // Sorting: numbers as numbers, words as words, gaps last.
  const read = cell => cell.textContent.trim().replace("−", "-").replaceAll(",", "");
  const compare = (a, b) => {
    if (a === "–" || b === "–") return a === b ? 0 : a === "–" ? Infinity : -Infinity;
    const x = parseFloat(a), y = parseFloat(b);
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
  };
  for (const table of document.querySelectorAll(".block:not(.heat) table")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => { // without scripts nothing can be sorted
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "sort" });
      button.append(...head.childNodes, Object.assign(document.createElement("span"), { className: "arrow", ariaHidden: "true" }));
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach(other => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => {
          const order = compare(read(a.cells[column]), read(b.cells[column]));
          return Math.abs(order) === Infinity ? order : down ? -order : order;
        });
        table.tBodies[0].append(...rows);
      });
    });
  }
})();
