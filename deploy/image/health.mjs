// Whether the service of this container answers: the HEALTHCHECK of the image. With `ready` also whether it is to get requests.
const path = process.argv[2] === 'ready' ? 'ready' : 'live';
const port = process.env.PORT || '3000';
const answer = await fetch(`http://127.0.0.1:${port}/health/${path}`, { signal: AbortSignal.timeout(4000) }).catch(
  () => null,
);
process.exit(answer?.ok ? 0 : 1);
