"""Measures of a page, as JavaScript."""

WIDER_THAN_SCREEN = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

# Texts with too little contrast to what is behind them, by the rule AA of the Web Content Accessibility Guidelines 2.2.
PALE_TEXTS = """() => {
  const parse = (c) => { const v = c.match(/[\\d.]+/g).map(Number); return { rgb: v.slice(0, 3), a: v[3] ?? 1 }; };
  const light = ({ rgb }) => {
    const [r, g, b] = rgb.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const box = at.matches("g.box") ? at.querySelector("rect") : null;
      if (box) return parse(getComputedStyle(box).fill);
      const found = parse(getComputedStyle(at).backgroundColor);
      if (found.a === 1) return found;
    }
    return parse("rgb(255, 255, 255)");
  };
  const pale = [];
  let seen = 0;
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest("script, title, noscript") || !e.getClientRects().length) continue;
    const style = getComputedStyle(e);
    const ink = parse(e instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(e))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    seen += 1;
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) pale.push(e.outerHTML.slice(0, 120));
  }
  return { seen, pale };
}"""
