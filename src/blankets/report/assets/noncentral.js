"use strict";
// Power of chi-square tests and what follows from it: the arithmetic of blankets.plan, for a page without a server.
// Python is the reference; tests hold that tails agree with SciPy's to 1e-9 and whole numbers with blankets.plan.
var BlanketsPlan = (function () {
  const MOST_ROWS = 2 ** 50;
  const COHEN = { small: 0.005, medium: 0.045, large: 0.125 };

  // x log(x/m) + m - x without cancellation (Loader 2000).
  function deviance(x, m) {
    const d = (x - m) / (x + m);
    if (Math.abs(d) >= 0.1) return x * Math.log(x / m) + m - x;
    let sum = (x - m) * d;
    let term = 2 * x * d;
    for (let j = 1; j < 1000; j++) {
      term *= d * d;
      const next = sum + term / (2 * j + 1);
      if (next === sum) break;
      sum = next;
    }
    return sum;
  }

  // ln Γ(n+1) less Stirling's formula, for n >= 16.
  function stirlingError(n) {
    const n2 = n * n;
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / n2) / n2) / n2) / n2) / n;
  }

  // x^a e^-x / Γ(a+1) for whole and half a >= -1/2: a Poisson probability where a is whole.
  function poisson(a, x) {
    if (x === 0) return a === 0 ? 1 : 0;
    if (a >= 16) return Math.exp(-stirlingError(a) - deviance(a, x)) / Math.sqrt(2 * Math.PI * a);
    let gamma = Number.isInteger(a) ? 1 : Math.sqrt(Math.PI);
    for (let k = a; k > 0; k--) gamma *= k;
    return Math.exp(a * Math.log(x) - x) / gamma;
  }

  // Upper regularised incomplete gamma function Q(a, x).
  function upperGamma(a, x) {
    if (x <= 0) return 1;
    if (x < a + 1) {
      let sum = 1;
      let term = 1;
      for (let k = 1; term > sum * 1e-17; k++) {
        term *= x / (a + k);
        sum += term;
      }
      return 1 - poisson(a, x) * sum;
    }
    let b = x + 1 - a;
    let c = 1e300;
    let d = 1 / b;
    let h = d;
    for (let i = 1; i < 100000; i++) {
      const an = -i * (i - a);
      b += 2;
      d = 1 / (an * d + b);
      c = b + an / c;
      const step = c * d;
      h *= step;
      if (Math.abs(step - 1) < 1e-16) break;
    }
    return poisson(a, x) * a * h;
  }

  // The value that a chi-square variable exceeds with probability alpha.
  function criticalValue(dof, alpha) {
    const a = dof / 2;
    let low = 0;
    let high = Math.max(1, a);
    while (upperGamma(a, high) > alpha) { low = high; high *= 2; }
    let x = (low + high) / 2;
    for (let i = 0; i < 200; i++) {
      const excess = upperGamma(a, x) - alpha;
      if (excess > 0) low = x; else high = x;
      let next = x + excess / (poisson(a, x) * a / x);
      if (!(next > low && next < high)) next = (low + high) / 2;
      if (Math.abs(next - x) <= 1e-16 * x) break;
      x = next;
    }
    return 2 * x;
  }

  // P(χ²(dof, lambda) > critical): chi-square tails weighted by Poisson probabilities, from the mode outwards.
  function noncentralTail(critical, dof, lambda) {
    const x = critical / 2;
    const m = lambda / 2;
    const mode = Math.floor(m);
    const weight = poisson(mode, m);
    const first = upperGamma(dof / 2 + mode, x);
    const density = poisson(dof / 2 + mode, x);
    let sum = weight * first;
    let [w, q, t, a] = [weight, first, density, dof / 2 + mode];
    for (let j = mode + 1; w > 1e-20; j++) {
      q = Math.min(1, q + t);
      a += 1;
      t *= x / a;
      w *= m / j;
      sum += w * q;
    }
    [w, q, t, a] = [weight, first, density, dof / 2 + mode];
    for (let j = mode - 1; j >= 0 && w > 1e-20 && q > 0; j--) {
      t *= a / x;
      a -= 1;
      q = Math.max(0, q - t);
      w *= (j + 1) / m;
      sum += w * q;
    }
    return Math.min(1, sum);
  }

  const criticals = new Map();
  function attainedPower(lambda, dof, alpha) {
    const key = dof + "/" + alpha;
    if (criticals.size > 1000) criticals.clear();
    if (!criticals.has(key)) criticals.set(key, criticalValue(dof, alpha));
    return noncentralTail(criticals.get(key), dof, lambda);
  }

  function neededNoncentrality(power, dof, alpha) {
    let low = 0;
    let high = 1;
    while (attainedPower(high, dof, alpha) < power) { low = high; high *= 2; }
    for (let i = 0; i < 100 && high - low > 1e-13 * high; i++) {
      const middle = (low + high) / 2;
      if (attainedPower(middle, dof, alpha) < power) low = middle; else high = middle;
    }
    return high;
  }

  // What each regime offers: what stands in for the target, and the share κ of the noncentrality that it keeps.
  const all = () => 1;
  const none = { prior: false, safe: "", possible: all };
  const DESIGNS = {
    full: { ...none, name: "full", counts: "labelled rows", words: "", kappa: all },
    listwise: { ...none, name: "listwise", counts: "labelled rows", words: "uses the labelled rows alone", kappa: (s) => s },
    y0: {
      name: "y0", counts: "labelled positives", words: "counts unlabelled rows as negatives (Ỹ0)", prior: true, safe: "overestimate",
      possible: (p) => p, kappa: (s, p) => (1 - p) / p * s / (1 - s),
    },
    y1: {
      name: "y1", counts: "labelled negatives", words: "counts unlabelled rows as positives (Ỹ1)", prior: true, safe: "underestimate",
      possible: (p) => 1 - p, kappa: (s, p) => p / (1 - p) * s / (1 - s),
    },
  };
  DESIGNS.apart = { ...DESIGNS.y0, possible: all, useful: () => 0.5, kappa: (s, p) => (1 - p) / p * s * (1 - s) };

  function bothClasses(positives) {
    return {
      ...DESIGNS.listwise, prior: true, exactOnly: true,
      possible: (p) => Math.min(p / positives, (1 - p) / (1 - positives)),
      kappa: (s, p) => {
        const [a, b] = [positives * s, (1 - positives) * s];
        return a * b / ((a + b) * p * (1 - p));
      },
    };
  }

  function candidates(q) {
    const open = q.unknown === "labelled";
    const share = (value) => (open ? null : value);
    if (q.regime === "supervised") return [{ design: DESIGNS.full, share: 1 }];
    if (q.regime === "pu") return [{ design: DESIGNS.y0, share: share(q.labelled) }];
    if (q.regime === "pu-apart") return [{ design: DESIGNS.apart, share: share(q.labelled) }];
    if (q.regime === "mcar") return [{ design: DESIGNS.listwise, share: share(q.labelled) }];
    const offered = [{ design: DESIGNS.y0, share: share(q.positives) }, { design: DESIGNS.y1, share: share(q.negatives) }];
    if (!open) {
      const total = q.positives + q.negatives;
      offered.push({ design: bothClasses(q.positives / total), share: total });
    }
    return offered;
  }

  // Whether enough is known of p(y=1): an upper bound says nothing about how few positives there may be.
  function serves(q, { design }) {
    return !design.prior || q.priorKind !== "below" || design.safe === "overestimate";
  }

  // The range of p(y=1) that the labels leave possible; null where they contradict it.
  function possibleRange(q, offered) {
    let [low, high] = { exact: [q.prior, q.prior], below: [0, q.prior], between: [q.low, q.high] }[q.priorKind];
    for (const { design, share } of offered) {
      if (share === null || !design.prior || design.possible === all) continue;
      const room = 1 + 1e-9;
      if (design.name === "y0") low = Math.max(low, share / room);
      else if (design.name === "y1") high = Math.min(high, 1 - share / room);
    }
    if (q.priorKind === "exact") return low > q.prior || high < q.prior ? null : [q.prior, q.prior];
    return low < high ? [low, high] : null;
  }

  // The value of p(y=1) to plan for with a design: the answer grows or falls with it, so a quantile is enough.
  function plannedPrior(q, design, range) {
    if (!design.prior) return NaN;
    const sure = q.priorKind === "between" ? q.assurance : 1;
    const at = design.safe === "underestimate" ? 1 - sure : sure;
    return range[0] + (range[1] - range[0]) * at;
  }

  function smallest(enough, low, high) {
    let top = high + 1;
    while (low < top) {
      const middle = Math.floor((low + top) / 2);
      if (enough(Math.min(middle, high))) top = middle; else low = middle + 1;
    }
    return low;
  }

  function powerAt(q, design, prior, rows, share, effect) {
    return attainedPower(2 * design.kappa(share, prior) * rows * effect, q.dof, q.alpha);
  }

  function mostLabels(q, design, prior) {
    return Math.floor(q.rows * (design.useful || design.possible)(prior) + 1e-9);
  }

  function solve(q, { design, share }, prior) {
    const effect = q.effect;
    if (q.unknown === "rows") {
      let high = 1;
      const enough = (n) => powerAt(q, design, prior, n, share, effect) >= q.power;
      while (!enough(high) && high < MOST_ROWS) high = Math.min(2 * high, MOST_ROWS);
      const found = smallest(enough, 1, high);
      return found <= high ? found : Infinity;
    }
    if (q.unknown === "labelled") {
      const most = mostLabels(q, design, prior);
      const found = smallest((n) => powerAt(q, design, prior, q.rows, n / q.rows, effect) >= q.power, 1, most);
      return found <= most ? found : Infinity;
    }
    if (q.unknown === "effect") {
      const found = neededNoncentrality(q.power, q.dof, q.alpha) / (2 * design.kappa(share, prior) * q.rows);
      return found <= q.largestEffect ? found : Infinity;
    }
    return -powerAt(q, design, prior, q.rows, share, effect);
  }

  // The study at the answer of one candidate, or at the best that can be had.
  function atAnswer(q, candidate, prior, cost) {
    const { design } = candidate;
    const reached = Number.isFinite(cost);
    const rows = q.unknown === "rows" ? (reached ? cost : MOST_ROWS) : q.rows;
    let share = candidate.share;
    if (q.unknown === "labelled") share = (reached ? cost : mostLabels(q, design, prior)) / q.rows;
    const effect = q.unknown === "effect" ? (reached ? cost : q.largestEffect) : q.effect;
    const power = powerAt(q, design, prior, rows, share, effect);
    return { design, prior, rows, share, effect, power, reached, kappa: design.kappa(share, prior), cost };
  }

  // Answer a question: {unknown, regime, effect, alpha, power, arity, strata, rows, labelled, positives, negatives,
  // priorKind, prior, low, high, assurance}. What contradicts itself comes back as {error: sentence}.
  function plan(question) {
    const q = { strata: 1, priorKind: "exact", assurance: 0.9, ...question };
    q.dof = (q.arity - 1) * q.strata;
    q.largestEffect = Math.log(2);
    if (q.unknown !== "power" && q.power <= q.alpha) return { error: "The power wanted must be above α: chance alone reaches α." };
    const offered = candidates(q).filter((candidate) => serves(q, candidate));
    const range = offered.some((c) => c.design.prior) ? possibleRange(q, offered) : [NaN, NaN];
    if (range === null) {
      return { error: "There cannot be so many labels: more rows would be labelled in a class than p(y=1) puts there." };
    }
    let best = null;
    for (const candidate of offered) {
      if (candidate.design.exactOnly && q.priorKind !== "exact") continue;
      const prior = plannedPrior(q, candidate.design, range);
      const cost = solve(q, candidate, prior);
      const outcome = { ...atAnswer(q, candidate, prior, cost), candidate };
      if (!best || cost < best.cost || (cost === best.cost && outcome.power > best.power)) best = outcome;
    }
    const answer = q.unknown === "power" ? best.power : best.reached ? best.cost : null;
    const labels = Math.ceil(Number((best.share * best.rows).toFixed(6)));
    return { ...best, answer, question: q, range, labels, dof: q.dof, uncertain: best.design.prior && q.priorKind === "between" };
  }

  // Power over rows (or labels) with all else as in a plan; with an uncertain prior also where 90% of it lies.
  function powerCurve(found, over, values) {
    const { question: q, design, range } = found;
    const at = (value, prior) => (over === "rows"
      ? powerAt(q, design, prior, value, found.share, found.effect)
      : powerAt(q, design, prior, found.rows, value / found.rows, found.effect));
    const ends = [0.05, 0.95].map((p) => range[0] + (range[1] - range[0]) * p);
    return values.map((value) => {
      const point = { value, power: at(value, found.prior) };
      if (found.uncertain) point.band = ends.map((prior) => at(value, prior)).sort((a, b) => a - b);
      return point;
    });
  }

  return { COHEN, criticalValue, noncentralTail, attainedPower, neededNoncentrality, plan, powerCurve, mostLabels };
})();
if (typeof module !== "undefined") module.exports = BlanketsPlan;
