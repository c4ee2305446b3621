import { AsyncResource } from 'node:async_hooks';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import * as url from 'node:url';
import { Script, SyntheticModule, compileFunction, constants } from 'node:vm';
import JestRuntime from 'jest-runtime';
import { heldByPackages } from './one-realm-environment.mjs';

/** Namespaces of the modules of Node and of node_modules, by what Node imports; a promise while it does. SWC makes `import.meta.url` with `url`. */
const packages = new Map([['url', url]]);
/** Where a specifier leads, by the folder of the module that has it. */
const paths = new Map();
/** What the transformer and V8 made of a file. */
const scripts = new Map();

/** As CommonJS: V8 can run a script again for the next file, and keeps each ES module for ever (Node 20). */
const OPTIONS = {
  isInternalModule: false,
  supportsDynamicImport: true,
  supportsExportNamespaceFrom: false,
  supportsStaticESM: false,
  supportsTopLevelAwait: false,
};
const WORDS = 'exports, require, __filename, __dirname';
/** What SWC makes of an import or export of another module. */
const REQUIRED = /^(?:const \w+ = |_export_star\()?require\("([^"\\]+)"\)/gm;

/** Packages know nothing of the test that imports them first. */
const ofNoTest = new AsyncResource('packages');

/** Of the test file that is running: scripts are shared. */
let current = null;

/**
 * Loads the modules of a test file. Those of this repository are compiled once for all files of a worker, and evaluated anew for
 * each file. Those of Node and of node_modules are imported by Node itself, once: they are three quarters of 2,500. It needs an
 * environment with Node's own globals (one-realm-environment.mjs). docs/decisions/0065.
 */
export default class OneRealmRuntime extends JestRuntime {
  modules = new Map();
  /** What `import()` gave of them. */
  namespaces = new Map();

  constructor(...given) {
    super(...given);
    current = this;
    // Jest's own modules, such as `expect`. Jest would compile them for the context of the environment, and there is none.
    this.executor.compile = (source, filename) =>
      compileFunction(source, this.executor.injectedModuleParameters, {
        filename,
        importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      });
  }

  /** Resolves with the module of `import()`, evaluated. */
  async unstable_importModule(from, specifier) {
    const path = specifier === undefined ? from : this.pathOf(from, specifier);
    const name = this.packageOf(path);
    if (name !== null) return imported(name);
    await this.packagesOf(path);
    const { exports, evaluation } = this.ownModule(path);
    await evaluation;
    const known = this.namespaces.get(path);
    if (known !== undefined) return known;
    const made = namespaceOf(path, exports);
    this.namespaces.set(path, made);
    return made;
  }

  teardown() {
    for (const made of this.namespaces.values()) empty(made);
    this.namespaces.clear();
    this.modules.clear();
    super.teardown();
  }

  setMock() {
    throw new Error('Modules cannot be mocked here: packages are shared by all test files (docs/decisions/0065).');
  }

  setModuleMock() {
    this.setMock();
  }

  pathOf(from, specifier) {
    const key = `${dirname(from)}\0${specifier}`;
    const known = paths.get(key);
    if (known !== undefined) return known;
    const path = this._resolution.resolveEsm(from, specifier);
    paths.set(key, path);
    return path;
  }

  /** What Node imports of a module that is not of this repository. */
  packageOf(path) {
    if (this._resolution.isCoreModule(path)) return path;
    return path.includes('/node_modules/') ? url.pathToFileURL(path).href : null;
  }

  /** Imports the packages of a module and of all that it imports: it requires them when it is evaluated. */
  async packagesOf(path) {
    const waiting = [];
    this.collect(path, new Set(), waiting);
    await Promise.all(waiting);
  }

  collect(path, seen, waiting) {
    if (seen.has(path)) return;
    seen.add(path);
    for (const specifier of this.scriptOf(path).required) {
      if (specifier === '@jest/globals') continue;
      const next = this.pathOf(path, specifier);
      const name = this.packageOf(next);
      if (name === null) this.collect(next, seen, waiting);
      else waiting.push(imported(name));
    }
  }

  require(from, specifier) {
    if (specifier === '@jest/globals') return this.jestGlobals.cjsGlobals(from);
    const path = this.pathOf(from, specifier);
    const name = this.packageOf(path);
    if (name !== null) return packages.get(name);
    const module = this.ownModule(path);
    if (module.evaluation !== null) throw new Error(`${path} has an await at its top: only import() takes it here.`);
    return module.exports;
  }

  ownModule(path) {
    const known = this.modules.get(path);
    if (known !== undefined) {
      if (known.error !== null) throw known.error;
      return known;
    }
    const module = { exports: {}, evaluation: null, error: null };
    this.modules.set(path, module);
    const { script, sourceMap } = this.scriptOf(path);
    if (sourceMap !== undefined) this.transformCache.getSourceMaps().set(path, sourceMap);
    try {
      const evaluated = script
        .runInThisContext()
        .call(undefined, module.exports, (specifier) => this.require(path, specifier), path, dirname(path));
      if (evaluated !== undefined) module.evaluation = evaluated;
    } catch (error) {
      module.error = error;
      throw error;
    }
    return module;
  }

  scriptOf(path) {
    const { mtimeMs } = statSync(path);
    const known = scripts.get(path);
    if (known?.mtimeMs === mtimeMs) return known;
    const code = this.transformCache.transform(path, OPTIONS);
    const required = [...code.matchAll(REQUIRED)].map(([, specifier]) => specifier);
    const made = {
      script: compiled(path, code),
      required,
      sourceMap: this.transformCache.getSourceMaps().get(path),
      mtimeMs,
    };
    scripts.set(path, made);
    return made;
  }
}

function compiled(filename, code) {
  const importModuleDynamically = (specifier) => current.unstable_importModule(filename, specifier);
  const wrapped = (head) =>
    new Script(`${head}${code}\n})`, { filename, columnOffset: -head.length, importModuleDynamically });
  try {
    return wrapped(`(function (${WORDS}) {`);
  } catch (error) {
    if (!(error instanceof SyntaxError && error.message.includes('await'))) throw error;
    return wrapped(`(async function (${WORDS}) {`);
  }
}

/** The namespace of a package. */
async function imported(name) {
  const known = packages.get(name);
  if (known !== undefined) return known;
  const before = new Set(Reflect.ownKeys(globalThis));
  const importing = ofNoTest.runInAsyncScope(() => import(name));
  packages.set(name, importing);
  const namespace = await importing;
  for (const key of Reflect.ownKeys(globalThis)) if (!before.has(key)) heldByPackages.add(key);
  packages.set(name, namespace);
  return namespace;
}

/** `import()` wants a module. */
async function namespaceOf(identifier, exports) {
  const names = Object.keys(exports);
  const module = new SyntheticModule(names, () => names.forEach((name) => module.setExport(name, exports[name])), {
    identifier,
  });
  await module.link(() => undefined);
  await module.evaluate();
  return module;
}

/** Node 20 keeps a module for ever: it must not keep what it exports. */
async function empty(made) {
  const module = await made;
  for (const name of Object.keys(module.namespace)) module.setExport(name, undefined);
}
