export const records = {
  up: 'Where this belongs',
  back: (to: string) => `Back to ${to}`,
  notOwner: (owner: string) => `${owner} owns it: ${owner} and the owners and admins of the workspace may change it.`,
  project: 'Project',
  noProject: 'None',
  actions: 'Actions',
  created: 'Made',
  changed: 'Changed',
  by: (name: string) => `by ${name}`,
};
