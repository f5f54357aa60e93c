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

  // Curves: the one nearest to the pointer stands out and says its name.
  const readPoints = curve => {
    const line = [...curve.querySelectorAll("polyline")].at(-1);
    return line.getAttribute("points").split(" ").map(point => point.split(",").map(Number));
  };
  const measureDistance = (points, x, y) => Math.min(...points.map(([a, b], k) => {
    const [c, d] = points[k + 1] ?? [a, b], length = (c - a) ** 2 + (d - b) ** 2;
    const share = length ? Math.max(0, Math.min(1, ((x - a) * (c - a) + (y - b) * (d - b)) / length)) : 0;
    return Math.hypot(x - a - share * (c - a), y - b - share * (d - b));
  }));
  for (const svg of document.querySelectorAll("svg[role=img]:has([data-curve])")) {
    const curves = [...svg.querySelectorAll("[data-curve]")].map(group => ({
      group, points: readPoints(group), name: group.querySelector("title").textContent, number: Number(group.dataset.curve),
    }));
    const figure = svg.closest("figure.curves"), cursor = svg.querySelector(".cursor");
    const data = figure && JSON.parse(figure.querySelector(".curve-data").textContent);
    const left = Number(svg.dataset.left), span = Number(svg.dataset.span);
    const pairs = data?.pairs, last = data ? pairs.length - 1 : 0, reach = data ? pairs[last] - pairs[0] || 1 : 1;
    let at = 0, near = null;
    for (const title of svg.querySelectorAll("title")) title.remove(); // the tip says it
    const seen = curve => curve.group.style.display !== "none";
    const choose = curve => {
      near?.group.classList.remove("near");
      near = curve;
      near?.group.classList.add("near");
    };
    // What the tip says: the name, or the p-values at one pair of this curve and of the new measures.
    const read = position => {
      at = Math.max(0, Math.min(last, position));
      const x = left + (pairs[at] - pairs[0]) / reach * span;
      cursor.setAttribute("x1", x); cursor.setAttribute("x2", x); cursor.setAttribute("visibility", "visible");
      const lines = data.lines.filter((line, number) => (line.strong || number === near?.number) && seen(curves.find(one => one.number === number)));
      return [`pair ${pairs[at]}`, ...lines.map(line => `${line.label}: p ${line.p[at]}`)].join("\n");
    };
    const hide = () => { hush(); choose(null); cursor.setAttribute("visibility", "hidden"); };
    svg.addEventListener("mousemove", event => {
      const box = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / box.width;
      const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
      const [distance, curve] = curves.filter(seen).map(one => [measureDistance(one.points, x, y), one])
        .reduce((a, b) => b[0] < a[0] ? b : a, [Infinity, null]);
      choose(distance < 40 ? curve : null);
      if (data) tell(read(Math.round((x - left) / span * last)), event.clientX + 14, event.clientY + 18);
      else if (near) tell(near.name, event.clientX + 14, event.clientY + 18);
      else hush();
    });
    svg.addEventListener("mouseleave", hide);
    if (!data) continue;
    svg.setAttribute("tabindex", "0");
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", event => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      const other = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (step === undefined && other === undefined) return;
      event.preventDefault();
      const shown = data.lines.map((_, number) => curves.find(one => one.number === number)).filter(seen);
      if (other) choose(shown[(shown.indexOf(near) + other + shown.length) % shown.length]);
      const box = svg.getBoundingClientRect();
      tell(read(step === undefined ? at : tip.hidden ? 0 : at + step), box.left + 60, box.top + 12);
    });
    for (const button of figure.querySelectorAll(".toggle")) {
      const curve = curves.find(one => one.number === Number(button.dataset.curve));
      button.addEventListener("click", () => {
        const shown = curve.group.style.display === "none";
        button.setAttribute("aria-pressed", String(shown));
        curve.group.style.display = shown ? "" : "none";
      });
      button.addEventListener("mouseenter", () => choose(curve));
      button.addEventListener("mouseleave", () => choose(null));
    }
  }
})();
