// The thread that reads the long bodies of deliveries, and asks all of them what a filter wants to know (docs/decisions/0024).
import { parentPort } from 'node:worker_threads';
import { compile, TreeInterpreter } from '@jmespath-community/jmespath';
import { payloadOf, readBody } from './hook-body.mjs';

/** JMESPath's own truth: false, null, and an empty text, list or object are false; 0 is true. */
function matches(filter, value) {
  try {
    const not = { type: 'NotExpression', child: compile(filter) };
    return { matches: TreeInterpreter.search(not, value) === false };
  } catch (error) {
    return { filterFault: error instanceof Error ? error.message : String(error) };
  }
}

parentPort.on('message', ({ filter, body }) => {
  if (filter === undefined) return parentPort.postMessage(readBody(body));
  const { value, fault } = payloadOf(body);
  if (fault !== undefined) return parentPort.postMessage({ fault });
  parentPort.postMessage('begun');
  parentPort.postMessage(matches(filter, value));
});
