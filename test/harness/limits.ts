import type { BootOptions } from './app.js';

const much = { capacity: 1_000_000, windowSeconds: 1 };
const plan = {
  global: much,
  policies: {
    metadata_read: much,
    resource_read: much,
    resource_write: much,
    task_execution: much,
    file_upload: much,
  },
};

/** For suites that send more with one key than anybody may: capacities that they do not reach. */
export const ROOMY: NonNullable<BootOptions['config']> = { rateLimits: { free: plan, paid: plan } };
