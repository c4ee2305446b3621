// Loaded before the service (`gate --burn MS`): so many milliseconds of CPU more for each request and each call of a model, to see that the gate shuts.
import { Server } from 'node:http';

const ms = Number(process.env.BENCH_BURN_MS);

function burn() {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const emit = Server.prototype.emit;
Server.prototype.emit = function (name, ...rest) {
  if (name === 'request') burn();
  return emit.call(this, name, ...rest);
};
const { fetch } = globalThis;
globalThis.fetch = (...call) => {
  burn();
  return fetch(...call);
};
