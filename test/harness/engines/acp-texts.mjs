// Texts of the small agent program: of its prompts, and of its calls.

export function wordsOf(prompt) {
  return prompt.map((block) => block.text ?? `[${block.type} ${block.name ?? block.uri ?? ''}]`).join('\n');
}

export function inputOf({ input }) {
  try {
    return JSON.parse(input);
  } catch {
    return {};
  }
}
