export const pause = {
  title: 'Pause the task until',
  at: 'When it goes on',
  hint: (zone: string) => `By the clock of this browser (${zone}). It can be resumed before.`,
  action: 'Pause',
  noTime: 'Enter a date and time.',
};
