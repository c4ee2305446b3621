/** Fills a template such as `/v1/tasks/{task.id}` from an answer. */
export function locationOf(template: string, answer: unknown): string {
  return template.replace(/\{([^}]+)\}/g, (_whole, path: string) => {
    const found = path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], answer);
    return encodeURIComponent(String(found));
  });
}
