// How long a person waits for the page of a long task, and for the letters that they type, in a real browser.
import { randomUUID } from 'node:crypto';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { startModel } from './agent.mjs';
import { inRounds, percentile } from './figures.mjs';
import { taker } from './tasks.mjs';

const MESSAGES = 3000;
const LINES = 13_000;
const KEYS = 40;
/** Between two keys: a fast writer's. */
const KEY_MS = 80;
/** What the model writes meanwhile. */
const WRITES = 'Write on. every=20';
const WAIT_MS = 60_000;

const PATCH = [
  `\`\`\`bash\n{ printf -- "--- a/long\\n+++ b/long\\n@@ -0,0 +1,${LINES} @@\\n"; seq -f "+line %.0f" 1 ${LINES}; } > long.patch\n\`\`\``,
  '```publish path=long.patch\n```',
].join('\n\n');

/** First views in windows that have nothing of an earlier one, and keys while the model writes; beside what the browser needs for nothing. */
export async function views(world, { rounds }) {
  const patchId = await patchTask(world);
  const model = await startModel();
  const service = await world.service({ ...model.env, REDIS_URL: null });
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  try {
    const taskId = await longTask(world, service);
    const state = await signedIn(browser, service, world.key);
    const window = () => new Window(browser, service.origin, state);
    const figures = await inRounds(
      {
        'an answer of no page': () => window().use((one) => one.firstView('/health/live', 'document.body !== null')),
        [`${MESSAGES} messages`]: () => window().use((one) => one.firstView(`/console/tasks/${taskId}`, inView(MESSAGES))),
        [`${LINES} lines`]: () => window().use((one) => changes(one, patchId)),
        'a bare box': () => window().use(bareBox),
        'the box while it writes': () => window().use((one) => messageBox(one, world, service)),
      },
      rounds,
    );
    return Object.entries(figures).map(([subject, row]) => ({ subject, ...row }));
  } finally {
    await browser.close();
    await service.stop();
    await model.stop();
  }
} // prettier-ignore

/** Made by the runbook, which a service has that knows no model. */
async function patchTask(world) {
  const service = await world.service({ REDIS_URL: null });
  try {
    return await taker(world, service.origin)(PATCH);
  } finally {
    await service.stop();
  }
}

async function longTask(world, service) {
  const id = await taker(world, service.origin)('Nothing.');
  await world.db.query(
    `WITH t AS (UPDATE tasks SET last_seq = last_seq + $2, read_upto = last_seq + $2 WHERE id = $1 RETURNING last_seq - $2 AS before)
     INSERT INTO messages (id, task_id, seq, read_seq, turn, role, status, parts, created_at)
     SELECT gen_random_uuid(), $1, t.before + n, t.before + n, 1, 'assistant', 'complete',
       jsonb_build_array(jsonb_build_object('type', 'text', 'text', 'Sentence ' || n)), now() + n * interval '1 ms'
     FROM t, generate_series(1, $2::int) n`,
    [id, MESSAGES],
  );
  return id;
}

/** What a browser keeps of somebody who is signed in. */
async function signedIn(browser, { origin }, key) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${origin}/console/`);
    await page.getByLabel('Key', { exact: true }).fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Console' }).waitFor();
    return await context.storageState();
  } finally {
    await context.close();
  }
}

/** The sentence is drawn, and all of it is in sight. */
const inView = (n) => `(() => {
  const box = [...document.querySelectorAll('main p')].find((one) => one.textContent === 'Sentence ${n}')?.getBoundingClientRect();
  return box !== undefined && box.top >= 0 && box.bottom <= innerHeight;
})()`;

/** One window of the browser, for one figure. */
class Window {
  constructor(browser, origin, storageState) {
    this.opening = browser.newContext({ baseURL: origin, storageState, viewport: { width: 1440, height: 900 } });
  }

  async use(measure) {
    const context = await this.opening;
    try {
      this.page = await context.newPage();
      return await measure(this);
    } finally {
      await context.close();
    }
  }

  /** From the navigation to the end of the first frame in which a condition holds. */
  async firstView(path, condition) {
    await this.page.addInitScript(`window.seen = (${FRAME_WITH})(() => ${condition})`);
    await this.page.goto(path, { waitUntil: 'commit' });
    return { 'view ms': await this.page.evaluate('window.seen') };
  }

  /** From each key to the end of the frame that shows it. The keys go to the box that has the focus. */
  async keys() {
    await this.page.evaluate(`{
      let pressed = 0;
      window.took = [];
      addEventListener('keydown', ({ timeStamp }) => (pressed = timeStamp), true);
      addEventListener('input', () => {
        const began = pressed;
        void (${FRAME_WITH})(() => true).then((at) => took.push(at - began));
      }, true);
    }`);
    for (let n = 0; n < KEYS; n++) {
      await this.page.keyboard.press('abcdefghij'[n % 10]);
      await delay(KEY_MS);
    }
    const took = await this.page.evaluate('window.took');
    if (took.length !== KEYS) throw new Error(`${took.length} of ${KEYS} keys were seen.`);
    return { 'key p50 ms': percentile(took, 0.5), 'key p95 ms': percentile(took, 0.95) };
  }
}

/**
 * In the page: resolves with the time at which the main thread has done the first frame after a condition holds. A message to oneself comes after
 * style, layout and paint of the frame.
 */
const FRAME_WITH = `(holds) => new Promise((resolve, reject) => {
  const look = () => {
    if (holds()) {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.now());
      return port2.postMessage(null);
    }
    if (performance.now() > ${WAIT_MS}) return reject(new Error('It does not come.'));
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

/** The tab is there when it says how many lines it has; a person unfolds them. */
async function changes(window, taskId) {
  const unfold = `[...document.querySelectorAll('button')].find((one) => one.textContent.includes('Show them'))`;
  const view = await window.firstView(`/console/tasks/${taskId}?tab=changes`, `${unfold} !== undefined`);
  const drawn = `document.querySelectorAll('main tr').length > ${LINES}`;
  const unfolded = await window.page.evaluate(`(() => {
    const began = performance.now();
    ${unfold}.click();
    return (${FRAME_WITH})(() => ${drawn}).then((at) => at - began);
  })()`);
  return { ...view, 'unfold ms': unfolded };
}

async function bareBox(window) {
  await window.page.setContent('<textarea autofocus></textarea>');
  await window.page.locator('textarea').focus();
  return window.keys();
}

async function messageBox(window, world, service) {
  const taskId = await longTask(world, service);
  const { page } = window;
  await send(world, service, `/v1/tasks/${taskId}/messages`, { content: WRITES });
  try {
    await page.goto(`/console/tasks/${taskId}`);
    await page.getByText('The millstone').first().waitFor();
    await page.getByLabel('Message to the agent').focus();
    const written = () => page.evaluate(`document.querySelector('main').innerText.length`);
    const before = await written();
    const figures = await window.keys();
    if ((await written()) < before + KEYS) throw new Error('Nothing was written meanwhile.');
    return figures;
  } finally {
    await send(world, service, `/v1/tasks/${taskId}/cancel`);
  }
}

async function send(world, { origin }, path, body) {
  const headers = { authorization: `Bearer ${world.key}`, 'idempotency-key': randomUUID() };
  const json = body && { body: JSON.stringify(body), headers: { ...headers, 'content-type': 'application/json' } };
  const answer = await fetch(origin + path, { method: 'POST', headers, ...json });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
}

function chromiumPath() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const paths = process.env.PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  const path = paths.find(isProgram);
  if (path === undefined) throw new Error(`None of ${names.join(', ')} is on the PATH.`);
  return path;
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
