import { type ComponentType, lazy } from 'react';
import { connection } from '../api/connection.ts';

/** What is fetched when it is shown. A page whose program cannot be fetched waits until the service is back; gone after an update, it is a fault that says so. */
export function program<Props extends object>(load: () => Promise<{ default: ComponentType<Props> }>) {
  return lazy(() =>
    load().catch(async () => {
      await connection.back();
      return load();
    }),
  );
}
