"use strict";
(() => {
  const root = document.documentElement;
  const theme = document.getElementById("theme");
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

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

  // Curves: the p-values of all measures at the pair under the pointer.
  for (const figure of document.querySelectorAll("figure.curves")) {
    const data = JSON.parse(figure.querySelector(".curve-data").textContent);
    const svg = figure.querySelector("svg[role=img]"), cursor = svg.querySelector(".cursor"), tip = figure.querySelector(".tip");
    const last = data.lines[0].p.length - 1;
    let at = 0;
    const show = position => {
      at = Math.max(0, Math.min(last, position));
      const x = data.left + at * data.across;
      cursor.setAttribute("x1", x); cursor.setAttribute("x2", x); cursor.setAttribute("visibility", "visible");
      tip.textContent = [`pair ${data.first + at}`, ...data.lines.map(line => `${line.label}: p ${line.p[at]}`)].join("\n");
      tip.hidden = false;
      const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
      const right = x * scale > box.width / 2;
      tip.style.left = right ? "" : `${x * scale + 12}px`;
      tip.style.right = right ? `${figure.querySelector(".plot").clientWidth - x * scale + 12}px` : "";
    };
    const hide = () => { tip.hidden = true; cursor.setAttribute("visibility", "hidden"); };
    svg.addEventListener("mousemove", event => {
      const box = svg.getBoundingClientRect();
      show(Math.round(((event.clientX - box.left) * svg.viewBox.baseVal.width / box.width - data.left) / data.across));
    });
    svg.addEventListener("mouseleave", hide);
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", event => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      show(tip.hidden ? 0 : at + step);
    });
  }

  // Heatmaps: what stands behind a number.
  for (const plot of document.querySelectorAll(".plot")) {
    const tip = plot.querySelector(":scope > .tip");
    for (const cell of plot.querySelectorAll("td[data-tip]")) {
      if (!cell.dataset.tip) continue;
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
