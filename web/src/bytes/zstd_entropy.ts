// What zstd codes numbers with: finite state entropy (FSE) and Huffman codes, read backwards.
import { GossamerError } from "../errors.ts";

/** Bits from the end of a stream towards its front. */
export interface ReversedBits {
  readonly left: number; // negative once more was read than there is
  read(count: number): number; // 31 bits at most; zeros beyond the front
}

/** A table of FSE: what each state stands for, and which come after it. */
export interface Fse {
  readonly log: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
  readonly bases: Uint16Array;
}

/** A table of a Huffman code: what each `log` bits begin with. */
export interface Huffman {
  readonly log: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
}

/** Opens a stream; its last set bit marks where it ends. */
export function reversedBits(stream: Uint8Array): ReversedBits {
  let left = bitsBefore(stream);
  const take = (count: number) => {
    left -= count;
    const at = left >> 3;
    const word = stream[at]! | (stream[at + 1]! << 8) | (stream[at + 2]! << 16) | (stream[at + 3]! << 24);
    return (word >>> (left & 7)) & ((1 << count) - 1);
  };
  return {
    get left() {
      return left;
    },
    read: (count) => (count <= 24 ? take(count) : take(count - 24) * 2 ** 24 + take(24)),
  };
}

/** Reads how often symbols occur, and makes a table of it; gives where what follows begins. */
export function fseFrom(
  bytes: Uint8Array,
  at: number,
  most: { log: number; symbols: number },
): [Fse, number] {
  let bit = 8 * at;
  const peek = (count: number) => {
    const byte = bit >> 3;
    const word = bytes[byte]! | (bytes[byte + 1]! << 8) | (bytes[byte + 2]! << 16);
    return (word >>> (bit & 7)) & ((1 << count) - 1);
  };
  const take = (count: number) => {
    const value = peek(count);
    bit += count;
    return value;
  };
  const log = take(4) + 5;
  if (log > most.log) throw broken("a table that is too fine");
  const shares: number[] = [];
  for (let left = 1 << log; left > 0; ) {
    const width = 32 - Math.clz32(left + 1);
    const low = (1 << (width - 1)) - 1;
    const short = (1 << width) - 1 - (left + 1); // so many values take one bit less
    let value = peek(width);
    if ((value & low) < short) {
      value &= low;
      bit += width - 1;
    } else {
      if (value > low) value -= short;
      bit += width;
    }
    shares.push(value - 1);
    left -= Math.abs(value - 1);
    // After a symbol that does not occur: how many more of them follow.
    for (let more = value === 1 ? 3 : 0; more === 3; ) {
      more = take(2);
      shares.push(...new Array<number>(more).fill(0));
    }
    if (left < 0 || shares.length > most.symbols || bit > 8 * bytes.length) {
      throw broken("a table that does not end");
    }
  }
  return [fseOf(shares, log), (bit + 7) >> 3];
}

/** A table of symbols that take these shares of its states; -1 for less than one. */
export function fseOf(shares: readonly number[], log: number): Fse {
  const size = 1 << log;
  const table = {
    log,
    symbols: new Uint8Array(size),
    bits: new Uint8Array(size),
    bases: new Uint16Array(size),
  };
  let high = size;
  shares.forEach((share, symbol) => {
    if (share < 0) table.symbols[--high] = symbol;
  });
  const step = (size >> 1) + (size >> 3) + 3;
  let place = 0;
  shares.forEach((share, symbol) => {
    for (let i = 0; i < share; ++i) {
      table.symbols[place] = symbol;
      do place = (place + step) & (size - 1);
      while (place >= high);
    }
  });
  const next = shares.map(Math.abs);
  for (let state = 0; state < size; ++state) {
    const value = next[table.symbols[state]!]!++;
    const bits = log - (31 - Math.clz32(value));
    table.bits[state] = bits;
    table.bases[state] = (value << bits) - size;
  }
  return table;
}

