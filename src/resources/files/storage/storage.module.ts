// Where bytes lie. A module of its own, because the operator command copies them too (reference §16).
import { Module } from '@nestjs/common';
import { FileStorage } from './file-storage.js';
import { LocalStorage } from './local/local-storage.js';

@Module({ providers: [FileStorage, LocalStorage], exports: [FileStorage] })
export class StorageModule {}
