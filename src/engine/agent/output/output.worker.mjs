// The thread that compiles the schemas of tasks, and reads and checks answers by them (docs/decisions/0062).
import { readlinkSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { jsonIn } from './json-in.mjs';
import { sampleOf, tryPatterns } from './schema-sample.mjs';

/** For one part of a question, milliseconds of work. */
const WORK_MS = 100;
/** For the compilation of a schema that has been compiled in {@link WORK_MS} when its task was made. */
const AGAIN_MS = 300;

const DIALECT = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/** Characters of what is said of an answer, of one line of it, and of a value in a line. */
const WORDS = 1_900;
const LINE = 400;
const VALUE = 200;

/** Validates schemas alone: it keeps no schema of a task. Its own is compiled before the first question counts. */
const META = new Ajv2020({ strict: false, logger: false });
META.validateSchema({});

/** Unknown keywords and formats are annotations, as the standard has it. Optimised code takes three times as long to make. */
const OPTIONS = {
  ...{ strict: false, logger: false, meta: false, validateSchema: false, validateFormats: false },
  ...{ allErrors: true, ownProperties: true, code: { optimize: false } },
};
// The first compilation takes several times as long as the second.
compiled({
  type: 'object',
  properties: { a: { enum: [1], pattern: 'a' }, b: { items: { $ref: '#' } } },
  required: ['a'],
});

function thread() {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return null;
  }
}
const THREAD = thread();

function begin(workMs) {
  parentPort.postMessage({ working: THREAD, workMs });
}

function compiled(schema) {
  // One of its own for each: `$id`s of one task are no concern of another.
  // `$async` is a keyword of Ajv alone: with it a check answers with a promise, and what that rejects with ends this thread.
  return new Ajv2020(OPTIONS).compile({ ...schema, $async: undefined });
}

/** What is wrong with a schema, a clause; null when nothing is. */
function schemaFault(schema) {
  begin(WORK_MS);
  const dialect = schema.$schema;
  if (dialect !== undefined && !(typeof dialect === 'string' && DIALECT.test(dialect))) {
    return 'must be written in JSON Schema 2020-12, and name that in "$schema" or nothing';
  }
  if (META.validateSchema(schema) !== true) return `is no JSON Schema: ${wordsOf(META.errors.slice(0, 3), '; ')}`;
  const validate = compiled(schema);
  begin(WORK_MS);
  for (const value of [null, '', 0, [], {}, sampleOf(schema)]) validate(value);
  tryPatterns(schema);
  return null;
}

/** The JSON value of an answer, as text, or what is wrong with it. */
function outputIn(schema, text) {
  begin(AGAIN_MS);
  const validate = compiled(schema);
  begin(WORK_MS);
  const read = jsonIn(text);
  if ('fault' in read) return read;
  if (!validate(read.value)) return { fault: wordsOf(validate.errors, '\n') };
  return { output: JSON.stringify(read.value) };
}

/** A line for each error, the same ones once. */
function wordsOf(errors, between) {
  const lines = new Set();
  let length = 0;
  for (const [index, error] of errors.entries()) {
    const line = lineOf(error);
    if (lines.has(line)) continue;
    if (length + line.length > WORDS) return [...lines, `and ${errors.length - index} more`].join(between);
    lines.add(line);
    length += line.length + 1;
  }
  return [...lines].join(between);
}

function lineOf({ instancePath, message, params }) {
  const which = params.additionalProperty ?? params.unevaluatedProperty ?? params.allowedValues ?? params.allowedValue;
  const value = which === undefined ? '' : `: ${JSON.stringify(which).slice(0, VALUE)}`;
  return `${instancePath === '' ? 'The value' : instancePath} ${message}${value}`.slice(0, LINE);
}

function faultOf(error) {
  if (error instanceof RangeError) return 'refers to itself without an end, or is nested too deeply';
  return `cannot be compiled: ${error instanceof Error ? error.message.slice(0, LINE) : 'it is broken'}`;
}

parentPort.on('message', ({ schema, text }) => {
  try {
    parentPort.postMessage(text === undefined ? { fault: schemaFault(schema) } : outputIn(schema, text));
  } catch (error) {
    parentPort.postMessage({ fault: text === undefined ? faultOf(error) : `The value ${faultOf(error)}` });
  }
});
