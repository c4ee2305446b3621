// The floor of an authenticated, rate-limited, uncached read: Nest as we use it, without guard, pipe or interceptor.
import 'reflect-metadata';
import { Controller, Get, Module, Req } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { addKey, read } from './shared.mjs';

class Tasks {
  ok() {
    return { ok: true };
  }
  async get(req) {
    return read(req.params.id, req.headers.authorization);
  }
}
// Without a compiler for decorators in plain JavaScript they are called by hand.
const decorate = (name, path) =>
  Get(path)(Tasks.prototype, name, Object.getOwnPropertyDescriptor(Tasks.prototype, name));
decorate('ok', 'ok');
decorate('get', 'tasks/:id');
Req()(Tasks.prototype, 'get', 0);
Controller()(Tasks);
class App {}
Module({ controllers: [Tasks] })(App);

await addKey();
const app = await NestFactory.create(App, { logger: false });
await app.listen(process.env.PORT, '127.0.0.1');
process.once('SIGTERM', () => process.exit());
