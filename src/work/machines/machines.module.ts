// Machines: which of them work, and which has the folder of a task. Only in processes that work.
import { Module } from '@nestjs/common';
import { Machine } from './machine.js';

@Module({ providers: [Machine], exports: [Machine] })
export class MachinesModule {}
