import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ConfigFile } from '../../src/platform/config/config-file.js';

/** `CONFIG_FILE` of a service whose capacities nobody reaches. */
export const FAR_LIMITS_FILE = fileURLToPath(new URL('far-limits.json', import.meta.url));
/** The same as a part of the configuration. */
export const FAR_LIMITS = JSON.parse(readFileSync(FAR_LIMITS_FILE, 'utf8')) as Pick<ConfigFile, 'rateLimits'>;
/** The limits that are set by the environment. */
export const FAR_LIMITS_ENV = { AUTH_FAILURES_PER_MINUTE: '1000000', HOOKS_PER_MINUTE: '1000000' };
