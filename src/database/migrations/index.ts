import { Core1763683200001 } from './0001-core.js';
import { Projects1763769600002 } from './0002-projects.js';

/** In order. A new one is added at the end; none is ever changed. */
export const MIGRATIONS = [Core1763683200001, Projects1763769600002];
