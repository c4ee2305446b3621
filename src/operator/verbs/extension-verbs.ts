// The verbs of extensions: one group for each, with the name of the extension.
import type { Command } from 'commander';
import { ConfigurationError } from '../../platform/config/env.js';
import type { CommandOptions, Extension, ExtensionCommand } from '../../platform/plugins/extension.js';
import { verb } from './verb.js';

/** Throws {@link ConfigurationError} when the group, or a verb of it, is there already. */
export function addExtensionVerbs(root: Command, { name, commands = {} }: Extension): void {
  const verbs = Object.entries(commands);
  if (verbs.length === 0) return;
  if (named(root, name) || name === 'help') {
    throw new ConfigurationError(
      `src/extensions.ts: the group '${name}' of verbs is brought by Millwright and by the extension '${name}'; rename the extension.`,
    );
  }
  const group = root.command(name).description(`of the extension '${name}'`);
  for (const [usage, command] of verbs) {
    const [word = ''] = usage.split(' ');
    if (named(group, word)) {
      throw new ConfigurationError(
        `src/extensions.ts: the extension '${name}' brings two verbs called '${word}'; rename one.`,
      );
    }
    addVerb(group, usage, command);
  }
}

function named(parent: Command, word: string): boolean {
  return parent.commands.some((one) => one.name() === word);
}

function addVerb(
  group: Command,
  usage: string,
  { description, required = {}, options = {}, run }: ExtensionCommand,
): void {
  const command: Command = verb(group, usage, (services, _options, argument) =>
    run(services, command.opts<CommandOptions>(), usage.includes('<') ? argument : ''),
  );
  command.description(description);
  for (const [flags, meaning] of Object.entries(required)) command.requiredOption(flags, meaning);
  for (const [flags, meaning] of Object.entries(options)) command.option(flags, meaning);
}
