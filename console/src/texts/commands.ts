/** Commands of the agent that go on beyond their calls. */
export const commands = {
  title: 'Commands in the background',
  /** `more`: those that are not read yet. */
  count: (running: number, ended: number, more: boolean) =>
    [running > 0 && `${running} running`, ended > 0 && `${ended}${more ? '+' : ''} ended`].filter(Boolean).join(', '),
  how: (status: 'running' | 'exited' | 'stopped' | 'lost', exitCode: number | null) =>
    ({
      running: 'running',
      exited: exitCode === null ? 'ended' : `exit ${exitCode}`,
      stopped: 'stopped',
      lost: 'lost',
    })[status],
  /** In the conversation: `status` and `exitCode` as the service tells the agent. */
  ended: (id: string, status: unknown, exitCode: unknown) =>
    `${id} (${typeof exitCode === 'number' ? `exit ${exitCode}` : String(status)})`,
  over: (which: string) => `The agent was told which of its commands run no more: ${which}.`,
  outputOf: (id: string) => `The end of the output of ${id}`,
  stop: (id: string) => `Stop ${id}`,
  earlier: 'Show earlier ones',
};
