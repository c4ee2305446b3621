// The chart of deploy/helm, rendered by Helm's own engine (deploy/helm/render) and held to the schemas of Kubernetes, KEDA and the Prometheus operator.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { ENV_NAMES } from '../../src/platform/config/env.js';
import { modelOf, unknownFields } from '../harness/kubernetes.js';
import { emptyDatabase } from '../harness/new-database.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHART = join(ROOT, 'deploy/helm/millwright');
const read = (name: string) => readFileSync(join(CHART, name), 'utf8');

interface Values {
  [name: string]: Values;
}
interface Pod {
  terminationGracePeriodSeconds?: number;
  hostUsers?: boolean;
  automountServiceAccountToken?: boolean;
  initContainers?: Container[];
  containers: Container[];
}
interface Container {
  name: string;
  args?: string[];
  env?: { name: string; value: string }[];
  envFrom: unknown[];
  lifecycle?: unknown;
  securityContext: Record<string, unknown>;
  volumeMounts: { mountPath: string; readOnly?: boolean }[];
}
interface Rendered {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  data?: Record<string, string>;
  spec?: {
    template?: { spec: Pod };
    volumeClaimTemplates?: unknown[];
    triggers?: { metadata: { query: string; threshold: string } }[];
    replicas?: number;
  };
}

/** Where pods of EKS get their identity. */
const IDENTITY = {
  to: [{ ipBlock: { cidr: '169.254.170.23/32' } }],
  ports: [{ protocol: 'TCP', port: 80 }],
};

// Go and sprig are packages of Debian, which CI installs. Elsewhere they may be missing.
const go = spawnSync('go', ['version']).status === 0;
if (!go && process.env['CI'] !== 'true') console.warn('The chart is not rendered: apt-get install golang-go golang-github-masterminds-sprig-dev'); // prettier-ignore

