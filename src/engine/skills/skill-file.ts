// What the beginning of a SKILL.md says of its skill, by the convention of agentskills.io: name and description in YAML, between two lines of dashes.
import type { LineCounter } from 'yaml';
import { shown } from '../../platform/text/names.js';

/** The file that makes a folder a skill. */
export const SKILL_FILE = 'SKILL.md';
/** What names a skill, and its folder. */
export const SKILL_NAME = /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/;
export const SKILL_NAME_RULE = '1 to 64 small letters, digits and single hyphens, none of them at an end';
const MAX_DESCRIPTION = 1_024;
/** Bytes of a SKILL.md in which its front matter has to end. */
export const HEAD_BYTES = 16 * 1024;

export interface SkillHead {
  name: string;
  /** In one line. */
  description: string;
}

/** A file of a skill is not as it has to be. The message is for who has written it. */
export class SkillError extends Error {
  override readonly name = 'SkillError';
  /** @param file its path in the skill; null: the whole. @param line from 1; null: none of them. */
  constructor(what: string, file: string | null = null, line: number | null = null) {
    const where = file === null ? '' : line === null ? `${file}: ` : `${file}, line ${line}: `;
    super(where + what);
  }
}

/**
 * Reads the front matter of a SKILL.md, of which `bytes` are at least the first {@link HEAD_BYTES}. Other fields than these two are not looked at. Rejects with
 * {@link SkillError} with the line.
 */
export async function readHead(bytes: Buffer): Promise<SkillHead> {
  const text = decoded(bytes.subarray(0, HEAD_BYTES), bytes.length > HEAD_BYTES);
  const found = /^---[ \t]*\r?\n([^]*?)^---[ \t]*$/m.exec(text);
  if (found === null || found.index > 0) {
    const rule = `it has to begin with a line ---, the fields name and description, and a line ---, within ${HEAD_BYTES} bytes.`;
    throw new SkillError(rule, SKILL_FILE, 1);
  }
  // The package is loaded with the first skill, not at boot.
  const yaml = await import('yaml');
  const lines = new yaml.LineCounter();
  const document = parsed(yaml, found[1] ?? '', lines);
  // The line of dashes comes before.
  const lineOf = (offset: number) => lines.linePos(offset).line + 1;
  const [error] = document.errors;
  if (error !== undefined) {
    const [what = ''] = error.message.split(/ at line |\n/);
    throw new SkillError(`the YAML is not well-formed: ${what}.`, SKILL_FILE, lineOf(error.pos[0]));
  }
  const field = (name: string): { value: string; line: number } => {
    const node: unknown = document.get(name, true);
    const line = yaml.isScalar(node) ? lineOf(node.range?.[0] ?? 0) : 1;
    if (!yaml.isScalar(node) || typeof node.value !== 'string')
      throw new SkillError(`the field ${name} has to be there, and to be text.`, SKILL_FILE, line);
    return { value: shown(node.value.replace(/\s+/g, ' ').trim()), line };
  };
  const [name, description] = [field('name'), field('description')];
  if (!SKILL_NAME.test(name.value)) throw new SkillError(`name has to be ${SKILL_NAME_RULE}.`, SKILL_FILE, name.line);
  if (description.value === '' || [...description.value].length > MAX_DESCRIPTION)
    throw new SkillError(`description has to have 1 to ${MAX_DESCRIPTION} characters.`, SKILL_FILE, description.line);
  return { name: name.value, description: description.value };
}

/** Of a part the last character may be half. */
function decoded(bytes: Buffer, isPart: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isPart });
  } catch {
    throw new SkillError('it is not text in UTF-8.', SKILL_FILE);
  }
}

function parsed({ isMap, parseDocument }: typeof import('yaml'), text: string, lineCounter: LineCounter) {
  try {
    const document = parseDocument(text, { lineCounter, schema: 'core', logLevel: 'silent', prettyErrors: false });
    if (!isMap(document.contents)) throw new Error('no mapping');
    return document;
  } catch {
    // The parser goes down a level for each bracket.
    throw new SkillError('the front matter has to be fields of YAML: name and description.', SKILL_FILE, 2);
  }
}
