// The revisions of the Model Context Protocol that are spoken, as a client and as a server (reference §28, §29, §30).

/** Says with each request what the client is and can, and a client asks to be told of changes; nothing is kept between two requests. */
export const REVISION = '2026-07-28';
/** Begin with `initialize`, and go on as if it had not been. */
export const EARLIER = ['2025-11-25', '2025-06-18', '2025-03-26'];
