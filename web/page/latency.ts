// How long the last questions took, and a drawing of it.

import { draw, make } from "./dom.ts";
import { duration } from "./words.ts";

export interface Latency {
  readonly question: string;
  readonly firstMs: number | null; // until hits by words were there
  readonly ms: number; // of the whole answer, without what was waited for more letters
}

const MOST = 50;
const WIDTH = 300;
const HEIGHT = 72;
const STEP = WIDTH / MOST;
const STRETCHED = { class: "plot", role: "img", preserveAspectRatio: "none" };
const latencies: Latency[] = [];

/** Remembers the time of an answer. */
export function noteLatency(latency: Latency): void {
  latencies.push(latency);
  latencies.splice(0, latencies.length - MOST);
}

/** The drawing, with its median in words. */
export function makeLatencyPlot(): HTMLElement {
  if (latencies.length === 0) {
    return make(
      "p",
      { class: "hint" },
      "Nothing was asked yet; the time of each question will show here.",
    );
  }
  const all = latencies.map(({ ms }) => ms);
  const firsts = latencies.flatMap(({ firstMs }) => (firstMs === null ? [] : [firstMs]));
  const half = median(all);
  const before = firsts.length > 0 ? `, first hits after ${duration(median(firsts))}` : "";
  const many = all.length === 1 ? "the last question" : `the last ${all.length} questions`;
  const caption = `p50 ${duration(half)}${before}; ${many}, at most ${duration(Math.max(...all))}`;
  // A single slow one, such as the first that loads the model, must not flatten all others.
  const most = Math.min(Math.max(...all), Math.max(4 * half, 1)) || 1;
  const bars = latencies.flatMap((latency, at) =>
    barsOf(latency, MOST - latencies.length + at, most),
  );
  const y = (HEIGHT * (1 - half / most)).toFixed(1);
  const line = draw("line", { x1: "0", x2: String(WIDTH), y1: y, y2: y, class: "median" });
  const svg = draw(
    "svg",
    { ...STRETCHED, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-label": `Latency: ${caption}` },
    ...bars,
    line,
  );
  return make("figure", { class: "latency" }, svg, make("figcaption", {}, caption));
}

/** The median of numbers that are not empty. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

function barsOf({ question, firstMs, ms }: Latency, place: number, most: number): SVGElement[] {
  const title = () => draw("title", {}, `${question}: ${duration(ms)}`);
  const bar = (time: number, kind: string) => {
    const tall = Math.max(1.5, HEIGHT * Math.min(1, time / most));
    const attributes = {
      x: (place * STEP + 0.75).toFixed(2),
      y: (HEIGHT - tall).toFixed(1),
      width: (STEP - 1.5).toFixed(2),
      height: tall.toFixed(1),
      class: time > most ? `${kind} cut` : kind,
    };
    return draw("rect", attributes, title());
  };
  return [bar(ms, "whole"), ...(firstMs === null ? [] : [bar(Math.min(firstMs, ms), "first")])];
}
