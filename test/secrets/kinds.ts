import type { Kind } from './attempt.js';
import { ECHOES } from './kinds-echoes.js';
import { FRAMING } from './kinds-framing.js';
import { HOSTS } from './kinds-hosts.js';
import { INSIDE } from './kinds-inside.js';
import { PLACES } from './kinds-places.js';

/** All that is tried from inside of a sandbox. */
export const KINDS: Kind[] = [...PLACES, ...FRAMING, ...HOSTS, ...ECHOES, ...INSIDE];
