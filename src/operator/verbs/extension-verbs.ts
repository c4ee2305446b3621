// The verbs of extensions: one group for each, with the name of the extension. ExtensionSet has checked the names.
import type { Command } from 'commander';
import type { CommandOptions, Extension, ExtensionCommand } from '../../platform/plugins/extension.js';
import type { VerbCommand } from './command.js';
import { verb } from './verb.js';

export function addExtensionVerbs(root: Command, { name, commands = {} }: Extension): void {
  const verbs = Object.entries(commands);
  if (verbs.length === 0) return;
  const group = root.command(name).description(`of the extension '${name}'`);
  for (const [usage, command] of verbs) addVerb(group, usage, command);
}

function addVerb(
  group: Command,
  usage: string,
  { description, required = {}, options = {}, example, run }: ExtensionCommand,
): void {
  const command: VerbCommand = verb(group, usage, (services, _options, argument) =>
    run(services, command.opts<CommandOptions>(), argument),
  );
  command.description(description);
  if (example !== undefined) command.example(example);
  for (const [flags, meaning] of Object.entries(required)) command.requiredOption(flags, meaning);
  for (const [flags, meaning] of Object.entries(options)) command.option(flags, meaning);
}
