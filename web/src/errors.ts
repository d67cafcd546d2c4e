// Everything that fails on purpose has a reason: the same words as in C++ and Python.

/** The core's reasons, in the order of core/base/error.h. */
export const CORE_REASONS = [
  "InvalidArgument",
  "WrongDimension",
  "NotFinite",
  "Empty",
  "DuplicateId",
  "UnknownId",
  "WrongState",
  "MissingCodebook",
  "CodebookMismatch",
  "NotGossamer",
  "UnknownVersion",
  "Truncated",
  "Damaged",
  "TooLarge",
  "Cancelled",
] as const;

const OTHER_REASONS = [
  "NoIndex",
  "Locked",
  "MissingModel",
  "ModelMismatch",
  "Unreachable",
  "Unreadable",
  "Unavailable",
  "LeftOut",
  "Unwritable",
] as const;

export type Reason = (typeof CORE_REASONS)[number] | (typeof OTHER_REASONS)[number];

/** What went wrong, what was expected and what to do about it. */
export class GossamerError extends Error {
  override readonly name = "GossamerError";

  constructor(
    readonly reason: Reason,
    message: string,
  ) {
    super(message);
  }
}

export function cancelled(): GossamerError {
  return new GossamerError("Cancelled", "the job was cancelled before it finished");
}

/** Throws Cancelled if the signal was aborted. */
export function throwIfAborted(signal?: AbortSignal): void {
  if (signal?.aborted) throw cancelled();
}

/** The reason that a server writes in snake case; undefined if it is none of ours. */
export function reasonNamed(name: unknown): Reason | undefined {
  const plain = String(name).replaceAll("_", "");
  return [...CORE_REASONS, ...OTHER_REASONS].find((reason) => reason.toLowerCase() === plain);
}
