// The verb `storage move` (docs/operating.md, "Files in S3").
import type { Command } from 'commander';
import { Option } from 'commander';
import { recordOperator } from '../../access/audit/record.js';
import { DataDir } from '../../platform/config/data-dir.js';
import { Env, readEnv } from '../../platform/config/env.js';
import { DatabaseServer } from '../../platform/database/database-server.js';
import { Transactions } from '../../platform/database/transactions.js';
import { DiskModule } from '../../platform/disk/disk.module.js';
import { DiskSpace } from '../../platform/disk/disk-space.js';
import { Installation } from '../../platform/installation/installation.js';
import { hasMark } from '../../platform/installation/installation-file.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { PluginRegistry } from '../../platform/plugins/plugin.js';
import { FileStorage } from '../../resources/files/storage/file-storage.js';
import { LocalStorage } from '../../resources/files/storage/local/local-storage.js';
import { S3Storage } from '../../resources/files/storage/s3/s3-storage.js';
import { closeOnAbort, connected } from '../backup/connection.js';
import { inBytes } from '../backup/parts.js';
import { type Moved, moveFiles, requireOwner, requireTwo } from '../storage-move.js';
import { addVerb } from './command.js';
import { composeCli } from './compose-cli.js';
import { interruptible } from './interruption.js';
import { Progress } from './progress.js';
import { requireInstallation, type Services, withOpen } from './verb.js';

/** Adds the verb. It ends with 1 when the former storage had lost files. */
export function storage(group: Command, extensions: ExtensionSet): void {
  const command = addVerb(group, 'move')
    .description('copies all files of the storage that STORAGE names into another, while the service runs')
    .addOption(new Option('--to <storage>', 'the other one').choices(['s3', 'local']).makeOptionMandatory())
    .example('--to s3');
  command.action(async () => {
    const { to, json } = command.optsWithGlobals<{ to: string; json?: true }>();
    const env = readEnv(undefined, extensions);
    requireTwo(env.variables.STORAGE, to);
    requireInstallation(env);
    const progress = new Progress();
    const moved = await interruptible((interrupted) => {
      const say = (text: string) => {
        interrupted.throwIfAborted();
        progress.say(text);
      };
      return move(env, extensions, to, say, interrupted);
    }).finally(() => progress.end());
    console.log(
      json === true ? JSON.stringify({ move: { to, ...moved } }) : inSentences(env.variables.STORAGE, to, moved),
    );
    if (moved.lost.length > 0) process.exitCode = 1;
  });
}

function move(
  env: Env,
  extensions: ExtensionSet,
  to: string,
  say: (text: string) => void,
  interrupted: AbortSignal,
): Promise<Moved> {
  // Another DATA_DIR would hold none of the files.
  const { imports, providers } = composeCli(env, extensions, {
    prepare: () => Promise.resolve(),
    recognise: (installation) => installation.compare({ withFolder: true }),
  });
  const modules = {
    imports: [...imports, DiskModule],
    providers: [...providers, FileStorage, LocalStorage, S3Storage],
  };
  return withOpen(
    modules,
    async (services) => {
      const [target, dataDir] = [await other(services, env, to), services.get(DataDir, { strict: false })];
      if (to === 'local') requireOwner(dataDir.path);
      const transactions = services.get(Transactions);
      // At the beginning: one that is interrupted has copied something.
      await transactions.open((tx) => recordOperator(tx, null, 'storage.move', { type: 'storage', id: to }));
      const client = await connected(services.get(DatabaseServer).url);
      closeOnAbort(client, interrupted);
      try {
        const from = services.get(FileStorage, { strict: false });
        return await moveFiles(client, from, target, isOurs(services, to), say);
      } finally {
        await client.end().catch(() => undefined);
      }
    },
    interrupted,
  );
}

/** A bucket has been compared when it was opened. */
function isOurs(services: Services, to: string): boolean {
  const { mark } = services.get(Installation);
  return mark !== null && (to === 's3' || hasMark(services.get(DataDir, { strict: false }).path, mark));
}

/** The storage of this installation, if STORAGE named another driver. */
async function other(services: Services, env: Env, to: string): Promise<FileStorage> {
  const { variables, file, modelKeys, repositoryTokens } = env;
  const changed = new Env({ ...variables, STORAGE: to }, file, modelKeys, repositoryTokens);
  const space = new DiskSpace(changed, services.get(DataDir, { strict: false }));
  const plugins = services.get(PluginRegistry, { strict: false });
  const target = new FileStorage(plugins, changed, space, services.get(Installation));
  await space.measure();
  await target.onModuleInit();
  return target;
}

function inSentences(from: string, to: string, { copied, bytes, present, lost }: Moved): string {
  const lines = [`${copied} files, ${inBytes(bytes)}, were copied to ${to}; ${present} are there in all.`];
  if (lost.length > 0) lines.push(`! ${from} had lost or damaged: ${lost.join(', ')}`);
  lines.push(
    `Nothing was removed from ${from}. Stop the service, call this once more for what was uploaded since, and start it with STORAGE=${to}.`,
  );
  return lines.join('\n');
}
