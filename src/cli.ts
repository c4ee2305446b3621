#!/usr/bin/env -S node --no-opt
// `millwright`: the operator's verbs are carried out here, those of clients by @millwright/cli. (`--no-opt`: see scripts/cli.mjs.)
import { CLIENT_VERBS } from './operator/verbs/client-verbs.js';

// Each side loads only its own: the operator's takes most of a second.
const args = process.argv.slice(2);
if (CLIENT_VERBS.includes(args[0] ?? '')) await client();
else await import('./operator-command.js');

async function client(): Promise<void> {
  try {
    const { main } = await import('@millwright/cli');
    await main(args);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    console.error(`'${args[0]}' is a verb of the package @millwright/cli, which is not installed here.`);
    process.exitCode = 2;
  }
}
