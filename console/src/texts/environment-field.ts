/** Where an environment is chosen, and named. */
export const environmentField = {
  label: 'Environment',
  none: 'None',
  at: (slug: string, version: number) => `${slug}, version ${version}`,
  ofProject: (name: string) => `As the project: ${name}`,
  unknown: (slug: string) => `${slug} (not there now)`,
};
