#!/usr/bin/env -S node --no-opt
// The operator command (reference §16). It runs beside the service or alone. (`--no-opt`: see scripts/cli.mjs.)
import 'reflect-metadata';
import { CommanderError } from 'commander';
import { EXTENSIONS } from './extensions.js';
import { program } from './operator/verbs/program.js';
import { ExtensionSet } from './platform/plugins/extension-set.js';

try {
  await program(new ExtensionSet(EXTENSIONS)).parseAsync();
  // What a check of `doctor` has given up may still hang, and would keep the process.
  setTimeout(() => process.exit(), 2000).unref();
} catch (error) {
  // Commander has said what is wrong with the line; 2 tells a wrong command from one that failed.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
