"use strict";
// The page around BlanketsPlan: reads the controls, tells the answer, draws the curves.
(function () {
  const form = document.querySelector(".controls-of-plan");
  if (!form) return;
  const P = BlanketsPlan;
  const at = (id) => document.getElementById("plan-" + id);
  const inputs = [...form.querySelectorAll("input[type=number]")];
  const sliders = [...form.querySelectorAll("input[type=range]")];

  // Python's format(value, ".4g").
  function g(value, digits) {
    if (value === 0) return "0";
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    const power = Number(exponent);
    const bare = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
    if (power < -4 || power >= digits) {
      return bare(mantissa) + "e" + (power < 0 ? "-" : "+") + String(Math.abs(power)).padStart(2, "0");
    }
    return bare(value.toFixed(Math.max(0, digits - 1 - power)));
  }
  const grouped = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
  const cohen = (effect) => Math.sqrt(2 * effect);
  const strength = (effect) => "Cohen's w " + g(cohen(effect), 3) + " (" + g(effect, 4) + " nats)";
  const size = (effect) => (cohen(effect) < 0.1 ? "very small" : cohen(effect) < 0.3 ? "small" : cohen(effect) < 0.5 ? "medium" : "large");

  // ---- controls -------------------------------------------------------------------------------------------------
  function fromSlider(slider, input) {
    const [low, high, t] = [Number(input.min), Number(input.max), slider.value / 1000];
    const value = slider.dataset.scale === "log" ? low * (high / low) ** t : low + (high - low) * t;
    if (input.step === "1") {
      const coarse = value > 100 ? 10 ** (Math.floor(Math.log10(value)) - 1) : 1;
      return String(Math.max(low, Math.min(high, Math.round(value / coarse) * coarse)));
    }
    return String(Number(value.toPrecision(slider.dataset.scale === "log" ? 2 : 3)));
  }

  function toSlider(slider, input) {
    const [low, high, value] = [Number(input.min), Number(input.max), Number(input.value)];
    const t = slider.dataset.scale === "log" ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    slider.value = Math.round(1000 * t);
    slider.setAttribute("aria-valuetext", input.value);
  }

  function visible(q) {
    const wrong = q.regime === "noisy" || q.regime === "predicted";
    const partial = q.regime !== "supervised" && q.regime !== "noisy";
    const byClass = q.regime === "mar-c";
    const prior = (partial && q.regime !== "mcar") || wrong;
    const spread = q.priorKind === "between" || q.priorKind === "beta";
    return {
      effect: q.unknown !== "effect", power: q.unknown !== "power", alpha: true, rows: q.unknown !== "rows",
      labeled: partial && !byClass && q.unknown !== "labeled",
      positives: byClass && q.unknown !== "labeled", negatives: byClass && q.unknown !== "labeled",
      prior: prior && q.priorKind !== "between", low: prior && spread, high: prior && spread, assurance: prior && spread,
      false_positive: wrong, false_negative: wrong, arity: true, strata: true, priorKind: prior && !wrong,
    };
  }

  const PRIOR_IS = { exact: "p(y=1)", below: "p(y=1) at most", above: "p(y=1) at least", between: "p(y=1)", beta: "p(y=1), most likely" };

  function read() {
    const q = { regime: at("regime").value, priorKind: at("priorKind").value };
    const labels = at("unknown").querySelector("option[value=labeled]");
    labels.disabled = q.regime === "supervised" || q.regime === "noisy";
    if (q.regime === "noisy" || q.regime === "predicted") q.priorKind = "exact";
    if (labels.disabled && at("unknown").value === "labeled") at("unknown").value = "rows";
    q.unknown = at("unknown").value;
    for (const input of inputs) q[input.name] = Number(input.value);
    const shown = visible(q);
    for (const block of form.querySelectorAll("[data-control]")) block.hidden = !shown[block.dataset.control];
    at("priorKind").parentElement.hidden = !shown.priorKind;
    form.querySelector("label[for=plan-prior]").textContent = PRIOR_IS[q.priorKind];
    const wrong = inputs.find((input) => shown[input.name] && (input.value === "" || !input.checkValidity()));
    if (wrong) {
      const label = form.querySelector("label[for=" + wrong.id + "]").textContent;
      const whole = wrong.step === "1" ? "a whole number " : "";
      return { q, error: label + " must be " + whole + "between " + wrong.min + " and " + wrong.max + "." };
    }
    if (shown.low && q.low >= q.high) return { q, error: "The range of p(y=1) is empty: its lower end is above the upper one." };
    if (shown.low && shown.prior && !(q.low < q.prior && q.prior < q.high)) {
      return { q, error: "The most likely p(y=1) must lie within its range, and not at an end of it." };
    }
    return { q };
  }

  // ---- words ----------------------------------------------------------------------------------------------------
  function headline(found) {
    const { question: q, answer } = found;
    const asked = {
      rows: "Rows needed", power: "Power", effect: "Smallest effect that is found",
      labeled: found.design.counts[0].toUpperCase() + found.design.counts.slice(1) + " needed",
    }[q.unknown];
    if (answer === null && found.uncertain) {
      return asked + ": out of reach with p(y=1) = " + g(found.prior, 3) + ", the value to plan for at assurance " + g(q.assurance, 6)
        + ". The best power there is " + g(found.power, 3) + ".";
    }
    if (answer === null) return asked + ": out of reach. The best power is " + g(found.power, 3) + ".";
    const words = (value) => (!Number.isFinite(value) ? "out of reach" : q.unknown === "power" ? g(value, 4)
      : q.unknown === "effect" ? strength(value) : String(value));
    if (!found.uncertain) return asked + ": " + words(answer) + ".";
    const [low, middle, high] = found.quantiles.map(words);
    return asked + ": " + words(answer) + ", enough with probability " + g(q.assurance, 6) + " over the prior (median "
      + middle + ", 90% between " + low + " and " + high + ").";
  }

  // The number large, what it is worth after it in smaller type.
  function tell(words) {
    const comma = words.indexOf(", enough");
    const [first, rest] = comma < 0 ? [words, ""] : [words.slice(0, comma), words.slice(comma)];
    const small = document.createElement("span");
    small.className = "plan-worth";
    small.textContent = rest;
    at("answer").replaceChildren(first, small);
  }

  // The sentence of blankets.plan, word for word.
  function sentence(found) {
    const { question: q, design } = found;
    const partial = design.name !== "full";
    const endless = q.unknown === "rows" && found.answer === null;
    const rows = endless ? "However many rows there are" : "With " + found.rows + " rows";
    const labels = partial ? ", of which " + found.labels + " are " + design.counts : "";
    const test = "a test with " + found.dof + " degree" + (found.dof === 1 ? "" : "s") + " of freedom";
    let words = rows + labels + ", and α = " + g(q.alpha, 3) + ", " + test + " finds a dependence of " + strength(found.effect)
      + " with probability " + g(found.power, 4);
    if (!partial && design.prior) {
      words += ". As labels may be wrong, with p(y=1) = " + g(found.prior, 3) + " each row counts as much as κ = "
        + g(found.kappa, 4) + " rows with a right label";
    }
    if (partial) {
      const prior = design.prior ? " with p(y=1) = " + g(found.prior, 3) : "";
      words += ". The test " + design.words + ";" + prior + " each row counts as much as κ = " + g(found.kappa, 4)
        + " rows with full labels";
    }
    return words + ".";
  }

  const TAKEN_TO_HOLD = {
    pu: "Every positive has the same chance to be labeled.",
    "pu-apart": "The labeled positives must be a random sample of all positives, collected apart from the background rows; rows counts both.",
    mcar: "Whether a row is labeled must depend neither on its class nor on its features.",
    "mar-c": "Whether a row is labeled must depend only on its class.",
  };

  function notes(found) {
    const { question: q, design } = found;
    const said = [];
    const used = design.name === "listwise" ? found.labels : found.rows;
    if (used < 5 * found.dof) said.push("Caution: with " + used + " rows for " + found.dof + " degrees of freedom the test would be unreliable (5 rows for each are the rule).");
    if (design.name !== "full" && found.labels < 50) said.push("Caution: with only " + found.labels + " labels the planned power is rough.");
    const [negatives, positives] = [g(q.false_positive, 3), g(q.false_negative, 3)];
    if (q.regime === "noisy") said.push("Labels are wrong in " + negatives + " of the negatives and " + positives + " of the positives, whatever their features.");
    if (q.regime === "predicted") {
      said.push("The machine is wrong in " + negatives + " of the negatives and " + positives + " of the positives, and gold labels are drawn at random.");
      const alone = P.plan({ ...q, regime: "mcar" });
      if (found.answer !== null && alone.answer && (q.unknown === "labeled" || q.unknown === "rows")) {
        const less = alone.answer - found.answer;
        said.push("With gold labels alone: " + grouped(alone.answer) + " " + (q.unknown === "rows" ? "rows" : "gold labels")
          + "; the machine saves " + grouped(less) + " of them, " + Math.round(100 * less / alone.answer) + "%.");
      }
      said.push("Levels are taken to be equally frequent. Simulated tests had this power within 0.05, mostly within 0.02, where the machine errs in ten or more of the gold rows; with fewer errors they mostly had more.");
    }
    if (TAKEN_TO_HOLD[q.regime]) said.push(TAKEN_TO_HOLD[q.regime]);
    if (P.mayBeAtOneLevel(q, design)) said.push("Planned for the worst case, in which one of the " + q.arity + " levels carries the whole effect; shape=\"spread\" in Python plans for effects that are spread over the levels.");
    if (q.unknown === "rows" && design.name !== "full") said.push("As rows are added the labeled share stays the same, not the number of labels.");
    if (design.prior && design.safe && q.priorKind !== "exact") said.push("The safe side is to " + design.safe + " p(y=1): that can cost labels or rows, but no power.");
    said.push("Power is computed from the noncentral chi-square distribution, which is exact in the limit of weak effects and many rows.");
    return said;
  }

  const real = (value) => (Number.isInteger(value) ? value.toFixed(1) : String(value));

  function calls(q) {
    const shown = visible(q);
    const python = [];
    const cli = ["blankets plan"];
    const add = (name, value, text) => { python.push(name + "=" + value); cli.push("--" + (text === undefined ? name + " " + value : text)); };
    if (shown.effect) add("effect", q.effect);
    if (shown.power) add("power", q.power);
    add("alpha", q.alpha);
    add("arity", q.arity);
    if (q.strata > 1) add("strata", q.strata);
    if (shown.rows) add("rows", q.rows);
    const right = (wrong) => real(Number((1 - wrong).toPrecision(12)));
    if (q.regime === "noisy") {
      add("labels", "bl.Noisy(" + q.false_positive + ", " + q.false_negative + ", prior=" + q.prior + ")",
        "labels noisy --false-positive " + q.false_positive + " --false-negative " + q.false_negative + " --prior " + q.prior);
    } else if (q.regime === "predicted") {
      const both = [right(q.false_negative), right(q.false_positive)];
      add("labels", "bl.Predicted(accuracy=(" + both.join(", ") + "), prior=" + q.prior + ")",
        "labels predicted --accuracy " + both.join(",") + " --prior " + q.prior);
    } else if (q.regime !== "supervised") {
      const labels = q.regime === "pu-apart" ? "pu" : q.regime;
      add("labels", '"' + labels + '"', "labels " + labels);
      if (q.regime === "pu-apart") add("sampling", '"case-control"', "sampling case-control");
    }
    if (shown.labeled) add("labeled", real(q.labeled));
    if (shown.positives) {
      add("labeled", '{"positives": ' + real(q.positives) + ', "negatives": ' + real(q.negatives) + "}",
        "labeled positives=" + real(q.positives) + ",negatives=" + real(q.negatives));
    }
    if (shown.priorKind) {
      const beta = "Beta(mode=" + q.prior + ", low=" + q.low + ", high=" + q.high + ")";
      add("prior", ...{
        exact: [q.prior],
        below: ['"<' + q.prior + '"', "prior '<" + q.prior + "'"],
        above: ['">' + q.prior + '"', "prior '>" + q.prior + "'"],
        between: ["(" + q.low + ", " + q.high + ")", "prior " + q.low + "-" + q.high],
        beta: ["bl." + beta, "prior '" + beta + "'"],
      }[q.priorKind]);
    }
    if (shown.assurance) add("assurance", q.assurance);
    return { python: "import blankets as bl\nbl.plan(" + python.join(", ") + ")", cli };
  }

  // ---- curves ---------------------------------------------------------------------------------------------------
  const SVG = "http://www.w3.org/2000/svg";
  const BOX = { left: 52, right: 348, top: 12, bottom: 196 };

  function draw(svg, name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    svg.append(made);
    return made;
  }

  function short(value) {
    if (value >= 1e6) return g(value / 1e6, 3) + "M";
    if (value >= 1e4) return g(value / 1e3, 3) + "k";
    return value >= 100 ? grouped(value) : g(value, 2);
  }

  function ticks(low, high, log) {
    if (log) {
      const found = [];
      for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++) {
        for (const m of high / low > 1e3 ? [1] : [1, 3]) found.push(m * 10 ** e);
      }
      return found.filter((v) => v >= low * 0.999 && v <= high * 1.001);
    }
    const rough = (high - low) / 4;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * unit).find((s) => s >= rough);
    const found = [];
    for (let v = Math.ceil(low / step) * step; v <= high * 1.0001; v += step) found.push(v);
    return found;
  }

  // points: [{x, y, band}], here: {x, y}; axes: {x: {log, name}, y: {log, name, low, high}, goal}.
  function chart(id, points, here, axes, title) {
    const svg = at(id);
    svg.replaceChildren();
    at(id + "-title").textContent = title;
    const known = points.filter((p) => Number.isFinite(p.y) && Number.isFinite(p.x));
    if (!known.length) { svg.setAttribute("aria-label", "No curve: the goal is out of reach everywhere."); return; }
    const xs = points.map((p) => p.x);
    const ys = known.map((p) => p.y);
    const [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    let [y0, y1] = [axes.y.low === undefined ? Math.min(...ys) : axes.y.low, axes.y.high === undefined ? Math.max(...ys) : axes.y.high];
    if (y0 === y1) { y0 /= 2; y1 *= 2; }
    const along = (v, low, high, log) => (log ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low));
    const X = (v) => BOX.left + (BOX.right - BOX.left) * along(v, x0, x1, axes.x.log);
    const Y = (v) => BOX.bottom - (BOX.bottom - BOX.top) * along(v, y0, y1, axes.y.log);
    for (const v of ticks(y0, y1, axes.y.log)) {
      draw(svg, "line", { x1: BOX.left, x2: BOX.right, y1: Y(v), y2: Y(v), class: "grid" });
      draw(svg, "text", { x: BOX.left - 6, y: Y(v) + 4, "text-anchor": "end" }, short(v));
    }
    let last = -Infinity;
    for (const v of ticks(x0, x1, axes.x.log)) {
      if (X(v) - last < 40 || X(v) > BOX.right - 4) continue;
      last = X(v);
      draw(svg, "text", { x: X(v), y: BOX.bottom + 16, "text-anchor": "middle" }, short(v));
      draw(svg, "line", { x1: X(v), x2: X(v), y1: BOX.bottom, y2: BOX.bottom + 4, class: "axis" });
    }
    draw(svg, "path", { d: "M" + BOX.left + "," + BOX.top + " V" + BOX.bottom + " H" + BOX.right, class: "axis" });
    draw(svg, "text", { x: (BOX.left + BOX.right) / 2, y: 232, "text-anchor": "middle" }, axes.x.name);
    if (known[0].band) {
      const edge = (side, list) => list.map((p) => X(p.x).toFixed(1) + "," + Y(p.band[side]).toFixed(1)).join(" L");
      draw(svg, "path", { d: "M" + edge(0, known) + " L" + edge(1, [...known].reverse()) + " z", class: "band" });
    }
    if (axes.goal !== undefined) draw(svg, "line", { x1: BOX.left, x2: BOX.right, y1: Y(axes.goal), y2: Y(axes.goal), class: "goal" });
    draw(svg, "path", { d: "M" + known.map((p) => X(p.x).toFixed(1) + "," + Y(p.y).toFixed(1)).join(" L"), class: "curve" });
    if (here && here.y >= y0 * 0.999 && here.y <= y1 * 1.001) {
      draw(svg, "circle", { cx: X(here.x), cy: Y(here.y), r: 6, class: "here" });
      const right = X(here.x) > 250;
      const below = Y(here.y) < 40;
      draw(svg, "text", { x: X(here.x) + (right ? -10 : 10), y: Y(here.y) + (below ? 20 : -8), "text-anchor": right ? "end" : "start", class: "here-word" }, here.word);
    }
    svg.setAttribute("aria-label", title + ": " + axes.y.name + " from " + short(ys[0]) + " to " + short(ys[ys.length - 1])
      + " as " + axes.x.name + " go from " + short(x0) + " to " + short(x1) + ".");
  }

  function spread(low, high, n, whole) {
    const values = Array.from({ length: n }, (_, i) => low + (high - low) * i / (n - 1));
    return whole ? [...new Set(values.map(Math.round))] : values;
  }

  function powerChart(found) {
    const q = found.question;
    const over = q.unknown === "labeled" ? "labels" : "rows";
    const center = over === "rows" ? (found.answer === null ? 1000 : found.rows) : found.labels;
    const most = over === "rows" ? Infinity : Math.floor(P.possibleShare(found.design, found.prior) * found.rows + 1e-9);
    const values = spread(Math.max(1, Math.floor(center / 10)), Math.min(2 * center, most), 60, true);
    const points = P.powerCurve(found, over, values).map((p) => ({ x: p.value, y: p.power, band: p.band }));
    const here = { x: center, y: found.power, word: grouped(center) };
    const name = over === "rows" ? "rows" : found.design.counts;
    const goal = q.unknown === "power" ? undefined : q.power;
    chart("curve", points, found.answer === null ? null : here, { x: { name }, y: { name: "power", low: 0, high: 1 }, goal }, "Power by " + name);
  }

  function effectChart(found) {
    const q = found.question;
    const log = (low, high, n) => Array.from({ length: n }, (_, i) => low * (high / low) ** (i / (n - 1)));
    const answerAt = (change) => { const f = P.plan({ ...q, ...change }); return f.error || f.answer === null ? NaN : f.answer; };
    if (q.unknown === "effect") {
      const points = log(Math.max(10, q.rows / 30), q.rows * 30, 40).map((rows) => ({ x: Math.round(rows), y: answerAt({ rows: Math.round(rows) }) }));
      const here = { x: q.rows, y: found.answer, word: found.answer === null ? "" : g(found.answer, 2) };
      chart("effects", points, here, { x: { name: "rows", log: true }, y: { name: "smallest effect", log: true } }, "Smallest effect found, by rows");
      return;
    }
    const points = log(q.effect / 10, Math.min(q.effect * 10, 0.69), 40).map((effect) => ({ x: effect, y: answerAt({ effect }) }));
    const power = q.unknown === "power";
    const what = power ? "Power" : q.unknown === "rows" ? "Rows needed" : "Labels needed";
    const here = { x: q.effect, y: found.answer, word: found.answer === null ? "" : power ? g(found.answer, 3) : grouped(found.answer) };
    const y = power ? { name: "power", low: 0, high: 1 } : { name: what.toLowerCase(), log: true };
    chart("effects", points, here, { x: { name: "effect", log: true }, y }, what + ", by effect");
  }

  // ---- all together ---------------------------------------------------------------------------------------------
  function update() {
    const { q, error } = read();
    const found = error ? { error } : P.plan(q);
    form.querySelector("[data-word=effect]").textContent = " " + size(q.effect) + ", Cohen's w " + g(cohen(q.effect), 2);
    at("notes").replaceChildren();
    if (found.error) {
      tell(found.error);
      for (const id of ["sentence", "python", "cli", "curve-title", "effects-title"]) at(id).textContent = "";
      for (const id of ["curve", "effects"]) at(id).replaceChildren();
      return;
    }
    tell(headline(found));
    at("sentence").textContent = sentence(found);
    for (const note of notes(found)) {
      const item = document.createElement("li");
      item.textContent = note;
      at("notes").append(item);
    }
    const { python, cli } = calls(q);
    at("python").textContent = python;
    // A line may break between options, not within one.
    at("cli").replaceChildren();
    cli.forEach((part, i) => {
      const together = document.createElement("span");
      together.className = "together";
      together.textContent = part;
      at("cli").append(i ? " " : "", together);
    });
    powerChart(found);
    effectChart(found);
  }

  for (const slider of sliders) {
    const input = at(slider.dataset.of);
    toSlider(slider, input);
    slider.addEventListener("input", () => {
      input.value = fromSlider(slider, input);
      slider.setAttribute("aria-valuetext", input.value);
      update();
    });
    input.addEventListener("input", () => { if (input.checkValidity() && input.value) toSlider(slider, input); update(); });
  }
  for (const select of form.querySelectorAll("select")) select.addEventListener("change", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      const range = document.createRange();
      range.selectNodeContents(source);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      const words = button.textContent;
      // Where a page may not write to the clipboard the text is at least selected.
      try { await navigator.clipboard.writeText(source.textContent); button.textContent = "Copied"; } catch { button.textContent = "Selected"; }
      setTimeout(() => { button.textContent = words; }, 1500);
    });
  }
  update();
})();
