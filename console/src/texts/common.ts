import type { TaskStatus } from '../api/client.ts';

export const common = {
  product: 'Millwright',
  copied: 'Copied',
  copy: 'Copy',
  copyCommand: 'Copy the command',
  tryAgain: 'Try again',
  cancel: 'Cancel',
  close: 'Close',
  loading: 'Loading',
  loadMore: 'Load more',
  request: (id: string) => `request ${id}`,
  unreachable: 'The service cannot be reached.',
  now: 'now',
  soon: 'soon',
  status: {
    queued: 'Queued',
    running: 'Running',
    awaiting_input: 'Needs you',
    completed: 'Completed',
    failed: 'Failed',
    cancelled: 'Cancelled',
  } satisfies Record<TaskStatus, string>,
  fault: { title: 'The console met a fault of its own', reload: 'Load the page again' },
  gone: { title: 'There is nothing here', text: 'The address may be mistyped, or what it led to is gone.' },
  refused: { title: 'This key may not see this', text: (scope: string) => `It needs the scope ${scope}.` },
};
