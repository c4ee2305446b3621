import type { Transform } from 'node:stream';

export declare const SHORTEST: number;
export declare function formsOf(value: string): Buffer[];
export interface Hidden {
  name: string;
  value: string;
}
export declare class Finder {
  constructor(secrets: readonly Hidden[], options: { pieces: boolean });
  readonly longest: number;
  add(secrets: readonly Hidden[]): void;
  find(data: Buffer): { from: number; to: number; name: string }[];
  open(data: Buffer): number;
}
export declare function masked(finder: Finder, data: Buffer, hit?: (name: string) => void): Buffer;
export declare class Mask extends Transform {
  constructor(finder: Finder, options?: { hit?: (name: string) => void; keepsLength?: boolean });
}
