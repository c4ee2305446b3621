// Figures as a table that other programs read (RFC 4180).
import type { UsageRow } from '../../api/client.ts';

/** A spreadsheet takes what begins so for a formula: names are of people, so they are text, by the sign that spreadsheets know for it. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number | null): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value ?? '') ? `'${value}` : (value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const FIGURES = ['tasks', 'steps', 'inputTokens', 'cachedInputTokens', 'outputTokens', 'reasoningTokens'] as const;

/** With the names that the API has. The mark at the beginning says to spreadsheets that it is UTF-8. */
export function usageCsv(group: string, rows: UsageRow[]): string {
  const lines = [
    [group, 'name', ...FIGURES, 'cost', 'currency'],
    ...rows.map((row) => [
      row.key,
      row.name,
      ...FIGURES.map((name) => row[name]),
      row.cost?.amount ?? null,
      row.cost?.currency ?? null,
    ]),
  ];
  return `\u{feff}${lines.map((cells) => cells.map(cell).join(',')).join('\r\n')}\r\n`;
}
