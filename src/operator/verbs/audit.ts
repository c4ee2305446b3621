// The verbs `audit …` (reference §14, §16).
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { type AuditFilter, AuditReader } from '../../access/audit/audit-reader.js';
import { type auditEntrySchema, auditEntryView } from '../../access/audit/audit.view.js';
import { AuditVerifier, type VerifiedChain } from '../../access/audit/verifier.js';
import { UsersService } from '../../access/workspaces/users.service.js';
import { WorkspacesService } from '../../access/workspaces/workspaces.service.js';
import { Progress } from './progress.js';
import { inWords, lifetime, type Options, type Verb, verb } from './verb.js';

type Entry = z.output<typeof auditEntrySchema> & { seq: number | null; hash: string | null };
interface ListOptions extends Omit<Options, 'workspace'> {
  workspace?: string;
  /** Seconds. */
  since?: number;
  actor?: string;
  limit: number;
}

const list: Verb<{ entries: Entry[] }> = async (services, options) => {
  const { workspace, since, actor, limit } = options as unknown as ListOptions;
  const id = workspace === undefined ? null : (await services.get(WorkspacesService).get(workspace)).id;
  const filter: AuditFilter = {
    since: since === undefined ? null : new Date(Date.now() - since * 1000),
    actor: actor === undefined ? null : (await services.get(UsersService).get(actor)).id,
  };
  const rows = await services.get(AuditReader, { strict: false }).list(id, filter, limit);
  return { entries: rows.map((row) => ({ ...auditEntryView(row), seq: row.seq, hash: row.hash })) };
};

const entriesInWords = ({ entries }: { entries: Entry[] }): string =>
  inWords({
    entries: entries.map(({ at, actor, action, target, outcome, code, address, count }) => ({
      at,
      // The tasks of people use secrets in their names, and builds in nobody's.
      actor: actor?.name ?? (action === 'secret.use' ? 'a build' : 'the operator'),
      action,
      target: target === null ? null : `${target.type} ${target.id}`,
      outcome: code === null ? outcome : `${outcome}, ${code}`,
      ...(count > 1 ? { count } : {}),
      address,
    })),
  });

interface Verified {
  verified: boolean;
  chains: VerifiedChain[];
}

/** Ends with 1 when a row is not as it was sealed. */
const verify: Verb<Verified> = async (services) => {
  const progress = new Progress();
  try {
    const verifier = services.get(AuditVerifier, { strict: false });
    const chains = await verifier.verify((rows) => progress.say(`${rows} rows are as they were sealed`));
    const verified = chains.every(({ broken }) => broken === null);
    if (!verified) process.exitCode = 1;
    return { verified, chains };
  } finally {
    progress.end();
  }
};

const verifiedInWords = ({ chains }: Verified): string =>
  chains
    .map(({ workspace, rows, seq, hash, broken }) => {
      const whose = workspace === null ? 'the installation' : `workspace '${workspace}'`;
      if (broken === null) return `✔ ${whose}: ${rows} rows, the last is ${seq} ${hash ?? ''}`.trimEnd();
      return `✖ ${whose}: row ${broken.seq}${broken.id === null ? '' : `, ${broken.id}`}: ${broken.reason}`;
    })
    .join('\n');

function limitOf(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('A whole number from 1 to 99999 is expected.');
}

/** Adds the verbs to their group. */
export function audit(group: Command): void {
  verb(group, 'list', list, { words: entriesInWords })
    .description('shows who did what, or was refused, the newest first')
    .example('--workspace acme --since 7d')
    .option('--workspace <slug>', 'the workspace; without it what concerns the installation itself')
    .addOption(new Option('--since <7d>', 'only what is not older').argParser(lifetime))
    .option('--actor <address>', 'only what this person did')
    .addOption(new Option('--limit <n>', 'how many at most').argParser(limitOf).default(1000));
  verb(group, 'verify', verify, { words: verifiedInWords })
    .description('reads the whole log and says the first row of each chain that is not as it was sealed')
    .example('');
}
