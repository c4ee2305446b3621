// The command line: its root, its verbs, and what their help looks like (reference §16).
import { Command, Help, type HelpConfiguration, type Option } from 'commander';
import type { ExtensionSet } from '../../platform/plugins/extension-set.js';

/** A verb: a command with an example. */
export class VerbCommand extends Command {
  /** What follows the verb in an example; empty when nothing does. */
  sample: string | undefined;
  private readonly once = new Set<string>();

  /** An option that is given twice is an error, where Commander takes the last one without a word: of two amounts one would be lost. */
  override addOption(option: Option): this {
    super.addOption(option);
    // A parser that takes what was given before makes a list of it.
    if ((option.parseArg?.length ?? 0) > 1) return this;
    const name = option.name();
    return this.on(`option:${name}`, () => {
      if (this.once.has(name)) this.error(`error: option '${option.flags}' is given twice`);
      this.once.add(name);
    });
  }

  /** For the help: what may follow the verb, such as `--workspace acme`. It must be a line that the verb takes. */
  example(sample: string): this {
    this.sample = sample;
    return this;
  }
}

/** Required options stand in the usage and are marked: nobody should learn of them by an error. */
const HELP: HelpConfiguration = {
  // `--json` of the root is an option of every verb.
  showGlobalOptions: true,
  commandUsage(command) {
    const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
    const [options, ...rest] = command.usage().split(' ');
    return [pathOf(command), ...required, options, ...rest].join(' ');
  },
  optionDescription(option: Option) {
    const said = Help.prototype.optionDescription.call(this, option);
    return option.mandatory ? `${said} (required)` : said;
  },
  formatHelp(command, helper) {
    const said = Help.prototype.formatHelp.call(this, command, helper);
    if (!(command instanceof VerbCommand) || command.sample === undefined) return said;
    return `${said}\nExample:\n  ${exampleOf(command)}\n`;
  },
};

/** The root of the command line. It knows the extensions, whose modules its verbs load. */
export class Program extends Command {
  constructor(readonly extensions: ExtensionSet) {
    super('millwright');
    // Of the root, so that it may stand before and after the verb.
    this.option('--json', 'print one JSON object').configureHelp(HELP).exitOverride();
  }
}

/** A verb of `parent`, by its usage: `show <id>`. */
export function addVerb(parent: Command, usage: string): VerbCommand {
  const [name, argument] = usage.split(' ');
  const command = new VerbCommand(name).copyInheritedSettings(parent);
  if (argument !== undefined) command.argument(argument);
  parent.addCommand(command);
  return command;
}

/** The words that lead to a command: `millwright key create`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** The whole line of a verb's example. */
export function exampleOf(command: VerbCommand): string {
  return `${pathOf(command)} ${command.sample ?? ''}`.trimEnd();
}
