// The built-in agent: the loop of model and tools, and the tools themselves.
import { Module } from '@nestjs/common';
import { Env } from '../../platform/config/env.js';
import { ModelsModule } from '../models/models.module.js';
import { SandboxModule } from '../sandbox/sandbox.module.js';
import { WebModule } from '../web/web.module.js';
import { EngineSettings, settingsOf } from './engine-settings.js';
import { LoopEngine } from './loop-engine.js';
import { ModelCaller } from './model-caller.js';
import { ToolRegistry } from './tool-registry.js';
import { ApplyPatchTool } from './tools/apply-patch.js';
import { AskTool } from './tools/ask.js';
import { BashInputTool } from './tools/bash-input.js';
import { BashOutputTool } from './tools/bash-output.js';
import { BashStopTool } from './tools/bash-stop.js';
import { BashTool } from './tools/bash.js';
import { DelegateTool } from './tools/delegate.js';
import { EditTool } from './tools/edit.js';
import { ExecCommandTool } from './tools/exec-command.js';
import { GlobTool } from './tools/glob.js';
import { GrepTool } from './tools/grep.js';
import { PublishTool } from './tools/publish.js';
import { ReadTool } from './tools/read.js';
import { TodoTool } from './tools/todo.js';
import { UseSecretTool } from './tools/use-secret.js';
import { WebFetchTool } from './tools/web-fetch.js';
import { WriteStdinTool } from './tools/write-stdin.js';
import { WriteTool } from './tools/write.js';

const TOOLS = [
  ApplyPatchTool,
  AskTool,
  BashInputTool,
  BashOutputTool,
  BashStopTool,
  BashTool,
  DelegateTool,
  EditTool,
  ExecCommandTool,
  GlobTool,
  GrepTool,
  PublishTool,
  ReadTool,
  TodoTool,
  UseSecretTool,
  WebFetchTool,
  WriteStdinTool,
  WriteTool,
];

const SETTINGS = {
  provide: EngineSettings,
  inject: [Env],
  useFactory: settingsOf,
};

@Module({
  imports: [ModelsModule, SandboxModule, WebModule],
  providers: [SETTINGS, ModelCaller, ToolRegistry, LoopEngine, ...TOOLS],
  exports: [EngineSettings, LoopEngine, ModelCaller, ToolRegistry],
})
export class AgentModule {}
