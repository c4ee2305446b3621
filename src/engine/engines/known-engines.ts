// Agent programs that are known to work as engines (reference §30): how each is started, and which of its tools do what.
import type { enginesSchema } from '../../platform/config/engines.js';
import type { z } from 'zod';

/** How it stands in `engines` of CONFIG_FILE, without its folder. */
type Definition = Omit<z.input<typeof enginesSchema>[string], 'path'>;

export interface KnownEngine {
  title: string;
  /** What npm is asked for: the version that was tried. */
  packageSpec: string;
  definition: Definition;
  /** A model of it, as it may stand in `models` of CONFIG_FILE. */
  model: { provider: string; model: string; baseUrl?: string; contextWindow: number; input: string[] };
}

/** Its agent asks the door for a model of this name, and the door sets the real one: by the name it chooses which tools it offers. */
const CODEX_MODEL = 'gpt-5.5';

const codex: KnownEngine = {
  title: 'Codex',
  packageSpec: '@agentclientprotocol/codex-acp@2.6.0',
  definition: {
    command: ['node', '{path}/node_modules/@agentclientprotocol/codex-acp/dist/index.js'],
    env: {
      NO_BROWSER: '1',
      INITIAL_AGENT_MODE: 'agent-full-access',
      MODEL_PROVIDER: 'mw',
      CODEX_CONFIG: JSON.stringify({
        model: CODEX_MODEL,
        model_provider: 'mw',
        model_providers: {
          mw: {
            name: 'mw',
            base_url: '{url}/v1',
            wire_api: 'responses',
            request_max_retries: 0,
            stream_max_retries: 0,
            supports_websockets: false,
            requires_openai_auth: false,
          },
        },
        check_for_update_on_startup: false,
        analytics: { enabled: false },
        sandbox_mode: 'danger-full-access',
        approval_policy: 'never',
      }),
    },
    prepare: 'mkdir -p ~/.codex',
    wire: 'openai-responses',
    hide: [
      ...['multi_agent_v1', 'collaboration', 'request_user_input', 'request_user_input_async'],
      ...['create_goal', 'update_goal', 'get_goal'],
    ],
    reads: ['view_image', 'tool_search', 'list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource'],
  },
  model: { provider: 'openai', model: 'gpt-5.5', contextWindow: 400_000, input: ['text', 'image'] },
};

const claudeCode: KnownEngine = {
  title: 'Claude Code',
  packageSpec: '@agentclientprotocol/claude-agent-acp@0.49.0',
  definition: {
    command: ['node', '{path}/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js'],
    env: {
      ANTHROPIC_BASE_URL: '{url}',
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_TELEMETRY: '1',
      IS_SANDBOX: '1',
    },
    wire: 'anthropic-messages',
    hide: [
      ...['Agent', 'WebSearch', 'Workflow', 'CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup'],
      ...['EnterWorktree', 'ExitWorktree'],
    ],
    reads: [
      ...['Read', 'Skill', 'EnterPlanMode', 'ExitPlanMode'],
      ...['TaskCreate', 'TaskGet', 'TaskList', 'TaskOutput', 'TaskUpdate'],
    ],
  },
  model: { provider: 'anthropic', model: 'claude-sonnet-5-5', contextWindow: 200_000, input: ['text', 'image'] },
};

const opencode: KnownEngine = {
  title: 'opencode',
  packageSpec: 'opencode-ai@1.18.33',
  definition: {
    // The program itself: what npm would make of it needs a script of the package, and none is run.
    command: [`{path}/node_modules/opencode-linux-${process.arch}/bin/opencode`, 'acp', '--pure'],
    env: {
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_PROJECT_CONFIG: '1',
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        model: 'mw/model',
        small_model: 'mw/model',
        provider: {
          mw: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: '{url}/v1', apiKey: 'none' },
            models: { model: { limit: { context: 200_000, output: 32_000 } } },
          },
        },
        share: 'disabled',
        autoupdate: false,
      }),
    },
    wire: 'openai-chat',
    hide: ['task'],
    reads: ['read', 'glob', 'grep', 'skill', 'todowrite'],
    // A program of Bun: it maps far more than it uses.
    memoryBytes: 4 * 1024 ** 3,
    startSeconds: 120,
  },
  model: {
    provider: 'openai-compatible',
    model: 'qwen3-coder',
    baseUrl: 'http://127.0.0.1:11434/v1',
    contextWindow: 128_000,
    input: ['text'],
  },
};

/** By the name that the engine has where the operator gives it no other. */
export const KNOWN_ENGINES: ReadonlyMap<string, KnownEngine> = new Map([
  ['codex', codex],
  ['claude-code', claudeCode],
  ['opencode', opencode],
]);
