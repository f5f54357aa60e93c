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

  // Copying: what a spreadsheet takes.
  for (const button of document.querySelectorAll(".copy")) {
    const table = button.closest(".block").querySelector("table");
    button.hidden = false;
    button.addEventListener("click", async () => {
      const read = cell => { // as plain text, in which a superscript stands behind ^
        const copy = (cell.querySelector(".sort") ?? cell).cloneNode(true);
        copy.querySelectorAll("sup").forEach(one => one.prepend("^"));
        copy.querySelectorAll("sub").forEach(one => one.prepend("_"));
        return copy.textContent.trim();
      };
      const text = [...table.rows].map(row => [...row.cells].map(read).join("\t")).join("\n");
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        const area = document.createElement("textarea");
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
      }
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  // Sorting: numbers as numbers, words as words, gaps last.
  const compare = (a, b) => {
    if (a === "" || b === "") return a === b ? 0 : a === "" ? Infinity : -Infinity;
    const x = Number(a), y = Number(b);
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
  };
  for (const table of document.querySelectorAll("table.data")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach(head => { // without scripts nothing can be sorted
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "sort", title: head.title });
      button.append(...head.childNodes, Object.assign(document.createElement("span"), { className: "arrow", ariaHidden: "true" }));
      head.removeAttribute("title");
      if (!button.title) button.removeAttribute("title");
      head.append(button);
    });
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      const key = row => row.cells[column].dataset.sort;
      rows.sort((a, b) => {
        const order = compare(key(a), key(b));
        return Math.abs(order) === Infinity ? order : down ? -order : order;
      });
      table.tBodies[0].append(...rows);
    }));
  }

  // One tip says what is pointed at, or focused: a heading, a cell, a curve.
  const tip = document.getElementById("tip");
  const tell = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = `${Math.max(4, Math.min(x, innerWidth - tip.offsetWidth - 4))}px`;
    tip.style.top = `${y + tip.offsetHeight + 4 > innerHeight ? y - tip.offsetHeight - 28 : y}px`;
  };
  const hush = () => { tip.hidden = true; };
  addEventListener("scroll", hush, { capture: true, passive: true });
  for (const one of document.querySelectorAll("main :is(th, td, button)[title]")) {
    one.dataset.tip = one.title; // the browser would show it too, and later
    one.removeAttribute("title");
    const show = () => {
      const box = one.getBoundingClientRect();
      tell(one.dataset.tip, box.left, box.bottom + 4);
    };
    if (one.matches("button")) one.setAttribute("aria-description", one.dataset.tip);
    one.addEventListener("mouseenter", show);
    one.addEventListener("focus", show);
    one.addEventListener("mouseleave", hush);
    one.addEventListener("blur", hush);
  }
})();
