// The verb `doctor`: examines every part of the installation and says what to do. It changes nothing.
import { Logger } from '@nestjs/common';
import type { Command } from 'commander';
import { readEnv } from '../../platform/config/env.js';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';
import { printable } from '../../platform/text/names.js';
import type { Finding } from '../doctor/check.js';
import { addVerb } from './command.js';

const SIGNS = { ok: '✔', warn: '!', fail: '✖' };

interface DoctorOptions {
  json?: true;
  models: boolean;
}

/** Adds the verb. It ends with 1 when a check fails. */
export function doctor(root: Command, extensions: ExtensionSet): void {
  const command = addVerb(root, 'doctor')
    .description('looks at every part of the installation, and says what is wrong and what to do')
    .option('--no-models', 'call no model: each call costs a little money')
    .example('--json');
  command.action(async () => {
    const { json, models } = command.optsWithGlobals<DoctorOptions>();
    const env = readEnv(undefined, extensions);
    // What the embedded server says while it starts is in the error when it does not.
    Logger.overrideLogger(false);
    // Loaded for this verb alone: the sandboxes and the providers of models are many files.
    const { examine } = await import('../doctor/doctor.js');
    const checks = await examine(env, extensions, { models });
    console.log(json === true ? JSON.stringify({ checks }) : printable(checks.map(inWords).join('\n')));
    if (checks.some(({ status }) => status === 'fail')) process.exitCode = 1;
  });
}

function inWords({ name, status, detail, advice }: Finding): string {
  return `${SIGNS[status]} ${name}: ${detail}${advice === null ? '' : ` ${advice}`}`;
}
