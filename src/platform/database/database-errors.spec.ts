import { QueryFailedError } from 'typeorm';
import { saysFull } from '../disk/storage-full.js';
import { databaseError, isPassing } from './database-errors.js';

const coded = (code: string) => Object.assign(new Error('internal words'), { code });

describe('databaseError', () => {
  it.each(['57P01', '57P03', '57014', '53300', '08006', '08P01', '40001', '40P01', '55P03', '25P03', '25006', 'ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', '23505'])(
    '%s is 503 with Retry-After, bare and from TypeORM',
    (code) => {
      for (const error of [coded(code), new QueryFailedError('SELECT 1', [], coded(code))]) {
        expect(databaseError(error)).toMatchObject({ status: 503, code: 'unavailable', headers: { 'Retry-After': '1' } });
        expect(databaseError(error)?.message).not.toContain('internal');
      }
    },
  ); // prettier-ignore
  it('53100, no space on its disk, is 503 storage_full, to be tried again in 30 s', () => {
    for (const error of [coded('53100'), new QueryFailedError('SELECT 1', [], coded('53100'))]) {
      expect(databaseError(error)).toMatchObject({
        status: 503,
        code: 'storage_full',
        headers: { 'Retry-After': '30' },
      });
      expect(isPassing(error)).toBe(true);
    }
    expect(saysFull(new Error('The storage failed.', { cause: coded('EDQUOT') }))).toBe(true);
  });
  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Query read timeout',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error and is not queryable',
    'Cannot use a pool after calling end on the pool',
  ])('"%s" is 503', (message) => {
    expect(databaseError(new Error(message))?.status).toBe(503);
  });
  it('a host with two addresses that both refuse is 503', () => {
    expect(databaseError(new AggregateError([coded('ECONNREFUSED')]))?.status).toBe(503);
  });
  it.each(['22P02', '22021', '22003'])('%s is the fault of a value: 400', (code) => {
    expect(databaseError(coded(code))).toMatchObject({ status: 400, code: 'invalid_field' });
  });
  it('a reference to what has just gone is 404', () => {
    expect(databaseError(coded('23503'))?.status).toBe(404);
  });
  it.each([coded('42P01'), coded('23514'), coded('EACCES'), coded('ENOENT'), new Error('x'), new AggregateError([]), 'x', null])(
    'anything else is not its business: %s',
    (error) => {
      expect(databaseError(error)).toBeUndefined();
    },
  ); // prettier-ignore
});
