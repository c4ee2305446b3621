// What Kubernetes, KEDA and the Prometheus operator say of the objects that the chart renders.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface KubernetesObject {
  apiVersion: string;
  kind: string;
}

/** Where the types and the schemas of an API are. */
const PACKAGES: Record<string, string> = {
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};
/** The module of the type and the schema of an object. */
export function modelOf({ apiVersion, kind }: KubernetesObject): string {
  const [group = '', version] = apiVersion.split('/');
  const name = group.endsWith('.k8s.io') || !group.includes('.') ? 'kubernetes-models' : PACKAGES[group];
  return [name, group, version, kind].filter(Boolean).join('/');
}

/** What the compiler says of the objects as literals of their types: schemas let fields pass that they do not know. */
export function unknownFields(objects: KubernetesObject[]): string[] {
  const lines = objects.flatMap((object, n) => [
    `import type { I${object.kind} as Type${n} } from '${modelOf(object)}';`,
    `export const object${n}: Type${n} = ${JSON.stringify(object)};`,
  ]);
  const file = join(ROOT, 'chart-objects.ts');
  const options: ts.CompilerOptions = {
    noEmit: true,
    strict: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const disk = ts.createCompilerHost(options);
  const literals = ts.createSourceFile(file, lines.join('\n'), ts.ScriptTarget.ES2022);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (name) => name === file || disk.fileExists(name),
    getSourceFile: (name, ...more) => (name === file ? literals : disk.getSourceFile(name, ...more)),
  };
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n').slice(0, 500));
}
