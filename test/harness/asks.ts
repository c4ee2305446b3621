import { RUNBOOK } from '../../src/platform/http/openapi/openapi-examples.js';

/** A runbook that asks which way to sort, does it, and publishes what came out: the one that the document shows. */
export const ASKS = RUNBOOK;
