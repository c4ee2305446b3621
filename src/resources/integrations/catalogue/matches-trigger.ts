/**
 * Whether an event is what a `triggerEvent` names: `github.push`, or with `*` in place of the action, the last part of the name
 * (`github.pull_request.*`). An asterisk stands for one part, and for no event that has no action.
 */
export function matchesTrigger(pattern: string, slug: string, event: string): boolean {
  const name = `${slug}.${event}`;
  if (!pattern.endsWith('.*')) return pattern === name;
  const action = name.lastIndexOf('.');
  // `github.*` would be all events without an action.
  return event.includes('.') && name.slice(0, action) === pattern.slice(0, -2);
}
