import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Browsers that know light-dark(), <dialog> and popover. For older ones Lightning CSS would write variables for light-dark(). */
const TARGETS = ['chrome125', 'edge125', 'firefox128', 'safari17.5'];

/** What several pages share. */
const SHARED =
  /\/console\/src\/(ui\/(code|form|tags|download|attachments|pull-request|children)\.|texts\/(form|attachments|tasks|task|review|reading|(agent|environment|skill)-field|checks|children|commands|engines|mcp|web)\.|pages\/(projects\/project-select|agents\/places|settings\/(environments|skills)\/places)|api\/(task-actions|upload|check-queries|child-queries))/;

/** What pages with lists of records and their forms share, and those of tasks do not use. */
const RECORDS = /\/console\/src\/(ui|texts)\/records\./;

/** What the page of a task shares with its views, which have programs of their own. Patches are shown in each of them. */
const TASK =
  /\/console\/src\/(pages\/task\/(steps|usual|live|press|drafts|reading|plan|file-text|(task|tool|dock|checks\/checks)\.module)|ui\/(diff|diff-rows|patch))\.|\/node_modules\/diff\/(?!libesm\/patch\/create)/;

/** What only the conversation shows. */
const CONVERSATION =
  /\/console\/src\/pages\/task\/(conversation|blocks|tool-view|tool-bodies|patch-envelope|steps-view|ending|follow-end|fork-from|folds|live-output)\./;

/** What agents and commands say: text of models may have what a terminal shows. */
const SAID = /\/console\/src\/ui\/(markdown|terminal)\.|\/node_modules\/(marked|anser)\//;

/** What all of it is made with. Not without React: the file of its queries and the file that has React would import each other. */
const BASE = /\/node_modules\/(react|react-dom|scheduler|use-sync-external-store|@tanstack)\//;

const sheets = new Map<string, string>();
/** Two sheets of one name would share their classes. */
function onlyOne(file: string): string {
  const name = basename(file, '.module.css');
  const known = sheets.get(name) ?? file;
  if (known !== file) throw new Error(`${file} and ${known} have one name: rename one of them.`);
  sheets.set(name, file);
  return name;
}

const SERVICE = 'http://127.0.0.1:3000';

export default defineConfig({
  // The service serves the built files below this path; links in the page are absolute.
  base: '/console/',
  plugins: [react()],
  // By its own name the package is what was built; the console is built from the sources.
  resolve: { alias: { '@millwright/sdk': fileURLToPath(new URL('../packages/sdk/src/index.ts', import.meta.url)) } },
  // By the name of its file. The usual hash and number of a line in every class are 2 KiB.
  css: { modules: { generateScopedName: (name, file) => `${onlyOne(file)}-${name}` } },
  build: {
    outDir: '../dist-console',
    emptyOutDir: true,
    target: TARGETS,
    // The policy allows no data: scripts or styles; fonts and images below the limit would become data: URLs.
    assetsInlineLimit: 0,
    // One file compresses better than twenty: a third less.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    sourcemap: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Files of 200 bytes to 3 KiB cost a first load a KiB more each, for headers and because they compress badly.
          groups: [
            { name: 'parts', test: SHARED },
            { name: 'records', test: RECORDS },
            { name: 'task', test: TASK },
            { name: 'conversation', test: CONVERSATION },
            { name: 'said', test: SAID },
            { name: 'base', test: BASE },
          ],
          // Else what they import goes with them, React too.
          includeDependenciesRecursively: false,
        },
      },
    },
  },
  server: {
    port: 5173,
    host: '127.0.0.1',
    proxy: Object.fromEntries(['/v1', '/console/session', '/openapi.json', '/health'].map((path) => [path, SERVICE])),
  },
});
