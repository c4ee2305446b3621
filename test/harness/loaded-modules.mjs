// Loaded into a process by --import: when it ends it says which modules of OpenTelemetry it had loaded.
import Module from 'node:module';

process.on('exit', () => {
  const names = Object.keys(Module._cache).map((path) => /@opentelemetry\/([\w-]+)/.exec(path)?.[1]);
  console.log(`LOADED ${JSON.stringify([...new Set(names.filter(Boolean))].sort())}`);
});
