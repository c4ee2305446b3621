import pg from 'pg';

/**
 * The one connection of a backup or restore. It waits for locks and answers as long as it takes; what it writes is the same on
 * every server, whatever that has as its defaults.
 */
export async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'millwright backup', keepAlive: true });
  // A connection that is lost rejects what is asked next; without a listener it would end the process.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(`
    SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET idle_session_timeout = 0;
    SET datestyle = ISO; SET intervalstyle = postgres; SET extra_float_digits = 1; SET synchronize_seqscans = off`);
  return client;
}

/**
 * Cuts the connection when a signal comes, whatever it waits for: what was asked rejects, and the open transaction never was.
 * @returns ends that: from then on the connection finishes what it is asked.
 */
export function cutBy(client: Pick<pg.Client, 'end'>, interrupted: AbortSignal | undefined): () => void {
  const cut = () => void client.end().catch(() => undefined);
  interrupted?.addEventListener('abort', cut);
  return () => interrupted?.removeEventListener('abort', cut);
}
