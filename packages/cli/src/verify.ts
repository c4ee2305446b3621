// Saves a proof, and verifies one: with a file of keys that asks nobody.
import { readFile, writeFile } from 'node:fs/promises';
import { ConnectionError, verifyProof } from '@millwright/sdk';
import { client, serviceUrl } from './account.js';
import { UsageError, type Verb } from './line.js';
import { plain } from './terminal.js';

export const proof: Verb = {
  words: ['TASK'],
  options: { out: 'text' },
  async run(line) {
    const out = line.text('out');
    const text = JSON.stringify(await client().tasks.proof(line.word(0)));
    if (out === undefined) console.log(text);
    else {
      await writeFile(out, `${text}\n`);
      console.error(`Saved ${out}`);
    }
    return 0;
  },
};

export const verify: Verb = {
  words: ['PROOF'],
  options: { patch: 'text', keys: 'text' },
  async run(line) {
    const proof = await readFile(line.word(0), 'utf8');
    const [path, keys] = [line.text('patch'), line.text('keys')];
    const patch = path === undefined ? {} : { patch: await readFile(path) };
    const trusted = keys === undefined ? { origin: serviceUrl() } : { keys: await keysFrom(keys) };
    const proven = await verifyProof(proof, { ...patch, ...trusted });
    console.log(line.json ? JSON.stringify(proven) : plain(proven.summary));
    // A script that goes on after it should not, where the proof is one of a failure.
    return proven.statement.predicate.result === 'PASSED' ? 0 : 1;
  },
};

async function keysFrom(place: string): Promise<string> {
  if (!/^https?:\/\//.test(place)) return readFile(place, 'utf8');
  if (!URL.canParse(place)) throw new UsageError(`--keys ${place} is no URL.`);
  try {
    const response = await fetch(place, { signal: AbortSignal.timeout(30_000) });
    if (response.ok) return await response.text();
    throw new Error(`HTTP ${response.status}`);
  } catch (cause) {
    throw new ConnectionError(`${place} does not answer with keys: ${(cause as Error).message}`, { cause });
  }
}
