import type { Extension } from './platform/plugins/extension.js';

/** The one list that an enterprise team edits: what `defineExtension` has made (docs/extending.md). */
export const EXTENSIONS: readonly Extension[] = [];
