// One stretch of load by autocannon, in a process of its own. Its argument is JSON; it prints JSON.
//   { url, connections, seconds or amount, headers, create }   create: POSTs, each with an Idempotency-Key of its own
import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';

const { url, connections, seconds, amount, headers, create } = JSON.parse(process.argv[2]);
const body = JSON.stringify({ content: 'Say that there is nothing to do.' });

/** A new key for each request. */
function keyed(request) {
  return { ...request, headers: { ...request.headers, 'idempotency-key': randomUUID() } };
}

const post = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body, setupRequest: keyed };
const options = { url, connections, headers, ...(amount === undefined ? { duration: seconds } : { amount }) };
const result = await autocannon(create ? { ...options, requests: [post] } : options);
process.stdout.write(
  JSON.stringify({
    answered: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    longest: result.latency.max,
    bytes: Math.round(result.throughput.total / Math.max(1, result.requests.total)),
    failed: result.non2xx + result.errors + result.timeouts,
  }),
);
