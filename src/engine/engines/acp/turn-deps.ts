import type { EngineConfig } from '../../../platform/config/engines.js';
import type { Metrics } from '../../../platform/metrics/metrics.js';
import type { EngineSession } from '../../agent/engine-session.js';
import type { ToolContext } from '../../agent/agent-tool.js';
import type { TurnParts } from '../../agent/turn-parts.js';
import type { Wire } from '../wires/wire.js';
import type { Carrying } from './carried-out.js';
import type { Gate } from './gate.js';
import type { ModelCalls } from './model-calls.js';

/** What the runs of a turn work with. */
export interface TurnDeps extends Pick<
  TurnParts,
  'settings' | 'sandbox' | 'limits' | 'tools' | 'files' | 'reads' | 'surroundings' | 'report'
> {
  engine: EngineConfig;
  wire: Wire;
  calls: ModelCalls;
  gate: Gate;
  carrying: Carrying;
  metrics: Metrics;
  kept: Pick<ToolContext, 'resultCharacters' | 'keepWhole'>;
  /** The session that the task has, as far as it is known; it is another one as soon as that is made. */
  session: { known: EngineSession | null };
  /** Of the model, in tokens. */
  window: number;
}