/** Reads a Huffman code; gives where what follows begins. */
export function huffmanFrom(bytes: Uint8Array, at: number): [Huffman, number] {
  const head = bytes[at] ?? 0;
  const count = head - 127;
  const end = at + 1 + (head < 128 ? head : (count + 1) >> 1);
  if (end > bytes.length) throw broken("a code that is cut off");
  const packed = bytes.subarray(at + 1, end);
  if (head < 128) return [huffmanOf(weightsFrom(packed)), end];
  const weightAt = (i: number) => (i % 2 === 1 ? packed[i >> 1]! & 15 : packed[i >> 1]! >> 4);
  return [huffmanOf(Array.from({ length: count }, (_, i) => weightAt(i))), end];
}

/** Fills `out` from a stream, which must hold just that. */
export function readHuffman(code: Huffman, stream: Uint8Array, out: Uint8Array): void {
  const { log, symbols, bits } = code;
  const mask = (1 << log) - 1;
  let left = bitsBefore(stream);
  for (let i = 0; i < out.length; ++i) {
    const from = left - log;
    const at = from >> 3;
    const word = stream[at]! | (stream[at + 1]! << 8) | (stream[at + 2]! << 16);
    const state = (word >>> (from & 7)) & mask;
    out[i] = symbols[state]!;
    left -= bits[state]!;
    if (left < 0) break;
  }
  if (left !== 0) throw broken("a stream that does not end where it should");
}

const MOST_WEIGHT = 11;
const MOST_WEIGHTS = 255;

/** Weights of symbols from two states of FSE that take turns. */
function weightsFrom(packed: Uint8Array): number[] {
  const [table, at] = fseFrom(packed, 0, { log: 6, symbols: 256 });
  const stream = reversedBits(packed.subarray(at));
  const states = [stream.read(table.log), stream.read(table.log)] as [number, number];
  const weights: number[] = [];
  for (let turn = 0; weights.length <= MOST_WEIGHTS; turn ^= 1) {
    const state = states[turn as 0 | 1];
    weights.push(table.symbols[state]!);
    states[turn as 0 | 1] = table.bases[state]! + stream.read(table.bits[state]!);
    if (stream.left >= 0) continue;
    weights.push(table.symbols[states[(turn ^ 1) as 0 | 1]]!);
    return weights;
  }
  throw broken("a code of too many symbols");
}

/** The code of these weights; that of one more symbol is what they leave. */
function huffmanOf(given: readonly number[]): Huffman {
  const sum = given.reduce((total, weight) => total + (weight > 0 ? 2 ** (weight - 1) : 0), 0);
  const log = sum > 0 ? 32 - Math.clz32(sum) : MOST_WEIGHT + 1;
  const rest = 2 ** log - sum;
  if (log > MOST_WEIGHT || given.length > MOST_WEIGHTS || (rest & (rest - 1)) !== 0) {
    throw broken("weights that are no code");
  }
  const weights = [...given, 32 - Math.clz32(rest)];
  const code = { log, symbols: new Uint8Array(1 << log), bits: new Uint8Array(1 << log) };
  let at = 0;
  for (let weight = 1; weight <= log; ++weight) {
    weights.forEach((own, symbol) => {
      if (own !== weight) return;
      code.symbols.fill(symbol, at, at + 2 ** (weight - 1));
      code.bits.fill(log + 1 - weight, at, at + 2 ** (weight - 1));
      at += 2 ** (weight - 1);
    });
  }
  return code;
}

/** How many bits stand before the mark at the end of a stream. */
function bitsBefore(stream: Uint8Array): number {
  const last = stream.at(-1) ?? 0;
  if (last === 0) throw broken("a stream without an end");
  return 8 * stream.length - 1 - Math.clz32(last << 24);
}

/** What says that a frame is not what it should be. */
export function broken(what: string): GossamerError {
  return new GossamerError("Damaged", `it has ${what}`);
}
