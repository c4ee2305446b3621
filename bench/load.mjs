// One stretch of load by autocannon, in a process of its own. Its argument is JSON; it prints JSON.
//   { url, connections, seconds or amount, headers, create, status }
//   create: POSTs, each with an Idempotency-Key of its own; status: what is answered, in place of 200 to 299
import { randomUUID } from 'node:crypto';
import autocannon from 'autocannon';

const { url, connections, seconds, amount, headers, create, status } = JSON.parse(process.argv[2]);
const body = JSON.stringify({ title: 'A task', content: 'Say that there is nothing to do.' });

/** A new key for each request. */
function keyed(request) {
  return { ...request, headers: { ...request.headers, 'idempotency-key': randomUUID() } };
}

const post = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body, setupRequest: keyed };
const options = { url, connections, headers, ...(amount === undefined ? { duration: seconds } : { amount }) };
const result = await autocannon(create ? { ...options, requests: [post] } : options);
const wrong =
  status === undefined ? result.non2xx : result.requests.total - (result.statusCodeStats[status]?.count ?? 0);
process.stdout.write(
  JSON.stringify({
    answered: result.requests.total,
    perSecond: result.requests.total / result.duration,
    p50: result.latency.p50,
    p99: result.latency.p99,
    longest: result.latency.max,
    bytes: Math.round(result.throughput.total / Math.max(1, result.requests.total)),
    failed: wrong + result.errors + result.timeouts,
  }),
);
