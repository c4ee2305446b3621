// docker-compose.yml as the tests can know it: no container engine runs here.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { ENV_NAMES, readEnv } from '../../src/platform/config/env.js';

interface Service {
  image: string;
  profiles?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  privileged?: boolean;
  ports?: string[];
  command?: string[];
  healthcheck?: { test: string[] };
  security_opt?: string[];
  depends_on?: Record<string, unknown>;
}
interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, null>;
}

describe('docker-compose.yml', () => {
  const file = readFileSync(fileURLToPath(new URL('../../docker-compose.yml', import.meta.url)), 'utf8');
  const { services, volumes } = parse(file, { merge: true }) as Compose;
  const ours = Object.entries(services).filter(([, { image }]) => image === 'millwright');
  /** As Compose fills them in: each `${NAME:-default}` by its value. */
  const filled = (service: Service) => {
    const all = Object.entries(service.environment ?? {});
    const given: Record<string, string> = { SECRET_KEY: 'x'.repeat(32), S3_SECRET: 'secret' };
    const value = (text: string) =>
      text.replaceAll(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, other: string) => given[name] ?? other);
    return Object.fromEntries(all.map(([name, text]) => [name, value(text)]));
  };

  it('starts PostgreSQL and Redis alone, and with the profile `full` an API, two workers and a store for S3', () => {
    const names = (profile: boolean) =>
      Object.entries(services).flatMap(([name, { profiles }]) => ((profiles !== undefined) === profile ? [name] : []));
    expect(names(false)).toEqual(['postgres', 'redis']);
    expect(names(true)).toEqual(['api', 'worker-1', 'worker-2', 's3']);
    expect(ours.map(([, { environment }]) => environment?.['ROLE'])).toEqual(['api', 'worker', 'worker']);
  });

  it('sets variables that the service knows, to values that it takes', () => {
    for (const [, service] of ours) {
      const env = filled(service);
      expect(Object.keys(env).filter((name) => !ENV_NAMES.includes(name))).toEqual([]);
      expect(() => readEnv(env)).not.toThrow();
    }
  });

  it('runs the service without rights on a root that cannot be written to, each process on a volume of its own', () => {
    for (const [, service] of ours) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
      expect(service.security_opt).toContain('no-new-privileges:true');
      expect(service).not.toHaveProperty('privileged');
    }
    const data = ours.flatMap(([, service]) => service.volumes ?? []);
    expect(new Set(data).size).toBe(3);
    const named = Object.values(services).flatMap((service) => (service.volumes ?? []).map((one) => one.split(':')[0]));
    expect(Object.keys(volumes).sort()).toEqual([...new Set(named)].sort());
  });

  it('makes the bucket of the store until its list names it, and says that it is healthy then alone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'millwright-compose-'));
    // The store: its shell answers the third time, and lists what it has made. The server ends when it has.
    const weed = `#!/bin/sh
cd ${folder}
if [ "$1" = server ]; then until [ -e made ]; do sleep 0.1; done; exit 0; fi
read -r line; echo "$line" >>asked
case $line in
s3.bucket.list) printf '> '; [ ! -e made ] || printf '  millwright\\tsize:0\\tchunk:0\\n' ;;
*) [ "$(grep -c create asked)" -lt 3 ] && { echo 'no filer' >&2; exit 1; }; echo 'created bucket millwright' >&2; touch made ;;
esac
`;
    const programs = { weed, sleep: '#!/bin/sh\nexec /bin/sleep 0.1\n', wget: '#!/bin/sh\n' };
    for (const [name, text] of Object.entries(programs)) writeFileSync(join(folder, name), text, { mode: 0o755 });
    const { command = [], healthcheck } = services['s3'] ?? {};
    const sh = (text: string) =>
      promisify(execFile)('/bin/sh', ['-ec', text.replaceAll('$$', '$').replaceAll('/tmp/', `${folder}/`)], {
        env: { PATH: `${folder}:${process.env['PATH']}`, S3_SECRET: 'secret' },
      });
    const healthy = () => sh(healthcheck?.test[1] ?? '').then(() => true, () => false); // prettier-ignore
    try {
      expect(await healthy()).toBe(false);
      await sh(command[0] ?? '');
      expect(await healthy()).toBe(true);
      expect(readFileSync(join(folder, 'asked'), 'utf8').match(/create -name millwright$/gm)).toHaveLength(3);
      expect(JSON.parse(readFileSync(join(folder, 's3.json'), 'utf8'))).toMatchObject({ identities: [{ credentials: [{ secretKey: 'secret' }] }] }); // prettier-ignore
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('opens no port beyond this machine', () => {
    const ports = Object.values(services).flatMap((service) => service.ports ?? []);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });
});
