// Agent programs that drive tasks in place of the built-in loop. Nothing of them is loaded where no engine is configured.
import { Module } from '@nestjs/common';
import { AgentModule } from '../agent/agent.module.js';
import { ModelsModule } from '../models/models.module.js';
import { SandboxModule } from '../sandbox/sandbox.module.js';
import { EnginePrograms } from './engine-programs.js';

@Module({
  imports: [AgentModule, ModelsModule, SandboxModule],
  providers: [EnginePrograms],
  exports: [EnginePrograms],
})
export class EnginesModule {}
