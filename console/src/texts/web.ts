import type { WebAccess } from '@millwright/sdk';

/** Whether agents read pages of the web. */
export const web = {
  label: 'Pages of the web',
  hint: ({ hosts }: WebAccess) =>
    hosts.includes('*') ? 'Of any public host.' : `Of ${hosts.slice(0, 5).join(', ')}${hosts.length > 5 ? ' …' : ''}.`,
  may: 'The agent may read them',
  mayNot: 'Not in this task',
  reads: { true: 'may be read', false: 'not read' },
  ofAutomation: { true: 'Its tasks may read them', false: 'Not in its tasks' },
  usual: { event: 'Not in tasks that an event starts', schedule: 'Its tasks may read them, as usual' },
  eventHint: 'An event carries what others wrote: such a task may be led to ask for pages with what it knows.',
};
