/** What is wrong with a body, in one sentence. */
export interface Fault {
  fault: string;
}

/** What {@link HookThread.read} gives. */
export interface HookBody {
  /** Of the bytes, hexadecimal. */
  sha256: string;
  /**
   * An outline of the JSON object or list, whatever its size: the first 10,000 values of its upper five levels. In place of what stands
   * below, and of a text of more than 1,000 characters, there is null. It says what a delivery is; what is handed on is the body.
   */
  payload: unknown;
}

export function readBody(body: Uint8Array): HookBody | Fault;
