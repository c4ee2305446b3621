/** What a task did with secrets, in its details. */
export const secretUses = {
  title: 'Secrets used',
  none: 'It has used none.',
  at: (host: string) => `at ${host}`,
  requests: (n: number) => `${n} ${n === 1 ? 'request' : 'requests'}`,
  refused: (n: number) => `${n} refused`,
  refusedNote: 'Requests with the placeholder where it may not stand, or with a method or path that is not allowed.',
  masked: (n: number) => `${n} masked`,
  maskedNote: 'How often an answer had the value. The task has read a mask in its place.',
};
