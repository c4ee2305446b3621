import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { ApiError } from '../../platform/http/api-error.js';
import { type FilePart, readFilePart } from './multipart.js';

const BOUNDARY = 'XyZ';

interface Got {
  name: string | null;
  declaredType: string | null;
  bytes: Buffer;
}

let server: Server;
let outcome: Promise<Got | Error>;
let cleaned: Error[];
/** Milliseconds. */
let patience: number;

// A store like the real one: it takes in the stream and cleans up when that breaks.
async function take({ name, declaredType, content }: FilePart): Promise<Got> {
  try {
    return { name, declaredType, bytes: await buffer(content) };
  } catch (error) {
    cleaned.push(error as Error);
    throw error;
  }
}

beforeEach(async () => {
  cleaned = [];
  patience = 60_000;
  let settle: (value: Got | Error) => void;
  outcome = new Promise((resolve) => (settle = resolve));
  server = createServer((request, response) => {
    readFilePart(request, take, patience).then(
      (got) => (response.end('ok'), settle(got)),
      (error: Error) => {
        response.statusCode = error instanceof ApiError ? error.status : 500;
        response.end(error.message);
        settle(error);
      },
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const form = (...parts: string[]) =>
  [...parts.map((part) => `--${BOUNDARY}\r\n${part}\r\n`), `--${BOUNDARY}--\r\n`].join('');
const disposition = (parameters: string) => `Content-Disposition: form-data; ${parameters}\r\n`;
const FILE = `${disposition('name="file"; filename="a.txt"')}Content-Type: text/plain\r\n\r\nhello`;

function open(): Socket {
  return connect((server.address() as AddressInfo).port, '127.0.0.1');
}

async function send(body: string, type = `multipart/form-data; boundary=${BOUNDARY}`): Promise<Got | Error> {
  const socket = open();
  const bytes = Buffer.from(body);
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}\r\n\r\n`);
  socket.write(bytes);
  const got = await outcome;
  await once(socket, 'data');
  socket.destroy();
  return got;
}

describe('a form of one file', () => {
  test('is read with name, type and bytes', async () => {
    expect(await send(form(FILE))).toEqual({ name: 'a.txt', declaredType: 'text/plain', bytes: Buffer.from('hello') });
  });

  test.each([
    ['a name in UTF-8', `${disposition('name="file"; filename="報告 é.md"')}\r\nx`, '報告 é.md', null],
    ['an encoded name', `${disposition(`name="file"; filename="a"; filename*=UTF-8''%C3%A9.md`)}\r\nx`, 'é.md', null],
    ['an escaped name', `${disposition('name="file"; filename="%22a%22%0D%0a%41.md"')}\r\nx`, '"a"\r\n%41.md', null],
    ['a percent of its own', `${disposition(`name="file"; filename*=UTF-8''%2522.md`)}\r\nx`, '%22.md', null],
    ['control characters', `${disposition('name="file"; filename="a\u0000\u0001\u007f\tb"')}\r\nx`, 'a\tb', null],
    [
      'no name',
      `${disposition('name="file"')}Content-Type: application/octet-stream\r\n\r\nx`,
      null,
      'application/octet-stream',
    ],
    ['no type', `${disposition('name="file"; filename="a"')}\r\nx`, 'a', null],
    ['a type that is none', `${disposition('name="file"; filename="a"')}Content-Type: nonsense\r\n\r\nx`, 'a', null],
    [
      'the type before the name',
      `Content-Type: text/plain\r\n${disposition('name="file"; filename="a"')}\r\nx`,
      'a',
      'text/plain',
    ],
  ])('with %s', async (_what, part, name, declaredType) => {
    expect(await send(form(part))).toEqual({ name, declaredType, bytes: Buffer.from('x') });
  });

  test('may be empty, and may hold what looks like a boundary', async () => {
    const bytes = `\r\n--${BOUNDARY.slice(0, 2)}\r\n--\r\n ${BOUNDARY}\r\n`;
    expect(await send(form(`${disposition('name="file"; filename="a"')}\r\n${bytes}`))).toMatchObject({
      bytes: Buffer.from(bytes),
    });
  });

  test('arrives byte by byte too', async () => {
    const socket = open();
    const body = form(FILE);
    socket.setNoDelay(true);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\n`);
    socket.write(`Content-Length: ${body.length}\r\n\r\n`);
    for (const byte of body) {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await outcome).toMatchObject({ declaredType: 'text/plain', bytes: Buffer.from('hello') });
    socket.destroy();
  });
});

