import { finished } from 'node:stream/promises';
import type { RunResult } from '../run-result.js';
import type { RunOptions, SandboxSecrets, TaskSecret } from '../sandbox.js';
import { Finder, Mask, masked } from '../network/mask.mjs';

/** The secrets of one session, as they are now. */
export class SessionSecrets {
  private current: SandboxSecrets | undefined;
  private finder: Finder | undefined;
  private readonly unlisten: (() => void) | undefined;

  /** @param changed is told of other values. */
  constructor(given: SandboxSecrets | undefined, changed: (all: readonly TaskSecret[]) => void) {
    this.current = given;
    this.unlisten = given?.listen((all) => {
      // A host may have given away what was there before, and a command prints it later.
      (this.finder ??= new Finder(valuesOf(this.current?.all ?? []), { pieces: false })).add(valuesOf(all));
      this.current = { ...given, all };
      changed(all);
    });
  }

  /** For the way out; undefined: there are none. */
  get given(): SandboxSecrets | undefined {
    return this.current;
  }

  /** What a command has of them: the placeholders. */
  get variables(): Record<string, string> {
    return Object.fromEntries((this.current?.all ?? []).map(({ env, placeholder }) => [env, placeholder]));
  }

  /** Without whole values that a host has given away after all. */
  masked(output: Buffer): Buffer {
    const all = this.current?.all ?? [];
    if (all.length === 0) return output;
    return masked((this.finder ??= new Finder(valuesOf(all), { pieces: false })), output);
  }

  /** Hands on what comes of two streams in pieces, also without a value that two pieces have together; null: there are no secrets, or nobody takes it. */
  masking(take: RunOptions['onOutput']): { add: NonNullable<RunOptions['onOutput']>; end: () => Promise<void> } | null {
    if (take === undefined || this.current === undefined) return null;
    const finder = (this.finder ??= new Finder(valuesOf(this.current.all), { pieces: false }));
    let taken: Promise<void> | void;
    const masks = ([0, 1] as const).map((stream) => {
      const mask = new Mask(finder);
      mask.on('data', (chunk: Buffer) => {
        taken = take(stream, chunk);
      });
      return mask;
    });
    return {
      add: async (stream, chunk) => {
        await new Promise<void>((written) => masks[stream]?.write(chunk, () => written()));
        await taken;
      },
      end: async () => void (await Promise.all(masks.map((mask) => finished(mask.end())))),
    };
  }

  maskedResult(result: RunResult): RunResult {
    if (this.current === undefined) return result;
    const text = (output: string) => this.masked(Buffer.from(output)).toString();
    return { ...result, stdout: text(result.stdout), stderr: text(result.stderr) };
  }

  close(): void {
    this.unlisten?.();
  }
}

function valuesOf(all: readonly TaskSecret[]): { name: string; value: string }[] {
  return all.flatMap(({ name, value }) => (value === null ? [] : [{ name, value }]));
}
