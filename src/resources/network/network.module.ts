// What tasks did with the network. Runs count it (src/work/runs/run-network.ts).
import { Module } from '@nestjs/common';
import { TaskNetworkController } from './task-network.controller.js';

@Module({ controllers: [TaskNetworkController] })
export class NetworkModule {}
