export const MAX_DEPTH: number;
export const MAX_VALUES: number;

/**
 * Walks a JSON text once, from the left. Returns what is wrong with it in one sentence, or null. The grammar is left to
 * `JSON.parse`: of a text that is no JSON the walk may say anything, or nothing. It takes time in proportion to the length. With
 * `sizeAlone` it looks at the depth and the number of values, and at no key and text.
 */
export function walkJson(text: string, sizeAlone?: boolean, mostValues?: number, mostLevels?: number): string | null;

export function shortened(name: string): string;
