// The thread that looks into manifests for clients: one of 20,000 files takes 50 ms to read.
import { parentPort } from 'node:worker_threads';
import { bytesOf, decode, entriesOf, FILE, FOLDER, HARD, shown } from './manifest.mjs';

/** Manifests are kept while they have so many entries together, the last one always: pages of one folder follow each other. 300,000 take 200 MB. */
const KEPT_ENTRIES = 100_000;
const kept = new Map();

async function manifestOf(sha256, bytes) {
  const found = kept.get(sha256) ?? indexed(await decode(Buffer.from(bytes)));
  kept.delete(sha256);
  kept.set(sha256, found);
  let entries = 0;
  for (const [key, { entries: these }] of [...kept].reverse()) {
    entries += these.length;
    if (entries > KEPT_ENTRIES && key !== sha256) kept.delete(key);
  }
  return found;
}

/** Sorted by the bytes of their paths, and by the path as people read it. Two that look the same: the first. */
function indexed(manifest) {
  const byPath = new Map();
  const entries = Object.keys(manifest.roots).flatMap((root) => entriesOf(manifest, root));
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const entry of entries) {
    const path = shown(entry[0]);
    if (!byPath.has(path)) byPath.set(path, entry);
  }
  const { objects, frames } = manifest;
  return { objects, frames, entries, byPath };
}

const named = ([path]) => path.slice(path.lastIndexOf('/') + 1);

/** The entries of a folder behind `after`; null when it is none. */
function list({ entries, byPath }, { path, after, limit }) {
  const folder = byPath.get(path);
  if (folder?.[1] !== FOLDER) return null;
  const start = `${folder[0]}/`;
  const found = [];
  for (const entry of entries) {
    if (!entry[0].startsWith(start) || entry[0].includes('/', start.length)) continue;
    const name = named(entry);
    if (after === null || name > after)
      found.push({ name, shown: shown(name), kind: entry[1], size: entry[3], mtime: entry[4] });
    if (found.length === limit) break;
  }
  return found;
}

/** A file, and where its bytes lie: place in it, object, place of the frame, its length, place in that, length. */
function file({ objects, frames, byPath, entries }, { path }) {
  const found = byPath.get(path);
  const entry = found?.[1] === HARD ? entries.find(([name]) => name === found[5]) : found;
  if (entry?.[1] !== FILE) return null;
  const [, , , size, mtime, sha256, pieces] = entry;
  const parts = [];
  for (let at = 0; at < pieces.length; at += 4) {
    const [object, offset, length] = frames[pieces[at + 1]];
    parts.push([pieces[at], objects[object], offset, length, pieces[at + 2], pieces[at + 3]]);
  }
  return { size, mtime, sha256, parts, name: bytesOf(named(found)).toString() };
}

parentPort.on('message', async ({ sha256, bytes, ...question }) => {
  const manifest = await manifestOf(sha256, bytes);
  parentPort.postMessage(question.limit === undefined ? file(manifest, question) : list(manifest, question));
});
