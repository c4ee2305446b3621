import type { Transform } from 'node:stream';

export interface Changed {
  had: string;
  sent: string;
}
export declare function changedHeaders(came: readonly string[], went: readonly string[]): Changed[];
export declare function isJson(said: { headers: Record<string, unknown> }): boolean;
export declare class SaidBack extends Transform {
  constructor(changed: Changed);
}
