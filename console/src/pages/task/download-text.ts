import { download } from '../../api/queries.ts';

/** The browser saves a text that the page has. */
export function downloadText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  download(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