describe('anything else is refused', () => {
  const other = (name: string) => FILE.replace('name="file"', `name="${name}"`);
  test.each([
    ['no part', form(), 'file'],
    ['two files', form(FILE, FILE), 'file'],
    ['a second file under another name', form(FILE, other('other')), 'file'],
    ['a file under another name', form(other('other')), 'file'],
    ['a file without a name', form(FILE.replace('name="file"; ', '')), 'file'],
    ['a field before the file', form(`${disposition('name="a"')}\r\n1`, FILE), 'file'],
    ['a field after the file', form(FILE, `${disposition('name="a"')}\r\n1`), 'file'],
    ['a field named file', form(`${disposition('name="file"')}\r\n1`), 'file'],
    ['a part that is no form data before the file', form('X: y\r\n\r\nx', FILE), 'file'],
    ['a part that is no form data after the file', form(FILE, 'X: y\r\n\r\nx'), 'file'],
    ['a form without its end', form(FILE).slice(0, -6), null],
    ['a form that ends within the file', form(FILE).slice(0, -12), null],
    ['a form that ends within the headers', form(FILE).slice(0, 30), null],
    ['headers that are none', form(FILE.replace('Content-Disposition', 'Content Disposition\0')), null],
    ['endless headers', form(`X: ${'x'.repeat(100_000)}\r\n${FILE}`), null],
    ['a long text before the form', 'x'.repeat(300_000) + form(FILE), null],
    ['another boundary', form(FILE).replaceAll(BOUNDARY, 'Abc'), null],
  ])('%s', async (_what, body, param) => {
    expect(await send(body)).toMatchObject({ status: 400, code: 'invalid_body', param });
  });

  test('nothing at all', async () => {
    expect(await send('')).toMatchObject({ status: 400, code: 'invalid_body' });
  });

  test('a boundary that is missing', async () => {
    expect(await send(form(FILE), 'multipart/form-data')).toMatchObject({ status: 400, code: 'invalid_body' });
  });

  test.each(['application/json', 'multipart/mixed; boundary=XyZ', 'multipart/form-database; boundary=XyZ', ''])(
    'the content type %j',
    async (type) => {
      expect(await send(form(FILE), type)).toMatchObject({ status: 415, code: 'unsupported_media_type' });
    },
  );

  test('a file is not stored before the whole form has come', async () => {
    await send(form(FILE, FILE));
    expect(cleaned).toHaveLength(1);
  });
});

describe('a client that', () => {
  async function sendHalf(): Promise<Socket> {
    const socket = open();
    socket.on('error', () => undefined);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\n`);
    socket.write(`Content-Length: 1000000\r\n\r\n${form(FILE).slice(0, -12)}`);
    await once(server, 'request');
    return socket;
  }

  test('breaks off leaves a store that has cleaned up', async () => {
    const socket = await sendHalf();
    socket.destroy();
    expect(await outcome).toMatchObject({ code: 'invalid_body' });
    expect(cleaned).toHaveLength(1);
  });

  test('sends nothing for long gets an answer', async () => {
    patience = 100;
    const socket = await sendHalf();
    expect(await outcome).toMatchObject({ code: 'invalid_body', headers: { Connection: 'close' } });
    expect(cleaned).toHaveLength(1);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 400 /);
    socket.destroy();
  });
});
