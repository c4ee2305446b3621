import type { ConfigFile } from '../../platform/config/config-file.js';

/**
 * What is wrong with the tools that an environment asks for: the operator lists folders for them, `sandbox.tools` (reference §16).
 * @param asked by name the version. Null: nothing.
 */
export function toolFault(
  sandbox: ConfigFile['sandbox'],
  asked: Readonly<Record<string, string>>,
): { param: string; what: string } | null {
  const listed = new Map(Object.entries(sandbox?.tools ?? {}));
  for (const [name, version] of Object.entries(asked)) {
    const versions = Object.keys(listed.get(name) ?? {});
    if (versions.length === 0) return { param: `tools.${name}`, what: 'is a tool that the operator does not offer' };
    if (!versions.includes(version)) {
      return {
        param: `tools.${name}`,
        what: `must be one of the versions that the operator offers: ${versions.join(', ')}`,
      };
    }
  }
  return null;
}
