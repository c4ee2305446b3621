const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether a text may be asked of a uuid column at all. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
