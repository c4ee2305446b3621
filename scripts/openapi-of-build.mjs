// The OpenAPI document of the built service, for scripts that write types of it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export function documentOfBuild() {
  const folder = mkdtempSync(join(tmpdir(), 'millwright-types-'));
  try {
    const file = join(folder, 'openapi.json');
    const script = fileURLToPath(new URL('openapi.mjs', import.meta.url));
    execFileSync(process.execPath, [script, file], { stdio: 'inherit' });
    return JSON.parse(readFileSync(file, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
