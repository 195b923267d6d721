"use strict";
// Everything that comes from data is set as text, never as HTML.
(function () {
  const known = JSON.parse(document.getElementById("report-data").textContent);
  const rows = known.trail;

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function lines(sentences) {
    const list = element("ul");
    for (const sentence of sentences) list.append(element("li", "", sentence));
    return list;
  }

  // The list of columns: a page of rows at a time, so that thousands of them stay fast.
  const PAGE = 50;
  const list = document.getElementById("columns");
  const find = document.getElementById("find");
  const which = document.getElementById("which");
  const more = document.getElementById("more");
  const count = document.getElementById("count");
  const keys = rows.map((row) => row.name.toLowerCase());
  let found = [];
  let shown = 0;

  function item(row) {
    const summary = element("summary");
    summary.append(element("span", "name", row.name));
    const verdict = { member: "in the blanket", "left out": "left out", undecided: "undecided", excluded: "not searched" }[row.verdict];
    summary.append(element("span", "chip " + row.verdict.replace(" ", "-"), verdict));
    summary.append(element("span", "why", row.short));
    const details = element("details");
    details.append(summary);
    // The reasons are made when they are asked for.
    details.addEventListener("toggle", () => {
      if (details.open && details.childElementCount === 1) details.append(lines(row.lines));
    });
    const made = element("li");
    made.append(details);
    return made;
  }

  function showPage() {
    list.append(...found.slice(shown, shown + PAGE).map((i) => item(rows[i])));
    shown = Math.min(shown + PAGE, found.length);
    more.hidden = shown === found.length;
    const columns = found.length === 1 ? "column" : "columns";
    count.textContent = found.length
      ? (shown < found.length ? shown + " of " : "") + found.length + " " + columns
      : "No column has such a name.";
  }

  function search() {
    const wanted = find.value.trim().toLowerCase();
    found = [];
    for (let i = 0; i < rows.length; i++) {
      if (keys[i].includes(wanted) && (!which.value || rows[i].verdict === which.value)) found.push(i);
    }
    // A name that begins with, or is, what was typed comes first; otherwise the order stays.
    if (wanted) {
      const rank = (i) => (keys[i] === wanted ? 0 : keys[i].startsWith(wanted) ? 1 : 2);
      found.sort((a, b) => rank(a) - rank(b));
    }
    list.replaceChildren();
    shown = 0;
    showPage();
    if (wanted && found.length === 1) list.querySelector("details").open = true;
  }

  find.addEventListener("input", search);
  which.addEventListener("change", search);
  more.addEventListener("click", showPage);
  search();

  // Paper cannot be unfolded: what is folded, except the reasons of single columns, is printed open.
  let unfolded = [];
  addEventListener("beforeprint", () => {
    unfolded = [...document.querySelectorAll("details:not([open])")].filter((d) => !list.contains(d));
    for (const details of unfolded) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of unfolded) details.open = false; });

  // The graph: pointing at a box, or reaching it with the keyboard, tells the decisive test.
  const card = document.getElementById("card");
  if (!card) return;

  function tell(index) {
    const box = known.boxes[index];
    // Members stand in the same order in the list of columns; the target and latents are not in it.
    const row = box.role === "target" ? { name: box.label, short: "the target", lines: [known.target] }
      : box.lines ? { name: box.label, short: box.words, lines: box.lines } : rows[index - 1];
    card.replaceChildren(element("h3", "", row.name), element("p", "hint", row.short), lines(row.lines));
  }

  tell(known.boxes.length > 1 ? 1 : 0);
  for (const svg of document.querySelectorAll("svg.graph")) {
    const boxes = [...svg.querySelectorAll(".box")];
    const edges = [...svg.querySelectorAll(".line")];

    const light = (index) => {
      svg.classList.toggle("busy", index !== null && known.boxes[index].role !== "target");
      for (const edge of edges) {
        edge.classList.toggle("lit", edge.dataset.start === String(index) || edge.dataset.end === String(index));
      }
    };
    for (const box of boxes) {
      const index = Number(box.dataset.box);
      const on = () => { light(index); tell(index); };
      box.addEventListener("pointerenter", on);
      box.addEventListener("focus", on);
      box.addEventListener("click", on);
      box.addEventListener("pointerleave", () => light(null));
      box.addEventListener("blur", () => light(null));
      box.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); on(); }
      });
    }
  }
})();