(go || process.env['CI'] === 'true' ? describe : describe.skip)(
  'The chart (docs/operating.md, "On Kubernetes")',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'millwright-chart-'));
    const program = join(folder, 'render');
    let plain: Rendered[];
    let all: Rendered[];

    beforeAll(() => {
      const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOFLAGS: '' };
      execFileSync('go', ['build', '-o', program, './deploy/helm/render'], { cwd: ROOT, env });
      plain = render(() => undefined);
      all = render(({ ingress, serviceMonitor, keda, networkPolicy, worker, settings }) => {
        Object.assign(ingress ?? {}, { enabled: true, className: 'nginx', tlsSecretName: 'tls' });
        for (const part of [serviceMonitor, keda]) Object.assign(part ?? {}, { enabled: true });
        Object.assign(networkPolicy ?? {}, { apiFrom: [{ podSelector: {} }], further: [IDENTITY] });
        Object.assign(worker?.['volume'] ?? {}, { storageClassName: 'fast' });
        Object.assign(settings ?? {}, { MAX_STREAMS: 5000 });
      });
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it('renders to what its parts are for, with every value on and as it is', () => {
      const names = (list: Rendered[]) => list.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
      const always = [
        'ConfigMap acme-config',
        'ConfigMap acme-migrations-config',
        'ConfigMap acme-migrations-settings',
        'ConfigMap acme-settings',
        'Deployment acme-api',
        'HorizontalPodAutoscaler acme-api',
        'Job acme-migrations',
        'NetworkPolicy acme-api',
        'NetworkPolicy acme-migrations',
        'NetworkPolicy acme-outward',
        'NetworkPolicy acme-worker',
        'PodDisruptionBudget acme-api',
        'PodDisruptionBudget acme-worker',
        'Service acme-api',
        'Service acme-worker',
        'ServiceAccount acme',
        'ServiceAccount acme-migrations',
        'StatefulSet acme-worker',
      ];
      expect(names(plain)).toEqual(always);
      expect(names(all)).toEqual([...always, 'Ingress acme', 'ScaledObject acme-worker', 'ServiceMonitor acme'].sort());
    });

    it('fits the schemas', async () => {
      for (const one of [...plain, ...all]) {
        const { kind } = one;
        const models = (await import(modelOf(one))) as Record<string, new (data: unknown) => { validate(): void }>;
        const Model = models[kind];
        if (Model === undefined) throw new Error(`There is no schema of ${kind}.`);
        expect({ kind, wrong: wrongOf(() => new Model(one).validate()) }).toEqual({ kind, wrong: null });
      }
    });

    it('has no field that Kubernetes does not know', () => {
      const objects = [...plain, ...all];
      expect(unknownFields(objects)).toEqual([]);
      // The check itself: a field with a letter too much is found.
      const wrong = structuredClone(objects.find(({ kind }) => kind === 'StatefulSet'));
      Object.assign(wrong?.spec?.template?.spec ?? {}, { hostUserss: false });
      expect(unknownFields(wrong === undefined ? [] : [wrong])).toEqual([expect.stringContaining('hostUserss')]);
    });

    it('runs no container with rights: none is privileged or root, and each has a root that cannot be written to', () => {
      for (const { spec } of all) {
        for (const { securityContext } of containersOf(spec?.template?.spec)) {
          expect(securityContext).toMatchObject({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            runAsNonRoot: true,
            capabilities: { drop: ['ALL'] },
          });
          expect(securityContext).not.toHaveProperty('privileged');
        }
        if (spec?.template !== undefined) expect(spec.template.spec.automountServiceAccountToken).toBe(false);
      }
    });

    it('gives workers what sandboxes need, a volume each, a doctor before the start, and time to drain', () => {
      const { spec } = one('StatefulSet');
      expect(spec?.volumeClaimTemplates).toHaveLength(1);
      const pod = spec?.template?.spec;
      expect(pod).toMatchObject({ hostUsers: false, terminationGracePeriodSeconds: 60 });
      expect(containersOf(pod)).toMatchObject([
      { name: 'doctor', args: ['node', 'deploy/image/preflight.mjs'], securityContext: { procMount: 'Unmasked', seccompProfile: { type: 'Unconfined' } } },
      { name: 'worker', lifecycle: { preStop: { exec: { command: ['node', 'deploy/image/drain.mjs'] } } }, securityContext: { procMount: 'Unmasked' } },
    ]); // prettier-ignore
      expect(one('StatefulSet', plain).spec?.replicas).toBe(2);
      // KEDA alone says how many there are then.
      expect(spec?.replicas).toBeUndefined();
    });

    it('makes the tables before any process of the new version starts, with settings that are there before', () => {
      const hooks = all.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] !== undefined);
      expect(hooks.map(({ metadata }) => metadata.annotations?.['helm.sh/hook'])).toEqual(
        hooks.map(() => 'pre-install,pre-upgrade'),
      );
      const weights = Object.fromEntries(hooks.map(({ kind, metadata }) => [`${kind} ${metadata.name}`, Number(metadata.annotations?.['helm.sh/hook-weight'])])); // prettier-ignore
      expect(weights).toEqual({
        'ServiceAccount acme-migrations': -2,
        'ConfigMap acme-migrations-settings': -2,
        'ConfigMap acme-migrations-config': -2,
        'NetworkPolicy acme-migrations': -2,
        'Job acme-migrations': -1,
      });
    });

    it('gives pods what comes and goes with them, so that a rollback brings it back, and the Job a copy of the same', () => {
      const of = (name: string) =>
        all.filter(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith(name));
      for (const name of ['-settings', '-config']) {
        const [first, second] = of(name);
        expect(first?.data).toEqual(second?.data);
      }
      for (const { kind, metadata, spec } of all) {
        const text = JSON.stringify(spec?.template ?? {});
        const used = [...text.matchAll(/"(?:serviceAccountName|name)":"(acme(?:-migrations)?(?:-settings|-config)?)"/g)].map(([, found]) => found); // prettier-ignore
        const own = metadata.name === 'acme-migrations' ? 'acme-migrations' : 'acme';
        if (spec?.template !== undefined) expect({ kind, used: [...new Set(used)].sort() }).toEqual({ kind, used: [own, `${own}-config`, `${own}-settings`] }); // prettier-ignore
      }
    });

    it('lets each pod connect to where it must: to what values name, and the Job has the same policy before', () => {
      const policy = (name: string) => all.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === name)?.spec as unknown as { egress: unknown[] }; // prettier-ignore
      expect(policy('acme-outward').egress).toHaveLength(5);
      expect(policy('acme-migrations').egress).toEqual(policy('acme-outward').egress);
      expect(policy('acme-outward').egress).toContainEqual(IDENTITY);
    });

    it('has so many workers that their places are enough for all runs, where KEDA says how many', () => {
      const { query, threshold } = one('ScaledObject').spec?.triggers?.[0]?.metadata ?? {};
      expect(query).toBe(
        'max(millwright_runs_queued{namespace="work"}) + max(millwright_runs{namespace="work",state="running"})',
      );
      expect(threshold).toBe('16');
      const worker = containersOf(one('StatefulSet').spec?.template?.spec).find(({ name }) => name === 'worker');
      expect(worker?.env).toContainEqual({ name: 'WORKER_CONCURRENCY', value: threshold });
    });

    it('takes uploads through an ingress whose limit is far lower than the service has', () => {
      expect(one('Ingress').metadata.annotations).toMatchObject({
        'nginx.ingress.kubernetes.io/proxy-body-size': '0',
      });
    });

    it('makes them with a command that does so on an empty database, with a DATA_DIR that is new', async () => {
      const args = one('Job').spec?.template?.spec.containers[0]?.args ?? [];
      const database = await emptyDatabase();
      try {
        const env = {
          PATH: process.env['PATH'],
          DATABASE_URL: database.url,
          DATA_DIR: folder,
          SECRET_KEY: 'x'.repeat(32),
        };
        execFileSync(args[0] ?? '', args.slice(1), { cwd: ROOT, env });
        expect(await database.query('SELECT count(*)::int AS n FROM tasks')).toEqual([{ n: 0 }]);
      } finally {
        await database.drop();
      }
    });

    it('sets variables that the service knows, and takes secrets by reference', () => {
      const settings = all.find(({ metadata }) => metadata.name === 'acme-settings')?.data ?? {};
      expect(settings).toMatchObject({ METRICS_PORT: '9464', MAX_STREAMS: '5000', PUBLIC_URL: 'https://millwright.example.org' }); // prettier-ignore
      const set = all.flatMap(({ spec }) => containersOf(spec?.template?.spec).flatMap(({ env = [] }) => env));
      const names = [...Object.keys(settings), ...set.map(({ name }) => name)];
      expect(names.filter((name) => !ENV_NAMES.includes(name))).toEqual([]);
      for (const { spec } of all) {
        for (const { envFrom } of containersOf(spec?.template?.spec)) expect(envFrom).toContainEqual({ secretRef: { name: 'millwright' } }); // prettier-ignore
      }
      expect(all.filter(({ kind }) => kind === 'Secret')).toEqual([]);
    });

    function one(kind: string, list = all): Rendered {
      const found = list.find((object) => object.kind === kind);
      if (found === undefined) throw new Error(`The chart has no ${kind}.`);
      return found;
    }

    function render(change: (values: Values) => void): Rendered[] {
      const names = readdirSync(join(CHART, 'templates'));
      const templates = Object.fromEntries(names.map((name) => [name, read(`templates/${name}`)]));
      const { name, version, appVersion } = parse(read('Chart.yaml')) as Record<string, string>;
      const values = parse(read('values.yaml')) as Values;
      change(values);
      const context = {
        Values: values,
        Release: { Name: 'acme', Namespace: 'work', Service: 'Helm' },
        Chart: { Name: name, Version: version, AppVersion: appVersion },
      };
      const out = execFileSync(program, { input: JSON.stringify({ templates, context }), encoding: 'utf8' });
      return Object.entries(JSON.parse(out) as Record<string, string>).flatMap(([file, text]) =>
        parseAllDocuments(text).flatMap((document) => {
          if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join('\n')}\n${text}`);
          const object = document.toJS() as Rendered | null;
          return object === null ? [] : [object];
        }),
      );
    }
  },
);

const containersOf = (pod: Pod | undefined) => [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];

function wrongOf(act: () => void): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return String(error);
  }
}
