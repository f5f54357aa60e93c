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

  // Curves: the p-values of all measures at the pair under the pointer; the legend hides and shows curves.
  for (const figure of document.querySelectorAll("figure.curves")) {
    const data = JSON.parse(figure.querySelector(".curve-data").textContent);
    const svg = figure.querySelector("svg[role=img]"), cursor = svg.querySelector(".cursor"), tip = figure.querySelector(".tip");
    const pairs = data.pairs, last = pairs.length - 1, reach = pairs[last] - pairs[0] || 1, off = new Set();
    let at = 0;
    const left = Number(svg.dataset.left), span = Number(svg.dataset.span);
    const place = position => left + (pairs[position] - pairs[0]) / reach * span;
    const show = position => {
      at = Math.max(0, Math.min(last, position));
      const x = place(at);
      cursor.setAttribute("x1", x); cursor.setAttribute("x2", x); cursor.setAttribute("visibility", "visible");
      const lines = data.lines.filter((_, number) => !off.has(number));
      tip.textContent = [`pair ${pairs[at]}`, ...lines.map(line => `${line.label}: p ${line.p[at]}`)].join("\n");
      tip.hidden = false;
      const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
      const right = x * scale > box.width / 2;
      tip.style.left = right ? "auto" : `${x * scale + 12}px`;
      tip.style.right = right ? `${figure.querySelector(".plot").clientWidth - x * scale + 12}px` : "auto";
    };
    const hide = () => { tip.hidden = true; cursor.setAttribute("visibility", "hidden"); };
    svg.addEventListener("mousemove", event => {
      const box = svg.getBoundingClientRect();
      const wanted = ((event.clientX - box.left) * svg.viewBox.baseVal.width / box.width - left) / span * last;
      show(Math.round(wanted));
    });
    svg.addEventListener("mouseleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", event => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      show(tip.hidden ? 0 : at + step);
    });
    for (const button of figure.querySelectorAll(".toggle")) {
      button.addEventListener("click", () => {
        const number = Number(button.dataset.curve), shown = off.delete(number) || !off.add(number);
        button.setAttribute("aria-pressed", String(shown));
        svg.querySelector(`[data-curve="${number}"]`).style.display = shown ? "" : "none";
      });
    }
  }

  // Heatmaps: what stands behind a number.
  for (const plot of document.querySelectorAll(".scroll.plot")) {
    const tip = plot.querySelector(":scope > .tip");
    for (const cell of plot.querySelectorAll("td[title]")) {
      cell.dataset.tip = cell.title; // the browser would show it too, and later
      cell.removeAttribute("title");
      cell.addEventListener("mouseenter", () => {
        tip.textContent = cell.dataset.tip;
        tip.hidden = false;
        tip.style.left = `${cell.offsetLeft}px`;
        tip.style.top = `${cell.offsetTop + cell.offsetHeight + 4}px`;
      });
      cell.addEventListener("mouseleave", () => { tip.hidden = true; });
    }
  }
})();
