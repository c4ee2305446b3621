/** A runbook that asks which way to sort, does it, and publishes what came out. */
export const ASKS = `
\`\`\`ask
Which order?

- sort: A to Z
- tac: the other way round
\`\`\`

\`\`\`bash
printf 'b\\na\\n' | $ANSWER > sorted.txt
\`\`\`

\`\`\`publish path=sorted.txt
\`\`\`
`;
