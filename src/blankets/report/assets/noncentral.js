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

  // Upper regularized incomplete gamma function Q(a, x).
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

  // ln Γ(z) for z > 0.
  function logGamma(z) {
    let shift = 1;
    while (z < 17) { shift *= z; z += 1; }
    const n = z - 1;
    return n * Math.log(n) - n + 0.5 * Math.log(2 * Math.PI * n) + stirlingError(n) - Math.log(shift);
  }

  // P(B < x) for a beta variable: the continued fraction of the incomplete beta function, from the side where it is quick.
  function betaCdf(a, b, x) {
    if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - betaCdf(b, a, 1 - x);
    let [c, d] = [1, 1 / (1 - (a + b) * x / (a + 1))];
    let h = d;
    for (let m = 1; m < 10000; m++) {
      const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 / (1 + even * d);
      c = 1 + even / c;
      h *= c * d;
      const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      d = 1 / (1 + odd * d);
      c = 1 + odd / c;
      h *= c * d;
      if (Math.abs(c * d - 1) < 1e-16) break;
    }
    return Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b)) / a * h;
  }

  function betaQuantile(a, b, probability) {
    let [low, high] = [0, 1];
    for (let i = 0; i < 100 && high - low > 1e-16 * high; i++) {
      const middle = (low + high) / 2;
      if (betaCdf(a, b, middle) < probability) low = middle; else high = middle;
    }
    return (low + high) / 2;
  }

  // What each regime offers: what stands in for the target, and the share κ of the noncentrality that it keeps.
  // The classes must supply `positives` and `negatives` of the labels: that bounds the labels, and p(y=1).
  const none = { prior: false, safe: "", positives: 0, negatives: 0 };
  const DESIGNS = {
    full: { ...none, name: "full", counts: "labeled rows", words: "", kappa: () => 1 },
    listwise: { ...none, name: "listwise", counts: "labeled rows", words: "uses the labeled rows alone", kappa: (s) => s },
    y0: {
      name: "y0", counts: "labeled positives", words: "counts unlabeled rows as negatives", prior: true, safe: "overestimate",
      positives: 1, negatives: 0, kappa: (s, p) => (1 - p) / p * s / (1 - s),
    },
    y1: {
      name: "y1", counts: "labeled negatives", words: "counts unlabeled rows as positives", prior: true, safe: "underestimate",
      positives: 0, negatives: 1, kappa: (s, p) => p / (1 - p) * s / (1 - s),
    },
  };
  DESIGNS.apart = { ...DESIGNS.y0, positives: 0, useful: 0.5, kappa: (s, p) => (1 - p) / p * s * (1 - s) };

  function bothClasses(positives) {
    return {
      ...DESIGNS.listwise, prior: true, exactOnly: true, positives, negatives: 1 - positives,
      kappa: (s, p) => {
        const [a, b] = [positives * s, (1 - positives) * s];
        return a * b / ((a + b) * p * (1 - p));
      },
    };
  }

  // Labels that may be wrong: the squared correlation of label and class, κ of each labeled row.
  const explained = (q, p) => {
    const seen = q.false_positive * (1 - p) + (1 - q.false_negative) * p;
    return (1 - q.false_positive - q.false_negative) ** 2 * p * (1 - p) / (seen * (1 - seen));
  };
  const wrongLabels = (q) => ({ ...DESIGNS.full, prior: true, exactOnly: true, kappa: (s, p) => s * explained(q, p) });
  // p(y=1 | x) on a line over equally frequent levels, with an information of so many nats; less, if it leaves 0 to 1.
  function onALine(effect, p, levels) {
    const shares = (slope) => Array.from({ length: levels }, (_, x) => p + slope * (2 * x / (levels - 1) - 1));
    const nats = (all) => all.reduce((sum, m) => sum + (m * Math.log(m / p) + (1 - m) * Math.log((1 - m) / (1 - p))) / levels, 0);
    let [low, high] = [0, Math.min(p, 1 - p) * (1 - 1e-6)];
    for (let i = 0; i < 50; i++) {
      const middle = (low + high) / 2;
      if (nats(shares(middle)) >= effect) high = middle; else low = middle;
    }
    return { positives: shares(high), reached: nats(shares(high)) };
  }

  // The likelihood ratio of equal shares of positives, the machine's errors free: at expected counts it is λ. Cells of
  // x hold counts [[y=0 said 0, y=1 said 0], [y=0 said 1, y=1 said 1]] of gold rows, and of others what was said.
  function likelihoodRatio(gold, rest) {
    const sums = [0, 1].map((v) => [0, 1].map((y) => gold.reduce((sum, cell) => sum + cell[v][y], 0)));
    const said = [0, 1].map((v) => sums[v][0] + sums[v][1] + rest.reduce((sum, cell) => sum + cell[v], 0));
    const start = [0, 1].map((v) => [0, 1].map((y) => said[v] / (said[0] + said[1]) * sums[v][y] / (sums[v][0] + sums[v][1])));
    const q = gold.map(() => start.map((pair) => [...pair]));
    for (let i = 0; i < 30; i++) {
      let [up, down] = [0, 0];
      const cells = gold.map((g, x) => {
        const parts = [0, 1].map((v) => {
          const either = q[x][v][0] + q[x][v][1];
          const h = rest[x][v] / either ** 2;
          const slope = [0, 1].map((y) => g[v][y] / q[x][v][y] + rest[x][v] / either);
          const [a0, a1] = [0, 1].map((y) => g[v][y] / q[x][v][y] ** 2);
          const det = a0 * a1 + h * (a0 + a1);
          return { slope, i00: (a1 + h) / det, i01: -h / det, i11: (a0 + h) / det };
        });
        const total = (f) => f(parts[0]) + f(parts[1]);
        const [s00, s01, s11] = [total((c) => c.i00), total((c) => c.i01), total((c) => c.i11)];
        const t0 = total((c) => c.i00 * c.slope[0] + c.i01 * c.slope[1]);
        const t1 = total((c) => c.i01 * c.slope[0] + c.i11 * c.slope[1]);
        const det = s00 * s11 - s01 ** 2;
        up += ((s00 + s01) * t1 - (s01 + s11) * t0) / det;
        down += (s00 + 2 * s01 + s11) / det;
        return { parts, s00, s01, s11, t0, t1, det };
      });
      const toward = up / down;
      const steps = cells.map(({ parts, s00, s01, s11, t0, t1, det }) => {
        const [a, b] = [t0 + toward, t1 - toward];
        const [m0, m1] = [(s11 * a - s01 * b) / det, (s00 * b - s01 * a) / det];
        return parts.map((c) => {
          const [e0, e1] = [c.slope[0] - m0, c.slope[1] - m1];
          return [c.i00 * e0 + c.i01 * e1, c.i01 * e0 + c.i11 * e1];
        });
      });
      const ratios = steps.flatMap((cell, x) => cell.flatMap((pair, v) => pair.map((step, y) => step / q[x][v][y])));
      const kept = Math.min(1, 0.95 / Math.max(...ratios.map((ratio) => -ratio), 1e-6));
      steps.forEach((cell, x) => cell.forEach((pair, v) => pair.forEach((step, y) => { q[x][v][y] += kept * step; })));
      if (Math.max(...ratios.map(Math.abs)) < 1e-6) break;
    }
    let fall = 0;
    gold.forEach((g, x) => {
      const seen = [0, 1].map((v) => g[v][0] + g[v][1] + rest[x][v]);
      for (const v of [0, 1]) {
        const free = seen[v] / (seen[0] + seen[1]);
        for (const y of [0, 1]) fall += g[v][y] * Math.log(free * g[v][y] / (g[v][0] + g[v][1]) / q[x][v][y]);
        if (rest[x][v]) fall += rest[x][v] * Math.log(free / (q[x][v][0] + q[x][v][1]));
      }
    });
    return Math.max(2 * fall, 0);
  }

  // κ of gold labels with a machine's beside them: of this effect, or without one of weak effects.
  const machine = (q) => ({
    ...none, name: "predicted", counts: "gold labels", prior: true, exactOnly: true,
    words: "uses the gold labels, and the machine's labels of all rows beside them",
    kappa: (s, p, rows, effect) => {
      if (!effect) return s / (1 - (1 - s) * explained(q, p));
      const levels = Math.min(q.dof + 1, 12);
      const { positives, reached } = onALine(effect, p, levels);
      const cells = positives.map((m) => [
        [(1 - m) * (1 - q.false_positive), m * q.false_negative], [(1 - m) * q.false_positive, m * (1 - q.false_negative)],
      ]);
      const gold = cells.map((cell) => cell.map((pair) => pair.map((share) => share * s * rows / levels + 1e-4)));
      const rest = cells.map((cell) => cell.map(([a, b]) => (a + b) * (1 - s) * rows / levels));
      return likelihoodRatio(gold, rest) / (2 * rows * reached);
    },
  });

  function possibleShare(design, prior) {
    return Math.min(1, design.positives ? prior / design.positives : 1, design.negatives ? (1 - prior) / design.negatives : 1);
  }

  function candidates(q) {
    const open = q.unknown === "labeled";
    const share = (value) => (open ? null : value);
    if (q.regime === "supervised") return [{ design: DESIGNS.full, share: 1 }];
    if (q.regime === "pu") return [{ design: DESIGNS.y0, share: share(q.labeled) }];
    if (q.regime === "pu-apart") return [{ design: DESIGNS.apart, share: share(q.labeled) }];
    if (q.regime === "mcar") return [{ design: DESIGNS.listwise, share: share(q.labeled) }];
    if (q.regime === "noisy") return [{ design: wrongLabels(q), share: 1 }];
    if (q.regime === "predicted") return [{ design: machine(q), share: share(q.labeled) }];
    const offered = [{ design: DESIGNS.y0, share: share(q.positives) }, { design: DESIGNS.y1, share: share(q.negatives) }];
    if (!open) {
      const total = q.positives + q.negatives;
      offered.push({ design: bothClasses(q.positives / total), share: total });
    }
    return offered;
  }

  // What is known of p(y=1): its range and, of a distribution, its quantiles.
  function knowledge(q) {
    if (q.priorKind === "exact") return { low: q.prior, high: q.prior };
    if (q.priorKind === "below") return { low: 0, high: q.prior };
    if (q.priorKind === "above") return { low: q.prior, high: 1 };
    const { low, high } = q;
    const at = (value) => Math.min(1, Math.max(0, (value - low) / (high - low)));
    if (q.priorKind === "between") return { low, high, cdf: at, quantile: (u) => low + (high - low) * u };
    // A generalized beta distribution by its mode, as blankets.Beta has it.
    const [a, b] = [1 + 4 * at(q.prior), 1 + 4 * (1 - at(q.prior))];
    return { low, high, cdf: (value) => betaCdf(a, b, at(value)), quantile: (u) => low + (high - low) * betaQuantile(a, b, u) };
  }

  // Whether that is enough for a design: a bound serves on its costly side alone.
  function serves(q, { design }) {
    const bound = { below: "overestimate", above: "underestimate" }[q.priorKind];
    return !design.prior || !bound || design.safe === bound;
  }

  // What is left of it when the labels have been seen; null where they contradict it.
  function possible(q, offered) {
    const known = knowledge(q);
    let [low, high] = [0, 1];
    for (const { design, share } of offered) {
      if (share === null) continue;
      const ends = design.prior ? [known.low, known.high] : [0, 1];
      const most = Math.min(Math.max(design.positives, ends[0]), ends[1]);
      if (share > possibleShare(design, most) * (1 + 1e-9)) return null;
      low = Math.max(low, share * design.positives * (1 - 1e-9));
      high = Math.min(high, 1 - share * design.negatives * (1 - 1e-9));
    }
    if (q.priorKind === "exact" || (low <= known.low && known.high <= high)) return known;
    const left = { low: Math.max(low, known.low), high: Math.min(high, known.high) };
    if (!(left.low < left.high)) return null;
    if (!known.cdf) return left;
    const [below, above] = [known.cdf(low), known.cdf(high)];
    return { ...left, quantile: (u) => known.quantile(below + (above - below) * u) };
  }

  // The value of p(y=1) to plan for with a design: the answer rises or falls with it, so a quantile is enough.
  function plannedPrior(q, design, known) {
    if (!design.prior) return NaN;
    const costly = design.safe === "overestimate";
    if (!known.quantile) return costly ? known.high : known.low;
    return known.quantile(costly ? q.assurance : 1 - q.assurance);
  }

  function smallest(enough, low, high) {
    let top = high + 1;
    while (low < top) {
      const middle = Math.floor((low + top) / 2);
      if (enough(Math.min(middle, high))) top = middle; else low = middle + 1;
    }
    return low;
  }

  // Mean and mean square of the log ratio of joint and independent probabilities: a class of probability p is w times
  // as likely at one level as on average, and the other levels share the rest.
  function logRatio(w, p, levels) {
    let [mean, square] = [0, 0];
    for (const [v, weight] of [[w, 1 / levels], [(levels - w) / (levels - 1), 1 - 1 / levels]]) {
      for (const [part, ratio] of [[p * v, v], [1 - p * v, (1 - p * v) / (1 - p)]]) {
        if (part <= 0) continue;
        mean += weight * part * Math.log(ratio);
        square += weight * part * Math.log(ratio) ** 2;
      }
    }
    return { mean, square };
  }

  // How many times likelier the class is at the level that carries the effect; the largest possible, if needed.
  function ratioFor(effect, p, levels) {
    const most = Math.min(levels, 1 / p);
    let w = Math.min(1 + Math.sqrt(2 * effect * (levels - 1) * (1 - p) / p), (1 + most) / 2);
    for (let i = 0; i < 40; i++) {
      const { mean } = logRatio(w, p, levels);
      const other = (levels - w) / (levels - 1);
      const slope = p / levels * Math.log(w * (1 - p * other) / (other * (1 - p * w)));
      const next = w + 2 * (Math.sqrt(mean * effect) - mean) / slope;
      const before = w;
      w = Math.min(Math.max(next, (1 + w) / 2), (most + w) / 2);
      if (Math.abs(w - before) <= 1e-14 * w) break;
    }
    return w;
  }

  // The normal distribution: below z, and its inverse.
  function below(z) {
    const tail = Number.isFinite(z) ? upperGamma(0.5, z * z / 2) / 2 : 0;
    return z > 0 ? 1 - tail : tail;
  }
  function quantileOf(p) {
    if (p <= 0 || p >= 1) return p <= 0 ? -Infinity : Infinity;
    const size = Math.sqrt(criticalValue(1, 2 * Math.min(p, 1 - p)));
    return p < 0.5 ? -size : size;
  }

  // Where unlabeled rows count as the other class: the power if one level carries the whole effect.
  function atOneLevel(q, design, prior, rows, share, effect) {
    const p = design.name === "y0" ? prior : 1 - prior;
    const w = ratioFor(effect, p, q.arity);
    const { mean, square } = logRatio(w, share, q.arity);
    const kappa = mean / logRatio(w, p, q.arity).mean;
    const power = attainedPower(2 * rows * kappa * effect, q.dof, q.alpha);
    const spread = Math.sqrt(Math.max((square - mean * mean) / (2 * mean), 1));
    return Math.min(power, below(quantileOf(power) / spread));
  }

  function mayBeAtOneLevel(q, design) {
    return q.strata === 1 && q.arity > 2 && (q.regime === "pu" || q.regime === "mar-c") && (design.name === "y0" || design.name === "y1");
  }

  function powerAt(q, design, prior, rows, share, effect) {
    const power = attainedPower(2 * design.kappa(share, prior, rows, effect) * rows * effect, q.dof, q.alpha);
    return mayBeAtOneLevel(q, design) ? Math.min(power, atOneLevel(q, design, prior, rows, share, effect)) : power;
  }

  // The effect at which no power is missing.
  function smallestEffect(q, design, prior, share, least) {
    let [a, b] = [Math.log(least), Math.log(50)];
    const missing = (effect) => q.power - powerAt(q, design, prior, q.rows, share, effect);
    if (missing(Math.exp(b)) > 0) return Infinity;
    for (let i = 0; i < 60; i++) {
      const middle = (a + b) / 2;
      if (missing(Math.exp(middle)) > 0) a = middle; else b = middle;
    }
    return Math.exp(b);
  }

  function mostLabels(q, design, prior) {
    return Math.floor(q.rows * (design.useful || possibleShare(design, prior)) + 1e-9);
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
    if (q.unknown === "labeled") {
      const most = mostLabels(q, design, prior);
      const found = smallest((n) => powerAt(q, design, prior, q.rows, n / q.rows, effect) >= q.power, 1, most);
      return found <= most ? found : Infinity;
    }
    if (q.unknown === "effect") {
      const least = neededNoncentrality(q.power, q.dof, q.alpha) / (2 * design.kappa(share, prior, q.rows) * q.rows);
      const found = mayBeAtOneLevel(q, design) || design.name === "predicted" ? smallestEffect(q, design, prior, share, least) : least;
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
    if (q.unknown === "labeled") share = (reached ? cost : mostLabels(q, design, prior)) / q.rows;
    const effect = q.unknown === "effect" ? (reached ? cost : q.largestEffect) : q.effect;
    const power = powerAt(q, design, prior, rows, share, effect);
    return { design, prior, rows, share, effect, power, reached, kappa: design.kappa(share, prior, rows, effect), cost };
  }

  // Answer a question: {unknown, regime, effect, alpha, power, arity, strata, rows, labeled, positives, negatives,
  // priorKind, prior, low, high, assurance, false_positive, false_negative}. What contradicts itself comes back as {error: sentence}.
  function plan(question) {
    const q = { strata: 1, priorKind: "exact", assurance: 0.9, ...question };
    q.dof = (q.arity - 1) * q.strata;
    q.largestEffect = Math.log(2);
    if (q.unknown !== "power" && q.power <= q.alpha) return { error: "The power wanted must be above α: chance alone reaches α." };
    const offered = candidates(q).filter((candidate) => serves(q, candidate));
    if (!offered.length) {
      return { error: "A lower bound of p(y=1) is not enough here: the more positives there are, the more it takes. Give an upper bound, a range or its value." };
    }
    const known = possible(q, offered);
    if (known === null) {
      return { error: "There cannot be so many labels: more rows would be labeled in a class than p(y=1) puts there." };
    }
    let best = null;
    for (const candidate of offered) {
      if (candidate.design.exactOnly && q.priorKind !== "exact") continue;
      const prior = plannedPrior(q, candidate.design, known);
      const cost = solve(q, candidate, prior);
      const outcome = { ...atAnswer(q, candidate, prior, cost), candidate };
      if (!best || cost < best.cost || (cost === best.cost && outcome.power > best.power)) best = outcome;
    }
    const answer = q.unknown === "power" ? best.power : best.reached ? best.cost : null;
    const labels = Math.ceil(Number((best.share * best.rows).toFixed(6)));
    const found = { ...best, answer, question: q, known, labels, dof: q.dof, uncertain: best.design.prior && Boolean(known.quantile) };
    if (found.uncertain) found.quantiles = [0.05, 0.5, 0.95].map((level) => quantile(found, level));
    return found;
  }

  // A quantile of the answer over an uncertain prior: the answer at a quantile of the prior.
  function quantile({ question: q, design, candidate, known }, level) {
    const rises = (design.safe === "overestimate") !== (q.unknown === "power");
    const cost = solve(q, candidate, known.quantile(rises ? level : 1 - level));
    return q.unknown === "power" ? -cost : cost;
  }

  // Power over rows (or labels) with all else as in a plan; with an uncertain prior also where 90% of it lies.
  function powerCurve(found, over, values) {
    const { question: q, design, known } = found;
    const at = (value, prior) => (over === "rows"
      ? powerAt(q, design, prior, value, found.share, found.effect)
      : powerAt(q, design, prior, found.rows, value / found.rows, found.effect));
    const ends = found.uncertain ? [0.05, 0.95].map(known.quantile) : [];
    return values.map((value) => {
      const point = { value, power: at(value, found.prior) };
      if (found.uncertain) point.band = ends.map((prior) => at(value, prior)).sort((a, b) => a - b);
      return point;
    });
  }

  return { COHEN, criticalValue, noncentralTail, attainedPower, neededNoncentrality, betaCdf, betaQuantile, mayBeAtOneLevel, plan, powerCurve, mostLabels, possibleShare };
})();
if (typeof module !== "undefined") module.exports = BlanketsPlan;
