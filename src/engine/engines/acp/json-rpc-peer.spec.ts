import { JsonRpcPeer, methodNotFound, PeerRefusedError } from './json-rpc-peer.js';

describe('One side of JSON-RPC with a program (reference §30)', () => {
  function peer(answer: (method: string) => Promise<unknown> = () => Promise.resolve({ done: true })) {
    const sent: { id?: number; method?: string; result?: unknown; error?: { code: number } }[] = [];
    const told: string[] = [];
    const one = new JsonRpcPeer({
      request: (method) => answer(method),
      notification: (method) => told.push(method),
      send: (line) => sent.push(JSON.parse(line) as (typeof sent)[number]),
    });
    return { one, sent, told };
  }

  it('brings an answer to who asked, in whatever order answers come', async () => {
    const { one, sent } = peer();
    const [first, second] = [one.request('a', {}), one.request('b', {})];
    expect(sent.map(({ method }) => method)).toEqual(['a', 'b']);
    one.read(`{"jsonrpc":"2.0","id":${sent[1]?.id},"result":"of b"}`);
    one.read(`{"jsonrpc":"2.0","id":${sent[0]?.id},"error":{"code":7,"message":"no"}}`);
    expect(await second).toBe('of b');
    await expect(first).rejects.toEqual(new PeerRefusedError('no', 7));
  });

  it.each(['Warning: old node', '{ no json', '[]', '{"id":99,"result":1}', '{"id":"1","result":1}', ''])(
    'passes over the line %p',
    async (line) => {
      const { one, sent } = peer();
      const asked = one.request('a', {});
      expect(one.read(line)).toBe(false);
      expect(one.read(`{"id":${sent[0]?.id},"result":"right"}`)).toBe(true);
      expect(await asked).toBe('right');
    },
  );

  it('answers what it is asked, also with an error', async () => {
    const { one, sent } = peer((method) =>
      method === 'known' ? Promise.resolve(null) : Promise.reject(methodNotFound(method)),
    );
    one.read('{"id":"x","method":"known"}');
    one.read('{"id":5,"method":"fs/read_text_file","params":{}}');
    await Promise.resolve();
    await Promise.resolve();
    expect(sent).toEqual([
      { jsonrpc: '2.0', id: 'x', result: {} },
      {
        jsonrpc: '2.0',
        id: 5,
        error: { code: -32601, message: "The method 'fs/read_text_file' is not offered here." },
      },
    ]);
  });

  it('rejects all that is asked when nobody answers any more', async () => {
    const { one, told } = peer();
    const asked = one.request('a', {});
    one.read('{"method":"session/update","params":null}');
    one.close(new Error('gone'));
    await expect(asked).rejects.toThrow('gone');
    await expect(one.request('b', {})).rejects.toThrow('gone');
    expect(told).toEqual(['session/update']);
  });
});
