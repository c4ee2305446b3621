// What a simulated worker has in the place of a model, a sandbox and a bucket. All else is the built service.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { ModelProvider } from '../../dist/engine/models/model-provider.js';
import { Sandbox, SandboxFileError, SandboxSession } from '../../dist/engine/sandbox/sandbox.js';
import { newId } from '../../dist/platform/database/ids.js';
import { Plugin } from '../../dist/platform/plugins/plugin.js';
import { BytesGoneError, StorageDriver } from '../../dist/resources/files/storage/storage-driver.js';
import { PREVIOUS, TAKEN } from '../../dist/work/runs/run-snapshots.sql.js';

export const NAME = 'simulated';
/** What a snapshot of a small change has: one object of blobs, beside its manifest. */
const BLOBS = 3;
const OBJECT_BYTES = 4096;
const MANIFEST_BYTES = 1024;

const USAGE = { inputTokens: 100, outputTokens: 10, cachedInputTokens: 0, reasoningTokens: 0 };

/**
 * The extension that brings the three.
 * @param turns how many answers of a task are a call, before the last one.
 * @param thinkMs how long an answer takes: from half of it to one and a half.
 * @param answered called with each answer: the task by its cache key, and which answer of it.
 */
export function simulatedParts({ turns, thinkMs, answered = () => undefined }) {
  class Model extends ModelProvider {
    wantsSurroundings = false;
    makesTitles = false;

    list() {
      const none = { efforts: [], defaultEffort: null, input: ['text'], contextWindow: null };
      return [{ id: NAME, name: 'Simulated', description: 'Thinks and writes.', ...none, status: 'available' }];
    }

    async *stream({ messages, cacheKey, signal }) {
      const said = messages.filter(({ role }) => role === 'assistant').length;
      await delay(thinkMs * (0.5 + Math.random()), undefined, { signal });
      answered(`${cacheKey} ${said}`);
      if (said < turns) yield callOf(said);
      else yield { type: 'text', text: 'Done: all is written.', end: true };
      yield { type: 'finish', reason: said < turns ? 'tool_calls' : 'stop', usage: USAGE };
    }
  }

  /** Takes what is written, and has nothing. Its folder is there, so that snapshots are asked for. */
  class NoSandbox extends Sandbox {
    check = async () => ({ driver: NAME, active: [], missing: [] });
    open = async () => new NoSession();
    workdirBytes = async () => OBJECT_BYTES;
    folders = async () => ({ workdir: '/' });
    remove = async () => undefined;
  }

  /** Keeps nothing: the bytes of a snapshot are read by nobody here. */
  class NoStorage extends StorageDriver {
    async put(_workspace, content) {
      for await (const piece of content) void piece;
    }
    open = async () => Promise.reject(new BytesGoneError('Nothing is kept.'));
    removeUnused = async () => 0;
    removeAll = async () => undefined;
  }

  Plugin(ModelProvider, NAME)(Model);
  Plugin(Sandbox, NAME)(NoSandbox);
  Plugin(StorageDriver, NAME)(NoStorage);
  class SimulatedModule {}
  const providers = [Model, NoSandbox, NoStorage];
  return { name: NAME, module: { module: SimulatedModule, providers } };
}

class NoSession extends SandboxSession {
  run = async () => ({ exitCode: 0, stdout: '', stderr: '', truncated: false, killed: null });
  async readFile(path) {
    throw new SandboxFileError('not_found', `${path} does not exist.`);
  }
  async writeFile(_path, content) {
    if (content instanceof Readable) for await (const piece of content) void piece;
  }
  close = async () => undefined;
}

/** Each call is another one: the service refuses the same call again and again. */
function callOf(n) {
  const input = JSON.stringify({ path: `notes/${n}.txt`, content: 'A line of the file.\n' });
  return { type: 'tool_call', toolCallId: `call_${n}`, name: 'write', input };
}

/**
 * In the place of `RunSnapshots.taken`, which starts a program that reads the folder: all that reaches the database, and two puts. `this`
 * is the service's own object, whose turns and conditions stay.
 */
export async function snapshotTaken(held) {
  const { run, signal } = held;
  const { taskId, workspaceId } = run;
  const { limits } = this.quota;
  const store = this.store.of(workspaceId, signal);
  await this.database.work.run(PREVIOUS({ taskId, workspaceId, limits }));
  const id = newId();
  const digests = Array.from({ length: BLOBS }, (_, n) => digestOf(`${id} ${n}`));
  await store.known(JSON.stringify(digests));
  const size = Math.floor(OBJECT_BYTES / BLOBS);
  const blobs = digests.map((sha256, n) => [sha256, 0, OBJECT_BYTES, n * size, size]);
  const object = await store.put(Buffer.alloc(OBJECT_BYTES, `${id} object `), JSON.stringify(blobs));
  const manifest = await store.put(Buffer.alloc(MANIFEST_BYTES, `${id} manifest `), null);
  const about = { files: BLOBS, bytes: OBJECT_BYTES, manifest, walk: digestOf(id), objects: [object, manifest] };
  await this.writes.fenced(held, TAKEN.held({ run, id, ...about, limits }));
}

function digestOf(text) {
  return createHash('sha256').update(text).digest('hex');
}
