import type { AgentEvent, AgentFeedback } from '../../agent/agent-engine.js';
import { EventPump, RunOverError } from './event-pump.js';

const event = (commit: string): AgentEvent => ({ type: 'cloned', commit });
const feedback: AgentFeedback = { steer: [], files: [] };

describe('Events of a run that come side by side (reference §30)', () => {
  it('are yielded one after another, and resolve when they are on record', async () => {
    const pump = new EventPump();
    const steps = pump.events(new AbortController().signal);
    const done: string[] = [];
    for (const name of ['a', 'b']) void pump.emit(event(name)).then(() => done.push(name));
    expect((await steps.next()).value).toEqual(event('a'));
    expect(done).toEqual([]);
    expect((await steps.next(feedback)).value).toEqual(event('b'));
    expect(done).toEqual(['a']);
    pump.finish({ type: 'completed', text: 'yes' });
    expect(await steps.next(feedback)).toEqual({ done: true, value: { type: 'completed', text: 'yes' } });
    expect(done).toEqual(['a', 'b']);
  });

  it('that were given before the end are recorded before it', async () => {
    const pump = new EventPump();
    const steps = pump.events(new AbortController().signal);
    const late = pump.emit(event('a'));
    pump.finish({ type: 'completed', text: '' });
    pump.fail(new Error('too late'));
    expect((await steps.next()).value).toEqual(event('a'));
    expect((await steps.next(feedback)).done).toBe(true);
    await late;
    await expect(pump.emit(event('b'))).rejects.toThrow(RunOverError);
  });

  it('end with the reason of the signal, and nobody waits on', async () => {
    const pump = new EventPump();
    const over = new AbortController();
    const steps = pump.events(over.signal);
    const waiting = pump.emit(event('a'));
    const behind = pump.emit(event('b'));
    waiting.catch(() => undefined);
    behind.catch(() => undefined);
    await steps.next();
    over.abort(new Error('cancelled'));
    await expect(steps.next(feedback)).rejects.toThrow('cancelled');
    await expect(waiting).rejects.toThrow(RunOverError);
    await expect(behind).rejects.toThrow(RunOverError);
  });
});
