import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { FORMS } from './forms.js';
import { Oracle } from './oracle.js';

const VALUE = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const ODD = `abcdefghij0123456789+/&"<>%='ABCDEFGHIJ9876543210`;

/** What a connection through the proxy brings, when the body is this. */
function answered(body: Buffer, coding = ''): Buffer {
  const half = Math.floor(body.length / 2);
  const chunks = [body.subarray(0, half), body.subarray(half)].flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]); // prettier-ignore
  const head = `HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK\r\n${coding}Transfer-Encoding: chunked\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), ...chunks, Buffer.from('0\r\n\r\n')]);
}

describe('The oracle of this suite', () => {
  const oracle = new Oracle({ TOKEN: VALUE, KEY: ODD });

  it('knows 22 forms', () => {
    expect(new Set(FORMS.map(({ name }) => name)).size).toBe(22);
  });

  it.each(FORMS.map((form) => [form.name, form] as const))('finds a planted value: %s', (name, { said }) => {
    for (const [secret, value] of Object.entries(oracle.values)) {
      const plain = said(value);
      for (const code of [
        (bytes: Buffer) => bytes,
        gzipSync,
        deflateSync,
        brotliCompressSync,
        (bytes: Buffer) => brotliCompressSync(gzipSync(bytes)),
      ])
        // prettier-ignore
        expect(oracle.findInAnswer(answered(code(plain)))).toContain(`${secret}, ${name}`);
    }
  });

  it('finds a piece of twelve bytes, and not one of eleven, nor what is none', () => {
    const [at] = oracle.find(Buffer.from(`.${VALUE.slice(7, 19)}.`));
    expect(at).toBe('TOKEN, 12 bytes from 7');
    expect(oracle.find(Buffer.from(`.${VALUE.slice(7, 18)}.`))).toEqual([]);
    expect(oracle.findInAnswer(answered(Buffer.from('seen allowed.test [secret TOKEN] mwsec_aB3aB3aB3aB3aB3aB3aB3aB3')))).toEqual([]); // prettier-ignore
  });

  it('finds one in a file, also where two of its reads meet, and in the variables and arguments of a process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'millwright-oracle-'));
    writeFileSync(join(folder, 'large'), Buffer.concat([Buffer.alloc((1 << 20) - 20, '.'), Buffer.from(VALUE)]));
    expect(oracle.findBelow(folder).map((what) => what.replace(folder, ''))).toContain('/large: TOKEN, as it is');
    rmSync(folder, { recursive: true });
    const child = spawn('sh', ['-c', 'echo up; read -r line', VALUE], { env: { KEY: ODD } });
    await once(child.stdout, 'data');
    const found = oracle.findInProcesses();
    child.stdin.end();
    expect(found).toContain(`${child.pid} cmdline: TOKEN, as it is`);
    expect(found).toContain(`${child.pid} environ: KEY, as it is`);
    expect(found.filter((what) => !what.startsWith(`${child.pid} `))).toEqual([]);
  });
});
