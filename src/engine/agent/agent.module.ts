// The built-in agent: the loop of model and tools, and the tools themselves.
import { Module } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { ModelsModule } from '../models/models.module.js';
import { WebRequests } from '../web/web-requests.js';
import { SandboxModule } from '../sandbox/sandbox.module.js';
import { EngineSettings, settingsOf } from './engine-settings.js';
import { LoopEngine } from './loop-engine.js';
import { ModelCaller } from './model-caller.js';
import { ToolRegistry } from './tool-registry.js';
import { ApplyPatchTool } from './tools/apply-patch.js';
import { AskTool } from './tools/ask.js';
import { BashTool } from './tools/bash.js';
import { EditTool } from './tools/edit.js';
import { GlobTool } from './tools/glob.js';
import { GrepTool } from './tools/grep.js';
import { PublishTool } from './tools/publish.js';
import { ReadTool } from './tools/read.js';
import { TodoTool } from './tools/todo.js';
import { UseSecretTool } from './tools/use-secret.js';
import { WebFetchTool } from './tools/web-fetch.js';
import { WriteTool } from './tools/write.js';

const TOOLS = [
  ApplyPatchTool,
  AskTool,
  BashTool,
  EditTool,
  GlobTool,
  GrepTool,
  PublishTool,
  ReadTool,
  TodoTool,
  UseSecretTool,
  WebFetchTool,
  WriteTool,
];

const SETTINGS = {
  provide: EngineSettings,
  inject: [Env],
  useFactory: settingsOf,
};

@Module({
  imports: [ModelsModule, SandboxModule],
  providers: [SETTINGS, ModelCaller, ToolRegistry, LoopEngine, WebRequests, ...TOOLS],
  exports: [EngineSettings, LoopEngine],
})
export class AgentModule {}
