// The filter of an automation: a JMESPath expression over the payload of an event (reference §12).
import { compile, getRegisteredFunctions } from '@jmespath-community/jmespath';

const MAX_LENGTH = 1_000;
/** Of the syntax tree. `a || b || c` has three levels: 1,000 characters hold some 60 alternatives, and nobody reads 100. */
const MAX_DEPTH = 100;

/**
 * A filter answers yes or no. Texts that it makes would be as long as it likes: `pad_left(a, `500000000`)`, or `to_string` around
 * `to_string`. A search in them takes minutes, and no thread can be ended in the middle of one.
 */
const TEXT_MAKERS = ['join', 'pad_left', 'pad_right', 'replace', 'to_string'];

/** An expression that cannot be used, or one that could not be evaluated; the message is a sentence for the one who wrote it. */
export class FilterError extends Error {
  override readonly name = 'FilterError';
}

/** Throws {@link FilterError} for an expression that does not compile, is too long or too deep, or calls an unknown function. */
export function checkFilter(expression: string): void {
  if (expression.length > MAX_LENGTH) {
    throw new FilterError(`The filter has more than ${MAX_LENGTH.toLocaleString('en')} characters.`);
  }
  let tree: object;
  try {
    tree = compile(expression);
  } catch (error) {
    throw new FilterError(`The filter is not valid JMESPath. ${faultOf(error)}`);
  }
  checkTree(tree, 1);
}

/** What the library says, as a sentence of at most 200 characters. */
export function faultOf(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).slice(0, 200).toWellFormed();
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function checkTree(node: object, depth: number): void {
  if (depth > MAX_DEPTH) throw new FilterError(`The filter is nested deeper than ${MAX_DEPTH} levels.`);
  const { type, name } = node as { type?: string; name?: string };
  if (type === 'Literal') return;
  if (type === 'Function' && name !== undefined) checkFunction(name);
  for (const child of Object.values(node).flat()) {
    if (typeof child === 'object' && child !== null) checkTree(child as object, depth + 1);
  }
}

function checkFunction(name: string): void {
  if (TEXT_MAKERS.includes(name)) {
    throw new FilterError(
      `The filter calls '${name}'. A filter must not make texts: ${TEXT_MAKERS.join(', ')} are not offered.`,
    );
  }
  if (!getRegisteredFunctions().includes(name)) {
    throw new FilterError(`The filter calls '${name.slice(0, 100)}', which is not a function of JMESPath.`);
  }
}
