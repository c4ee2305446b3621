// The verb `doctor`: what the running service says of itself at /health/ready. It changes nothing and needs no database.
import type { Command } from 'commander';
import type { z } from 'zod';
import { type Env, readEnv } from '../../platform/config/env.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { addVerb } from './command.js';
import { readinessSchema } from '../health/readiness.js';

interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** What to do; null when nothing has to be done. */
  advice: string | null;
}

/** How long the service may take for its answer, in milliseconds: its own checks take two seconds at most. */
const PATIENCE = 5_000;
const SIGNS = { ok: '✔', warn: '!', fail: '✖' };

/** Adds the verb. It ends with 1 when a check fails. */
export function doctor(root: Command, extensions: ExtensionSet): void {
  const command = addVerb(root, 'doctor')
    .description('shows whether the service here can serve, and what guards it')
    .example('--json');
  command.action(async () => {
    const checks = await examine(originOf(readEnv(undefined, extensions)));
    const json = command.optsWithGlobals<{ json?: true }>().json === true;
    console.log(json ? JSON.stringify({ checks }) : checks.map(inWords).join('\n'));
    if (checks.some(({ status }) => status === 'fail')) process.exitCode = 1;
  });
}

/** Where the service of this configuration listens. A wildcard address is reached by the loopback one. */
function originOf({ variables: { HOST, PORT } }: Env): string {
  const host = HOST === '0.0.0.0' ? '127.0.0.1' : HOST === '::' ? '::1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
}

async function examine(origin: string): Promise<Check[]> {
  let ready: z.output<typeof readinessSchema>;
  try {
    const answer = await fetch(`${origin}/health/ready`, { signal: AbortSignal.timeout(PATIENCE) });
    ready = readinessSchema.parse(await answer.json());
  } catch {
    const advice = 'Start it, or give HOST and PORT as the service has them.';
    return [{ name: 'service', status: 'fail', detail: `No service answers at ${origin}.`, advice }];
  }
  const { checks, inForce, missing } = ready;
  const states = Object.entries(checks).map(([name, state]): Check => {
    const status = state === 'ok' ? 'ok' : state === 'degraded' ? 'warn' : 'fail';
    return { name, status, detail: state, advice: status === 'ok' ? null : "See the service's log." };
  });
  const guards: Check[] = inForce.map((detail) => ({ name: 'in force', status: 'ok', detail, advice: null }));
  const advice = 'docs/operating.md, "Walls", says what that means.';
  return [
    ...states,
    ...guards,
    ...missing.map((detail): Check => ({ name: 'missing', status: 'warn', detail, advice })),
  ];
}

function inWords({ name, status, detail, advice }: Check): string {
  return `${SIGNS[status]} ${name}: ${detail}${advice === null ? '' : ` ${advice}`}`;
}
