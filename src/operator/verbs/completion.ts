// The verb `completion`: scripts for bash and zsh, made from the tree of commands, so that they know every verb and choice.
import { Argument, type Command, type Option } from 'commander';
import { addVerb } from './command.js';

const SHELLS = ['bash', 'zsh'] as const;

interface Word {
  word: string;
  description: string;
}

/** A position in a line, given by the words before it that matter: ` key create`, or ` key create --role` for the value of an option. */
interface Position {
  at: string;
  words: Word[];
}

/** Adds the verb. */
export function completion(root: Command): void {
  const command = addVerb(root, 'completion')
    .description('prints a script that completes verbs, options and their values')
    .example('bash')
    .addArgument(new Argument('<shell>', 'whose script it is').choices(SHELLS))
    .addHelpText('after', HOW);
  command.action((shell: (typeof SHELLS)[number]) => {
    const script = { bash, zsh }[shell](commandsOf(root, ''), valuesOf(root, ''));
    const { json } = command.optsWithGlobals<{ json?: true }>();
    console.log(json === true ? JSON.stringify({ script }) : script);
  });
}

const HOW = `
In ~/.bashrc:  eval "$(millwright completion bash)"
In ~/.zshrc:   eval "$(millwright completion zsh)", after compinit`;

/** What may stand after each command that is not the value of an option. */
function commandsOf(command: Command, at: string): Position[] {
  const verbs = command.commands.map((one) => ({ word: one.name(), description: one.description() }));
  const values = command.registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((word) => ({ word, description })),
  );
  const options = optionsOf(command).map(({ long, description }) => ({ word: long ?? '', description }));
  const further = command.commands.flatMap((one) => commandsOf(one, `${at} ${one.name()}`));
  return [{ at, words: [...verbs, ...values, ...options] }, ...further];
}

/** What may be the value of each option; nothing where it is free. */
function valuesOf(command: Command, at: string): Position[] {
  const own = optionsOf(command)
    .filter(({ required, optional }) => required || optional)
    .map(({ long, description, argChoices = [] }) => ({
      at: `${at} ${long ?? ''}`,
      words: argChoices.map((word) => ({ word, description })),
    }));
  return [...own, ...command.commands.flatMap((one) => valuesOf(one, `${at} ${one.name()}`))];
}

/** Those of the root (`--json`) stand everywhere, and so does the help. */
function optionsOf(command: Command): Option[] {
  const all = command.createHelp().visibleOptions(command);
  return command.parent === null ? all : [...all, ...rootOf(command).options.filter(({ long }) => long === '--json')];
}

const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent));

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
const alternatives = (positions: readonly Position[]) => positions.map(({ at }) => quoted(at)).join('|');
const below = (commands: readonly Position[]) => alternatives(commands.filter(({ at }) => at !== ''));

function bash(commands: readonly Position[], values: readonly Position[]): string {
  const found = ({ at, words }: Position) =>
    `${quoted(at)}) words=${quoted(words.map(({ word }) => word).join(' '))} ;;`;
  const free = values.filter(({ words }) => words.length === 0);
  const chosen = values.filter(({ words }) => words.length > 0);
  return `# bash completion of millwright
_millwright() {
  local at='' words='' i current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  # bash takes --role=admin apart into three words.
  if [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $current == = ]]; then current=''; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${below(commands)}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $previous" in
    ${chosen.map(found).join('\n    ')}
    ${alternatives(free)}) ;;
    *)
      case "$at" in
        ${commands.map(found).join('\n        ')}
      esac
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _millwright millwright`;
}

function zsh(commands: readonly Position[], values: readonly Position[]): string {
  const found = ({ at, words }: Position) =>
    `(${quoted(at)}) found=(${words.map(({ word, description }) => quoted(`${word}:${description}`)).join(' ')}) ;;`;
  return `#compdef millwright
_millwright() {
  local at='' word
  local -a found
  for word in \${words[2,CURRENT-1]}; do
    case "$at $word" in
      (${below(commands)}) at="$at $word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
    ${values.map(found).join('\n    ')}
    (*)
      case "$at" in
        ${commands.map(found).join('\n        ')}
      esac
      ;;
  esac
  if (( $#found )); then _describe 'millwright' found; else _files; fi
}
if [[ \${funcstack[1]} == _millwright ]]; then _millwright "$@"; else compdef _millwright millwright; fi`;
}
