// The same work as nestfull on bare Express: what Nest costs.
import express from 'express';
import { addKey, read } from './shared.mjs';

await addKey();
const app = express();
app.disable('x-powered-by');
app.get('/ok', (_req, res) => res.json({ ok: true }));
app.get('/tasks/:id', async (req, res) => {
  const row = await read(req.params.id, req.headers.authorization);
  res.status(row === null ? 401 : 200).json(row ?? {});
});
app.listen(process.env.PORT, '127.0.0.1');
process.once('SIGTERM', () => process.exit());
