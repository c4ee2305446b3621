// One setup at a time in a checkout: of two commands at once one does the work, the other waits and finds it done.
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const WAIT_MS = 10 * 60_000;

/** Runs `work` while this process holds the lock of a folder. A holder that no longer lives does not count. */
export async function locked(folder, work) {
  mkdirSync(folder, { recursive: true });
  const lock = join(folder, 'lock');
  const mine = join(folder, `lock.${process.pid}`);
  writeFileSync(mine, String(process.pid));
  try {
    await acquire(lock, mine);
    const release = () => rmSync(lock, { force: true });
    process.once('exit', release);
    try {
      await work();
    } finally {
      process.removeListener('exit', release);
      release();
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

async function acquire(lock, mine) {
  const until = Date.now() + WAIT_MS;
  for (let told = false; ; told = true) {
    try {
      // A link comes into being together with its content, the holder's process id.
      linkSync(mine, lock);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = holderOf(lock);
    if (holder !== null && !alive(holder)) rmSync(lock, { force: true });
    else if (Date.now() > until) throw new Error(`Process ${holder} has held ${lock} for 10 minutes.`);
    else {
      if (!told) process.stderr.write(`Waiting for the setup that process ${holder} is doing …\n`);
      await delay(200);
    }
  }
}

function holderOf(lock) {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch {
    return null;
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
