import pg from 'pg';

/**
 * The one connection of a backup or restore. It waits for locks and answers without a limit; what it writes is the same on
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
 * Closes the connection when the signal is aborted, whatever it waits for: its statement rejects, and PostgreSQL rolls back.
 * @returns stops listening to the signal: from then on the connection finishes its statements.
 */
export function closeOnAbort(client: Pick<pg.Client, 'end'>, interrupted: AbortSignal | undefined): () => void {
  const close = () => void client.end().catch(() => undefined);
  interrupted?.addEventListener('abort', close);
  return () => interrupted?.removeEventListener('abort', close);
}
