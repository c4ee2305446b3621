import type { ModuleMetadata } from '@nestjs/common';

/**
 * The one list that an enterprise team edits: its own Nest modules, whose providers may carry `@Plugin(Seam, 'name')`
 * and whose controllers carry `@Endpoint`. See docs/extending.md.
 */
export const EXTENSIONS: NonNullable<ModuleMetadata['imports']> = [];
