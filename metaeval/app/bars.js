// Bars that can be dragged by their tops, or changed with the arrow keys. What changes is told to the server.
const near = (values) => values.flat(2).map((value) => value.toFixed(6)).join();
const element = (name, className, text) => Object.assign(document.createElement(name), { className, textContent: text ?? "" });

class Bars {
  constructor(root) {
    this.root = root;
    this.sent = []; // what the server has been told and has not sent back yet
    root.addEventListener("keydown", (event) => this.press(event));
    root.addEventListener("pointerdown", (event) => this.grasp(event));
    root.addEventListener("pointermove", (event) => this.drag(event));
    for (const end of ["pointerup", "pointercancel"]) root.addEventListener(end, () => this.drop());
  }

  take(data, tell) {
    this.tell = tell;
    const answered = this.sent.indexOf(near(data.values));
    this.sent.splice(0, answered + 1);
    const shape = JSON.stringify({ ...data, values: data.values.map((panel) => panel.map((row) => row.length)) });
    // An answer to what was done here, or the same picture again while a bar is held: newer changes stay.
    const known = answered >= 0 || (this.held && !this.sent.length && near(data.values) === this.taken);
    this.taken = near(data.values);
    if (known && shape === this.shape) return;
    this.values = data.values;
    this.sent = [];
    this.held = null;
    if (shape !== this.shape) this.build(data);
    this.shape = shape;
    this.draw();
  }

  build(data) {
    this.data = data;
    this.root.style = data.style;
    this.slots = data.values.map(() => []);
    const width = Math.max(8, 1.4 * data.series.length * data.classes.length);
    const legend = element("ul", "legend");
    if (data.series.length > 1) data.series.forEach((name, row) => legend.append(element("li", `s${data.colours[row]}`, name)));
    const panels = element("div", "panels");
    panels.style.setProperty("--width", `${width}rem`);
    data.panels.forEach((title, panel) => {
      const group = element("div", "panel");
      const plot = element("div", "plot");
      group.append(element("p", "title", title), plot);
      data.classes.forEach((name, column) => {
        const part = element("div", data.right && panel === column ? "class right" : "class");
        const slots = element("div", "slots");
        data.series.forEach((series, row) => {
          const slot = element("div", `slot s${data.colours[row]}`);
          slot.append(element("span", "number"), element("div", "fill"));
          slot.setAttribute("role", "slider");
          slot.setAttribute("aria-orientation", "vertical");
          slot.setAttribute("aria-label", [series, title, name].filter(Boolean).join(", "));
          slot.tabIndex = row || column ? -1 : 0; // one stop a panel; left and right go from bar to bar
          slot.place = [panel, row, column];
          this.slots[panel].push(slot);
          slots.append(slot);
        });
        part.append(slots, element("span", "name", name));
        plot.append(part);
      });
      panels.append(group);
    });
    this.root.replaceChildren(legend, panels);
  }

  draw() {
    this.values.forEach((panel, number) => {
      const total = this.data.fixed ? Math.max(...panel.map((row) => row.reduce((sum, value) => sum + value, 0))) : Infinity;
      if (!this.held) this.tops = Object.assign(this.tops ?? {}, { [number]: Math.min(total, 1.3 * Math.max(...panel.flat())) || 1 });
      for (const slot of this.slots[number]) {
        const value = panel[slot.place[1]][slot.place[2]];
        const text = String(+value.toFixed(this.data.digits));
        slot.setAttribute("aria-valuemin", 0);
        slot.setAttribute("aria-valuemax", Number.isFinite(total) ? +total.toFixed(6) : 1e6);
        slot.setAttribute("aria-valuenow", text);
        slot.firstChild.textContent = text;
        slot.style.setProperty("--height", `${Math.min(100, (100 * value) / this.tops[number])}%`);
      }
    });
  }

  // What a bar gains, the largest other bars of its row lose, and the other way round, if the row has a fixed sum.
  change([panel, row, column], to, before) {
    const values = [...before[panel][row]];
    const total = this.data.fixed ? values.reduce((sum, value) => sum + value, 0) : 1e6;
    const { step } = this.data;
    const next = Math.min(total, Math.max(0, Math.round(to / step) * step));
    const others = values.map((_, other) => other).filter((other) => other !== column);
    others.sort((one, other) => values[other] - values[one] || Math.abs(one - column) - Math.abs(other - column));
    let gained = next - values[column];
    values[column] = next;
    for (const other of this.data.fixed ? others : []) {
      const lost = Math.min(values[other], gained);
      values[other] = +(values[other] - lost).toFixed(9);
      gained -= lost;
    }
    this.values = before.map((rows, p) => rows.map((old, r) => (p === panel && r === row ? values : old)));
    this.draw();
  }

  send() {
    clearTimeout(this.waiting);
    this.waiting = null;
    this.sent.push(near(this.values));
    this.tell("edit", this.values);
  }

  press(event) {
    const slot = event.target.closest(".slot");
    if (!slot) return;
    const [panel, row, column] = slot.place;
    const slots = this.slots[panel];
    const aside = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const value = this.values[panel][row][column];
    const { step } = this.data;
    const to = { ArrowUp: value + step, ArrowDown: value - step, PageUp: value + 10 * step, PageDown: value - 10 * step, Home: 0 }[event.key];
    if (aside) {
      const next = slots[(slots.indexOf(slot) + aside + slots.length) % slots.length];
      slot.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    } else if (to !== undefined) {
      this.change(slot.place, to, this.values);
      this.send();
    } else return;
    event.preventDefault();
  }

  grasp(event) {
    const slot = event.target.closest(".slot");
    // A finger takes a bar by its top: elsewhere it scrolls the page.
    if (!slot || event.button || (event.pointerType === "touch" && !event.target.closest(".number"))) return;
    slot.setPointerCapture(event.pointerId);
    slot.focus();
    // Grasped by its number, a bar keeps its distance to the pointer; elsewhere its top jumps there.
    const byTop = event.target.closest(".number");
    const [panel, row, column] = slot.place;
    this.held = { slot, before: this.values, apart: byTop ? this.find(event, slot) - this.values[panel][row][column] : 0 };
    if (!byTop) this.drag(event);
    event.preventDefault();
  }

  find(event, slot) {
    const { bottom, height } = slot.getBoundingClientRect();
    return ((bottom - event.clientY) / height) * this.tops[slot.place[0]];
  }

  drag(event) {
    if (!this.held) return;
    const { slot, before, apart } = this.held;
    const shown = this.values;
    this.change(slot.place, this.find(event, slot) - apart, before);
    if (near(shown) !== near(this.values)) this.waiting ??= setTimeout(() => this.send(), 100);
  }

  drop() {
    if (!this.held) return;
    this.held = null;
    if (this.waiting) this.send();
    this.draw();
  }
}

export default ({ data, parentElement, setTriggerValue }) => {
  const root = parentElement.querySelector(".bars");
  root.bars ??= new Bars(root);
  root.bars.take(JSON.parse(data.bars), setTriggerValue);
};
