import type { OnProgress } from "../records.ts";
import type { TextInput } from "../update/inputs.ts";

/** What a call may use besides its arguments. */
export interface Job {
  readonly signal: AbortSignal;
  readonly progress: OnProgress;
  /** The texts that the page gives, asked for as they are needed. */
  texts(): AsyncIterable<TextInput>;
}
