// The filter of an automation: a JMESPath expression over the payload of an event (reference §12).
import { compile, isRegistered } from '@jmespath-community/jmespath';

const MAX_LENGTH = 1_000;
/** Of the syntax tree. `a || b || c` has three levels: 1,000 characters hold some 60 alternatives, and nobody reads 100. */
const MAX_DEPTH = 100;

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
  if (type === 'Function' && name !== undefined && !isRegistered(name)) {
    throw new FilterError(`The filter calls '${name.slice(0, 100)}', which is not a function of JMESPath.`);
  }
  for (const child of Object.values(node).flat()) {
    if (typeof child === 'object' && child !== null) checkTree(child as object, depth + 1);
  }
}
