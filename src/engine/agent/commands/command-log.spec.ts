import { CommandLog } from './command-log.js';

describe('The file of what a command says (reference §27.2)', () => {
  /** Files by their paths; writing takes a while. */
  function folder(files: Record<string, string> = {}) {
    const later = () => new Promise((resolve) => setTimeout(resolve, 5));
    return {
      files,
      writeFile: async (path: string, content: unknown) => {
        await later();
        files[path] = (content as Buffer).toString('latin1');
      },
      appendFile: async (path: string, content: Buffer) => {
        await later();
        files[path] += content.toString('latin1');
      },
    };
  }

  it('has all of it byte by byte, also what came before there was a file, up to its limit', async () => {
    const session = folder();
    const log = new CommandLog(session, 10);
    log.add(Buffer.from('\xe6ab', 'latin1'));
    await log.written();
    expect(session.files).toEqual({});
    log.begin('b1.log');
    log.add(Buffer.from('cdef'));
    log.add(Buffer.from('ghijkl'));
    await log.written();
    expect(session.files).toEqual({ 'b1.log': '\xe6abcdefghi' });
  });

  it('is there when nothing was said, and has nothing of another one', async () => {
    const session = folder({ 'b1.log': 'of a worker that was lost' });
    const log = new CommandLog(session, 10);
    log.begin('b1.log');
    await log.written();
    expect(session.files).toEqual({ 'b1.log': '' });
  });
});
