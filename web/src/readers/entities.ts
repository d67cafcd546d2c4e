// Named and numbered characters of HTML: the names of HTML 4, which is what people write.

import { fromWindows } from "./encoding.ts";

// U+00A0 to U+00FF in their order. These are known without a semicolon too.
const LATIN =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg " +
  "plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest " +
  "Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute " +
  "Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc " +
  "Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute " +
  "ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide " +
  "oslash ugrave uacute ucirc uuml yacute thorn yuml";
const OTHERS =
  "OElig:152 oelig:153 Scaron:160 scaron:161 Yuml:178 fnof:192 circ:2c6 tilde:2dc Alpha:391 " +
  "Beta:392 Gamma:393 Delta:394 Epsilon:395 Zeta:396 Eta:397 Theta:398 Iota:399 Kappa:39a " +
  "Lambda:39b Mu:39c Nu:39d Xi:39e Omicron:39f Pi:3a0 Rho:3a1 Sigma:3a3 Tau:3a4 Upsilon:3a5 " +
  "Phi:3a6 Chi:3a7 Psi:3a8 Omega:3a9 alpha:3b1 beta:3b2 gamma:3b3 delta:3b4 epsilon:3b5 " +
  "zeta:3b6 eta:3b7 theta:3b8 iota:3b9 kappa:3ba lambda:3bb mu:3bc nu:3bd xi:3be omicron:3bf " +
  "pi:3c0 rho:3c1 sigmaf:3c2 sigma:3c3 tau:3c4 upsilon:3c5 phi:3c6 chi:3c7 psi:3c8 omega:3c9 " +
  "thetasym:3d1 upsih:3d2 piv:3d6 ensp:2002 emsp:2003 thinsp:2009 zwnj:200c zwj:200d lrm:200e " +
  "rlm:200f ndash:2013 mdash:2014 lsquo:2018 rsquo:2019 sbquo:201a ldquo:201c rdquo:201d " +
  "bdquo:201e dagger:2020 Dagger:2021 bull:2022 hellip:2026 permil:2030 prime:2032 Prime:2033 " +
  "lsaquo:2039 rsaquo:203a oline:203e frasl:2044 euro:20ac image:2111 weierp:2118 real:211c " +
  "trade:2122 alefsym:2135 larr:2190 uarr:2191 rarr:2192 darr:2193 harr:2194 crarr:21b5 " +
  "lArr:21d0 uArr:21d1 rArr:21d2 dArr:21d3 hArr:21d4 forall:2200 part:2202 exist:2203 " +
  "empty:2205 nabla:2207 isin:2208 notin:2209 ni:220b prod:220f sum:2211 minus:2212 " +
  "lowast:2217 radic:221a prop:221d infin:221e ang:2220 and:2227 or:2228 cap:2229 cup:222a " +
  "int:222b there4:2234 sim:223c cong:2245 asymp:2248 ne:2260 equiv:2261 le:2264 ge:2265 " +
  "sub:2282 sup:2283 nsub:2284 sube:2286 supe:2287 oplus:2295 otimes:2297 perp:22a5 sdot:22c5 " +
  "lceil:2308 rceil:2309 lfloor:230a rfloor:230b lang:2329 rang:232a loz:25ca spades:2660 " +
  "clubs:2663 hearts:2665 diams:2666";
const POINTS = new Map<string, number>([
  ["amp", 38],
  ["lt", 60],
  ["gt", 62],
  ["quot", 34],
  ["AMP", 38],
  ["LT", 60],
  ["GT", 62],
  ["QUOT", 34],
  ["COPY", 169],
  ["REG", 174],
  ...LATIN.split(" ").map((name, place): [string, number] => [name, 160 + place]),
]);
const WITH_SEMICOLON = new Map<string, number>([
  ...POINTS,
  ["apos", 39],
  ...OTHERS.split(" ").map((entry): [string, number] => {
    const [name = "", point = ""] = entry.split(":");
    return [name, Number.parseInt(point, 16)];
  }),
]);
const REFERENCE = /&(?:#([0-9]+|[xX][0-9a-fA-F]+);?|([^\t\n\f <&#;]{1,32});?)/g;
const REPLACED = "\ufffd";

/** The text with the characters that its references stand for; what is no reference stays. */
export function unescapeHtml(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(REFERENCE, (whole, number: string | undefined, name: string | undefined) =>
    number === undefined ? named(whole, name ?? "") : numbered(number),
  );
}

function numbered(digits: string): string {
  const isHex = digits.startsWith("x") || digits.startsWith("X");
  const point = isHex ? Number.parseInt(digits.slice(1), 16) : Number.parseInt(digits, 10);
  if (point === 0 || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return REPLACED;
  if (point >= 0x80 && point < 0xa0) {
    return fromWindows(Uint8Array.of(point)).replace(REPLACED, String.fromCharCode(point));
  }
  const isControl = (point < 0x20 && ![9, 10, 12, 13].includes(point)) || point === 0x7f || point === 0xb;
  const isNone = (point & 0xfffe) === 0xfffe || (point >= 0xfdd0 && point <= 0xfdef);
  if (point === 0xd) return "\r";
  return isControl || isNone ? "" : String.fromCodePoint(point);
}

function named(whole: string, name: string): string {
  if (whole.endsWith(";")) {
    const point = WITH_SEMICOLON.get(name);
    if (point !== undefined) return String.fromCodePoint(point);
  }
  // "&copyright" begins with a name that needs no semicolon.
  for (let length = name.length; length > 1; length -= 1) {
    const point = POINTS.get(name.slice(0, length));
    if (point !== undefined) return String.fromCodePoint(point) + whole.slice(1 + length);
  }
  return whole;
}
