import { literal } from '../../../platform/text/literal.js';
import { withoutNullsIn } from './lenient.js';
import { MOST_BYTES } from '../../sandbox/program-lines.js';

/** Room for what stands around an answer. */
const AROUND = 64 * 1024;

type Read = (text: string) => string;

/** A shorter word may be one that texts are made of; as in the log. */
const SHORTEST = 12;

/** Takes the values of headers out of a text: a server may say back what it was sent. */
export function hiding(headers: Record<string, string>): Read {
  const words = Object.values(headers).flatMap((value) => value.split(/\s+/));
  const long = words.filter((word) => word.length >= SHORTEST);
  if (long.length === 0) return (text) => text;
  const forms = new Set(long.flatMap((word) => [word, JSON.stringify(word).slice(1, -1)]));
  const pattern = new RegExp(
    [...forms]
      .sort((a, b) => b.length - a.length)
      .map(literal)
      .join('|'),
    'g',
  );
  return (text) => text.replace(pattern, '[hidden]');
}

/**
 * A request of the worker to a server of the operator: as `fetch`, without redirects and cookies. An answer that is larger than one may be is cut with an
 * error. Null in the frame of a message counts as absent: the package reads these messages before {@link lenient} does.
 * @param hide of {@link hiding}.
 */
export async function boundedFetch(
  address: string | URL,
  init?: RequestInit,
  hide: Read = (text) => text,
): Promise<Response> {
  const read: Read = (text) => hide(withoutNullsIn(text));
  const answer = await fetch(address, { ...init, redirect: 'error' });
  if (answer.body === null) return answer;
  let bytes = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES + AROUND) controller.error(new Error('The answer has more than 16 MiB.'));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = answer;
  const type = headers.get('content-type') ?? '';
  const body = answer.body.pipeThrough(counted);
  const made = (given: string | ReadableStream) => new Response(given, { status, statusText, headers });
  const bounded = /^application\/json\b/i.test(type)
    ? made(read(await new Response(body).text()))
    : made(/^text\/event-stream\b/i.test(type) ? eventsOf(body, read) : body);
  Object.defineProperty(bounded, 'url', { value: answer.url });
  return bounded;
}

function eventsOf(body: ReadableStream<Uint8Array>, read: Read): ReadableStream<Uint8Array> {
  return body.pipeThrough(new TextDecoderStream()).pipeThrough(cleanEvents(read)).pipeThrough(new TextEncoderStream());
}

/** Hands each event on when it is whole. */
function cleanEvents(read: Read): TransformStream<string, string> {
  /** Of a line that has not ended. */
  let begun: string[] = [];
  let lines: string[] = [];
  return new TransformStream({
    transform(chunk, controller) {
      const [first = '', ...others] = chunk.split('\n');
      begun.push(first);
      for (const next of others) {
        const line = begun.join('');
        begun = [next];
        lines.push(line);
        if (line !== '' && line !== '\r') continue;
        controller.enqueue(cleanEvent(lines, read));
        lines = [];
      }
    },
    flush(controller) {
      controller.enqueue([...lines, begun.join('')].join('\n'));
    },
  });
}

function cleanEvent(lines: readonly string[], read: Read): string {
  const data = lines.filter(isData).map((line) => line.replace(/^data:? ?/, '').replace(/\r$/, ''));
  const whole = data.join('\n');
  const clean = read(whole);
  if (clean === whole) return `${lines.join('\n')}\n`;
  return `data: ${clean}\n${lines.filter((line) => !isData(line)).join('\n')}\n`;
}

const isData = (line: string) => /^data\b/.test(line);
