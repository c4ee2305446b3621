/** What a run waits for, in one sentence for people. */
export interface Wait {
  code: 'name' | 'clone' | 'model' | 'push';
  message: string;
}

/** Says that a wait begins. What it returns says that it is over; it may be called twice. */
export type Waits = (wait: Wait) => () => void;
