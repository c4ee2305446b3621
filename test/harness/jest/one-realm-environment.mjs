import { ModernFakeTimers } from '@jest/fake-timers';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { ModuleMocker } from 'jest-mock';
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { defaultMetadataStorage: transformed } = require('class-transformer/cjs/storage.js');

/**
 * Globals that packages made when they were loaded or first used: they may hold them in variables of their own. And what
 * contract.ts has compiled.
 */
export const heldByPackages = new Set([
  'classValidatorMetadataStorage',
  'typeormMetadataArgsStorage',
  'millwrightValidators',
]);

/** Nest's logger as it is at first, and what it prints. */
const { staticInstanceRef } = Logger;
const LEVELS = ['verbose', 'debug', 'log', 'warn', 'error', 'fatal'];

/**
 * The environment of a test file: Node's own globals and not a copy of them, so that what is loaded once for all files of a
 * worker (one-realm-runtime.mjs) knows the errors, arrays and dates of the tests as its own. What a file changes is put back.
 */
export default class OneRealmEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  // The older kind of them, which nothing here uses.
  fakeTimers = null;

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    // The packages are one for all files of a worker, and this is what tests change of them.
    Object.assign(Logger, { staticInstanceRef, isBufferAttached: false, logBuffer: [] });
    // A new list: who has the one of an earlier file takes it over.
    Logger.overrideLogger([...LEVELS]);
    this.putBack = [forgetClasses, globals(), variables(), listeners(), ends(), contexts()];
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Jest asks for one; the runtime uses none. */
  getVmContext() {
    return null;
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    for (const put of this.putBack) put();
  }
}

/** Those that were added go, those that were replaced come back. */
function globals() {
  const before = Object.getOwnPropertyDescriptors(globalThis);
  return () => {
    // What cannot be deleted is Jest's or Node's own.
    for (const key of Reflect.ownKeys(globalThis))
      if (!(key in before) && !heldByPackages.has(key)) Reflect.deleteProperty(globalThis, key);
    for (const key of Reflect.ownKeys(before)) {
      const now = Object.getOwnPropertyDescriptor(globalThis, key);
      const { value, get } = before[key];
      if (now?.value !== value || now?.get !== get) Object.defineProperty(globalThis, key, before[key]);
    }
  };
}

/** What the decorators of a file's classes have left in packages: others would search it, and never find it. */
function forgetClasses() {
  const loaded = (name) => require.cache[require.resolve(name)]?.exports;
  for (const list of Object.values(loaded('typeorm')?.getMetadataArgsStorage() ?? {})) list.length = 0;
  for (const map of Object.values(loaded('class-validator')?.getMetadataStorage() ?? {})) map.clear();
  for (const map of Object.values(transformed)) map.clear();
  Test.metadataScanner.cachedScannedPrototypes.clear();
}

function variables() {
  const before = { ...process.env };
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    for (const [name, value] of Object.entries(before)) if (process.env[name] !== value) process.env[name] = value;
  };
}

function listeners() {
  const before = new Map(process.eventNames().map((name) => [name, new Set(process.rawListeners(name))]));
  return () => {
    for (const name of process.eventNames()) {
      for (const listener of process.rawListeners(name)) {
        if (before.get(name)?.has(listener) !== true) process.removeListener(name, listener);
      }
    }
  };
}

/** Jest replaces `process.exit` for each file; a command's exit code is not that of the worker. */
function ends() {
  const { exit, exitCode } = process;
  const { stackTraceLimit } = Error;
  return () => {
    Object.assign(process, { exit, exitCode });
    Error.stackTraceLimit = stackTraceLimit;
  };
}

/**
 * Node carries the value of each storage that was ever used from promise to promise, until it is disabled. Those of a file, and
 * of Jest, which is loaded for each file, would slow down all that follows. A timer of a package may hold its value for ever,
 * and with it all that the test had.
 */
function contexts() {
  const used = new Map();
  const { run, enterWith } = AsyncLocalStorage.prototype;
  const noted = (method) =>
    function (value, ...given) {
      used.set(value, this);
      return method.call(this, value, ...given);
    };
  Object.assign(AsyncLocalStorage.prototype, { run: noted(run), enterWith: noted(enterWith) });
  return () => {
    Object.assign(AsyncLocalStorage.prototype, { run, enterWith });
    for (const [value, storage] of used) {
      storage.disable();
      // Of a class it may be the one that a package begins with each time, such as playwright's empty zone.
      if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) continue;
      for (const key of Object.keys(value)) Reflect.deleteProperty(value, key);
    }
  };
}
