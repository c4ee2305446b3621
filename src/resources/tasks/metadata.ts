/** Whether a value is at most 16 pairs of text, as `metadata` takes it. */
export function isMetadata(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const pairs = Object.entries(value);
  return (
    pairs.length <= 16 &&
    pairs.every(([key, text]) => key !== '' && fits(key, 64) && typeof text === 'string' && fits(text, 512))
  );
}

/** Characters, as the document and the other fields count them; a JavaScript string's length counts some of them twice. */
function fits(text: string, characters: number): boolean {
  return text.length <= characters || (text.length <= 2 * characters && [...text].length <= characters);
}
